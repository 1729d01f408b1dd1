/* Shared by all kinds of recording: preparing a program before it runs. */
#include "record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

_Noreturn void record_refuse(int exit_code, const char *program, const char *fmt, ...)
{
    char safe[512];
    va_list args;
    fprintf(stderr, "pgokit: cannot record %s: ", pgk_human_text(safe, sizeof safe, program));
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    exit(exit_code);
}

static bool is_program(const char *path)
{
    struct stat s;
    return !stat(path, &s) && S_ISREG(s.st_mode) && !access(path, X_OK);
}

bool record_find_in_path(char path[PATH_MAX], const char *name, bool *seen)
{
    const char *folders = getenv("PATH"), *end;
    *seen = false;
    for (const char *at = folders ? folders : "/bin:/usr/bin"; *name; at = end + 1) {
        end = strchrnul(at, ':');
        int n = (int)(end - at);
        if (snprintf(path, PATH_MAX, "%.*s%s%s", n, at, n ? "/" : "./", name) < PATH_MAX) {
            if (is_program(path))
                return true;
            *seen |= !access(path, F_OK);
        }
        if (!*end)
            break;
    }
    return false;
}

void record_find_program(char path[PATH_MAX], const char *name)
{
    bool seen;
    if (strchr(name, '/')) {
        struct stat s;
        snprintf(path, PATH_MAX, "%s", name);
        if (is_program(path))
            return;
        if (stat(path, &s))
            record_refuse(errno == ENOENT || errno == ENOTDIR ? EXIT_NOT_FOUND
                                                              : EXIT_NOT_EXECUTABLE,
                          name, "%s", strerror(errno));
        if (!S_ISREG(s.st_mode))
            record_refuse(EXIT_NOT_EXECUTABLE, name, "it is not a regular file");
        record_refuse(EXIT_NOT_EXECUTABLE, name, "it is not executable. Try chmod +x");
    }
    if (record_find_in_path(path, name, &seen))
        return;
    if (seen)
        record_refuse(EXIT_NOT_EXECUTABLE, name, "it is not executable");
    record_refuse(EXIT_NOT_FOUND, name,
                  "no program of this name is in PATH. Try a path, as in ./%s", name);
}

static void inspect(struct pgk_program *found, const char *path)
{
    struct pgk_err err = {0};
    found->struct_size = sizeof *found;
    if (!pgk_program_inspect(found, path, &err))
        return;
    fputs("pgokit: cannot record this program: ", stderr);
    pgk_err_print(&err, stderr);
    fputc('\n', stderr);
    exit(EXIT_NOT_EXECUTABLE);
}

/* Scripts of scripts are not worth following: the kernel allows four levels, people use one. */
void record_inspect(struct record_program *r)
{
    inspect(&r->found, r->program);
    snprintf(r->profiled, sizeof r->profiled, "%s", r->program);
    if (r->found.kind != PGK_PROGRAM_SCRIPT)
        return;
    snprintf(r->profiled, sizeof r->profiled, "%s", r->found.interpreter);
    if (access(r->profiled, X_OK))
        record_refuse(EXIT_NOT_EXECUTABLE, r->program, "its interpreter %s: %s", r->profiled,
                      strerror(errno));
    inspect(&r->found, r->profiled);
}

/* Into programs that run with more rights than we have the system preloads nothing. */
static const char *extra_rights(const char *path)
{
    struct stat s;
    char capability[64];
    if (stat(path, &s))
        return NULL;
    if ((s.st_mode & S_ISUID) && s.st_uid != getuid())
        return "it runs with the rights of another user (setuid)";
    if ((s.st_mode & S_ISGID) && s.st_gid != getgid())
        return "it runs with the rights of another group (setgid)";
    if (getuid() && getxattr(path, "security.capability", capability, sizeof capability) > 0)
        return "it runs with rights of its own (capabilities)";
    return NULL;
}

static _Noreturn void out_of_memory(void)
{
    fputs("pgokit: out of memory\n", stderr);
    exit(EXIT_RECORD_FAILED);
}

/* Sets NAME to FIRST:SECOND; what is empty is left out. */
void record_join(const char *name, const char *first, const char *second)
{
    char *joined;
    if (asprintf(&joined, "%s%s%s", first, *first && *second ? ":" : "", second) < 0 ||
        setenv(name, joined, 1))
        out_of_memory();
    free(joined);
}

