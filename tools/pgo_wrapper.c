/* Compilers by their names, for builds that do not use CFLAGS: a folder in front of PATH has links
 * to pgokit with the names of compilers. Such a link adds the flags of `pgokit pgo` to those of
 * the build and becomes the compiler that PATH has after it. */
#include "pgo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define FOLDER "PGOKIT_PGO_FOLDER" /* has `bin`, the links, and `seen`, a file for each one used */
#define KIND   "PGOKIT_PGO_KIND"   /* of the compiler that takes the flags: "clang" or "gcc" */
#define FLAGS  "PGOKIT_PGO_FLAGS"  /* these, with spaces between them */
#define RUST   "PGOKIT_PGO_RUSTFLAGS"

/* ---- names ---- */

static bool begins_with(const char *text, const char *begin)
{
    return !strncmp(text, begin, strlen(begin));
}

/* "-12" or "-12.2", or nothing. */
static bool is_release(const char *text)
{
    return !*text ||
           (*text == '-' && text[1] && strspn(text + 1, "0123456789.") == strlen(text + 1));
}

/* The name without "x86_64-linux-gnu-" or the like of this machine. */
static const char *without_machine(const char *name)
{
    struct utsname machine;
    char prefix[2][sizeof machine.machine + 16];
    if (uname(&machine))
        return name;
    snprintf(prefix[0], sizeof prefix[0], "%s-linux-gnu-", machine.machine);
    snprintf(prefix[1], sizeof prefix[1], "%s-pc-linux-gnu-", machine.machine);
    for (int i = 0; i < 2; i++)
        if (begins_with(name, prefix[i]))
            return name + strlen(prefix[i]);
    return name;
}

static bool is_compiler_name(const char *name)
{
    static const char *const names[] = {"clang++", "clang", "gcc", "g++",
                                        "c++",     "cc",    "c99", "c89"};
    name = without_machine(name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins_with(name, names[i]) && is_release(name + strlen(names[i])))
            return true;
    return false;
}

/* By its name, or if that is cc or c++, by the name of the file that this is. */
static const char *kind_of(const char *name, const char *path)
{
    char real[PATH_MAX];
    if (!strstr(name, "clang") && !strstr(name, "gcc") && !strstr(name, "g++"))
        name = realpath(path, real) ? cli_base_name(real) : name;
    return strstr(name, "clang") ? "clang" : "gcc";
}

/* ---- the folder ---- */

static void make_link(const char *folder, const char *name)
{
    char self[PATH_MAX], link[2 * PATH_MAX];
    snprintf(link, sizeof link, "%s/bin/%s", folder, name);
    if (!realpath("/proc/self/exe", self) || (symlink(self, link) && errno != EEXIST))
        pgo_stop("cannot make %s: %s", link, strerror(errno));
}

static void link_compiler(void *folder, const char *name)
{
    if (is_compiler_name(name))
        make_link(folder, name);
}

void pgo_wrap_compilers(const char *folder)
{
    char path[PATH_MAX + 8];
    static const char *const parts[] = {"bin", "seen"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, parts[i]);
        if (mkdir(path, 0700))
            pgo_stop("cannot make %s: %s", path, strerror(errno));
    }
    cli_each_in_path(link_compiler, (void *)(uintptr_t)folder); /* which it does not change */
    make_link(folder, PGO_RUSTC);
    snprintf(path, sizeof path, "%s/bin/" PGO_RUSTC, folder);
    /* What a cache has was compiled with other flags. */
    if (setenv(FOLDER, folder, 1) || setenv("CCACHE_DISABLE", "1", 1) ||
        setenv("RUSTC_WRAPPER", path, 1))
        pgo_stop("out of memory");
}

void pgo_wrapper_flags(const char *kind, const char *flags, const char *rust_flags)
{
    if (setenv(KIND, kind, 1) || setenv(FLAGS, flags, 1) || setenv(RUST, rust_flags, 1))
        pgo_stop("out of memory");
}

bool pgo_any_used(const char *folder, bool (*is)(void *ctx, const char *name), void *ctx)
{
    char path[PATH_MAX + 8];
    bool found = false;
    snprintf(path, sizeof path, "%s/seen", folder);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && !found && (entry = readdir(dir)) != NULL;)
        found = *entry->d_name != '.' && is(ctx, entry->d_name);
    if (dir)
        closedir(dir);
    return found;
}

/* ---- as a compiler ---- */

static _Noreturn void fail(int status, const char *name, const char *why)
{
    char safe[128];
    fprintf(stderr, "pgokit: cannot run %s: %s\n", pgk_human_text(safe, sizeof safe, name), why);
    exit(status);
}

/* So that what the compiler starts finds itself, and no link twice. */
static void leave_path(const char *folder)
{
    char bin[PATH_MAX + 8];
    const char *path = record_environment("PATH");
    snprintf(bin, sizeof bin, "%s/bin:", folder);
    if (begins_with(path, bin) && setenv("PATH", path + strlen(bin), 1))
        fail(EXIT_RECORD_FAILED, "the compiler", "out of memory");
}

static void note_seen(const char *folder, const char *name)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/seen/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}

/* A source or an object is among the arguments, so it is no question for a version. */
static bool compiles(char **argv)
{
    static const char *const ends[] = {".c",   ".cc", ".cpp", ".cxx", ".C", ".c++", ".i",
                                       ".ii",  ".o",  ".lo",  ".a",   ".m", ".mm",  ".h",
                                       ".hpp"};
    for (argv++; *argv; argv++)
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            size_t n = strlen(*argv), end = strlen(ends[i]);
            if (**argv != '-' && n > end && !strcmp(*argv + n - end, ends[i]))
                return true;
        }
    return false;
}

static size_t count(char **argv)
{
    size_t n = 0;
    while (argv[n])
        n++;
    return n;
}

static bool has(char **argv, const char *flag)
{
    while (*argv && strcmp(*argv, flag) != 0)
        argv++;
    return *argv != NULL;
}

/* What takes the debug information out again that the profile is made by. */
static bool strips(const char *argument)
{
    static const char *const options[] = {"-s", "-Wl,-s", "-Wl,-S", "-Wl,--strip-all",
                                          "-Wl,--strip-debug"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (!strcmp(argument, options[i]))
            return true;
    return false;
}

/* The arguments but those that strip, and those of `flags` that are not among them. */
static char **with_flags(char **argv, const char *flags)
{
    size_t n = 0;
    char *text = strdup(flags);
    char **all = calloc(count(argv) + strlen(flags) / 2 + 2, sizeof *all);
    if (!text || !all)
        fail(EXIT_RECORD_FAILED, argv[0], "out of memory");
    for (char **argument = argv; *argument; argument++)
        if (!strips(*argument))
            all[n++] = *argument;
    for (char *flag; (flag = strsep(&text, " ")) != NULL;)
        if (*flag && !has(argv, flag))
            all[n++] = flag;
    return all;
}

static int run_compiler(const char *folder, char **argv)
{
    char path[PATH_MAX];
    bool seen = false;
    const char *name = cli_base_name(argv[0]);
    if (!record_find_in_path(path, name, &seen))
        fail(EXIT_NOT_FOUND, name, "it is in no folder of PATH");
    if (compiles(argv)) {
        note_seen(folder, name);
        if (!strcmp(kind_of(name, path), record_environment(KIND)))
            argv = with_flags(argv, record_environment(FLAGS));
    }
    execv(path, argv);
    fail(EXIT_NOT_EXECUTABLE, path, strerror(errno));
}

/* Scripts of builds and questions for a version stay as they are. */
static bool is_crate(char **argv)
{
    for (; *argv; argv++)
        if (!strcmp(*argv, "--crate-name") && argv[1])
            return strcmp(argv[1], "___") != 0 && !begins_with(argv[1], "build_script_");
    return false;
}

static int run_rustc(const char *folder, char **argv)
{
    if (!argv[1])
        fail(EXIT_NOT_FOUND, PGO_RUSTC, "cargo gives the name of the compiler");
    if (is_crate(argv)) {
        note_seen(folder, PGO_RUSTC);
        argv = with_flags(argv, record_environment(RUST));
        if (setenv("RUSTC_BOOTSTRAP", "1", 1)) /* released compilers take -Z with it */
            fail(EXIT_RECORD_FAILED, argv[1], "out of memory");
    }
    execvp(argv[1], argv + 1);
    fail(EXIT_NOT_FOUND, argv[1], strerror(errno));
}

bool pgo_is_wrapper(const char *name)
{
    name = cli_base_name(name);
    return getenv(FOLDER) && (!strcmp(name, PGO_RUSTC) || is_compiler_name(name));
}

int pgo_wrapper_run(char **argv)
{
    const char *folder = record_environment(FOLDER);
    leave_path(folder);
    if (!strcmp(cli_base_name(argv[0]), PGO_RUSTC))
        return run_rustc(folder, argv);
    return run_compiler(folder, argv);
}