const char *record_environment(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

int record_absolute(char *to, size_t size, const char *program, const char *name, const char *end)
{
    char folder[PATH_MAX] = "";
    if (*name != '/' && !getcwd(folder, sizeof folder))
        record_refuse(EXIT_RECORD_FAILED, program, "the current folder: %s", strerror(errno));
    return snprintf(to, size, "%s%s%s%s", folder, *name == '/' ? "" : "/", name, end);
}

void record_check_quotes(const char *program, const char *name, const char *option)
{
    if (strchr(name, '\'') && strchr(name, '"'))
        record_refuse(EXIT_RECORD_FAILED, program,
                      "%s has both kinds of quotation marks; choose another name with %s", name,
                      option);
}

void record_output(char path[PATH_MAX], const char *program, const char *name,
                   const char *default_name)
{
    char joined[3 * PATH_MAX], end[PATH_MAX] = "";
    struct stat s;
    if (!stat(name, &s) && S_ISDIR(s.st_mode))
        snprintf(end, sizeof end, "/%s", default_name);
    const int n = record_absolute(joined, sizeof joined, program, name, end);
    if (n >= 1000) /* what the runtime takes */
        record_refuse(EXIT_RECORD_FAILED, program,
                      "the name of the profile is longer than 1000 bytes");
    record_check_quotes(program, joined, "-o");
    memcpy(path, joined, (size_t)n + 1);
}

/* A folder is no input: what is in it may be. */
static void note_input(const char *path)
{
    if (*path && !cli_is_folder(path))
        cli_reads(path);
}

/* An argument may be a file, or --name=FILE. */
void record_note_inputs(const struct record_program *p, char **argv)
{
    note_input("-");
    note_input(p->program);
    note_input(p->profiled);
    note_input(record_environment("PGOKIT_ALLOC_PLAN"));
    for (char **arg = argv + 1; *arg; arg++) {
        const char *value = strchr(*arg, '=');
        note_input(*arg);
        if (value)
            note_input(value + 1);
    }
}

void record_note_outputs(const struct record_files *files, const char *template)
{
    for (size_t i = 0; i < files->n && !strstr(template, "%p"); i++)
        cli_writes(files->v[i].path);
}

void record_print_word(const char *word)
{
    char safe[PATH_MAX];
    pgk_human_text(safe, sizeof safe, word);
    if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789%+,-./:=@_")]) {
        fprintf(stderr, " %s", safe);
        return;
    }
    fputs(" '", stderr);
    for (const char *s = safe; *s; s++)
        fputs(*s == '\'' ? "'\\''" : (const char[]){*s, 0}, stderr);
    fputc('\'', stderr);
}

char record_quote(const char *text)
{
    return strchr(text, '\'') ? '"' : '\'';
}

void record_check_can_preload(const struct record_program *p, const char *if_static,
                              const char *if_go, const char *if_more_rights)
{
    const char *rights = extra_rights(p->profiled);
    if (p->found.kind == PGK_PROGRAM_STATIC)
        record_refuse(EXIT_NOT_EXECUTABLE, p->profiled,
                      "it is statically linked%s, so nothing can be preloaded. Instead, %s",
                      p->found.go ? " and built by Go" : "", p->found.go ? if_go : if_static);
    if (*p->found.other_linker)
        record_refuse(EXIT_NOT_EXECUTABLE, p->profiled,
                      "its C library is not glibc, as its dynamic linker is %s, so nothing can be "
                      "preloaded. Record a build of it for glibc", p->found.other_linker);
    if (rights)
        record_refuse(EXIT_NOT_EXECUTABLE, p->profiled,
                      "%s, so nothing can be preloaded. Run it as that user%s%s", rights,
                      if_more_rights ? ", or " : "", if_more_rights ? if_more_rights : "");
}

void record_find_runtime(const char *program, char path[PATH_MAX], const char *file)
{
    if (!heap_runtime_find(path, file))
        record_refuse(EXIT_RECORD_FAILED, program,
                      "%s is not %s. Set PGOKIT_RUNTIME to the folder where it is", file,
                      getenv("PGOKIT_RUNTIME") ? "where PGOKIT_RUNTIME says"
                                               : "in this build or installation of pgokit");
    if (strpbrk(path, ": "))
        record_refuse(EXIT_RECORD_FAILED, program,
                      "the path of the runtime has a blank or a colon, which the dynamic linker "
                      "cannot read: %s",
                      path);
}
