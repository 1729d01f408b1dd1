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
#include <unistd.h>

#define FOLDER "PGOKIT_PGO_FOLDER" /* has `seen`, a file for each compiler that was used */
#define LINKS  "PGOKIT_PGO_LINKS"  /* the folder of the links */
#define CLANG  "PGOKIT_PGO_CLANG"  /* the flags that are added, with spaces between them */
#define GCC    "PGOKIT_PGO_GCC"
#define RUST   "PGOKIT_PGO_RUST"
#define STATIC "PGOKIT_PGO_STATIC" /* the recorder for static programs, if it is linked into them */

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

/* Also of another machine: "aarch64-linux-gnu-gcc-12", "musl-gcc". */
static bool is_compiler_name(const char *name)
{
    static const char *const names[] = {"clang++", "clang", "gcc", "g++",
                                        "c++",     "cc",    "c99", "c89"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (const char *at = name; (at = strstr(at, names[i])) != NULL; at++)
            if ((at == name || at[-1] == '-') && is_release(at + strlen(names[i])))
                return true;
    return false;
}

static bool is_strip_name(const char *name)
{
    const char *last = strrchr(name, '-'); /* after the name of a machine */
    return !strcmp(last ? last + 1 : name, "strip");
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

/* In the cache of the user. */
static bool usual_links(char links[PATH_MAX])
{
    char cache[PATH_MAX - 16];
    const bool known = pgk_binaries_cache_folder(cache, sizeof cache) != NULL;
    if (known)
        snprintf(links, PATH_MAX, "%s/compilers", cache);
    return known;
}

/* CMake and Meson note the path of a link. So links stay in the cache of the user, where another
 * build finds them: without the variables above they run the compiler as it is called. */
static void choose_links(char links[PATH_MAX], const char *folder)
{
    if (usual_links(links)) {
        for (char *at = links + 1; (at = strchr(at, '/')) != NULL; *at++ = '/') {
            *at = '\0';
            (void)mkdir(links, 0777); /* the last one shows whether all are there */
        }
        if ((!mkdir(links, 0777) || errno == EEXIST) && !access(links, W_OK | X_OK))
            return;
    }
    snprintf(links, PATH_MAX, "%s/bin", folder);
    if (mkdir(links, 0700))
        pgo_stop("cannot make %s: %s", links, strerror(errno));
}

/* Replaces one to another pgokit in one step, as a build of another process may use it. */
static void make_link(const char *links, const char *name)
{
    char self[PATH_MAX], link[2 * PATH_MAX], at[PATH_MAX], made[2 * PATH_MAX + 16];
    snprintf(link, sizeof link, "%s/%s", links, name);
    if (!realpath("/proc/self/exe", self))
        pgo_stop("cannot find pgokit: %s", strerror(errno));
    const ssize_t n = readlink(link, at, sizeof at);
    if (n > 0 && n < PATH_MAX && !strncmp(at, self, (size_t)n) && !self[n])
        return;
    snprintf(made, sizeof made, "%s.%ld", link, (long)getpid());
    if (symlink(self, made) || rename(made, link))
        pgo_stop("cannot make %s: %s", link, strerror(errno));
}

static void link_compiler(void *links, const char *name)
{
    if (is_compiler_name(name) || is_strip_name(name))
        make_link(links, name);
}

/* Compilers that are no more would be found by configure. */
static void remove_old_links(const char *links)
{
    char path[2 * PATH_MAX], found[PATH_MAX];
    DIR *dir = opendir(links);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        bool seen = false;
        if (*entry->d_name == '.' || !strcmp(entry->d_name, PGO_RUSTC) ||
            record_find_in_path(found, entry->d_name, &seen))
            continue;
        snprintf(path, sizeof path, "%s/%s", links, entry->d_name);
        (void)unlink(path);
    }
    if (dir)
        closedir(dir);
}

void pgo_wrap_compilers(const char *folder)
{
    static char links[PATH_MAX];
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/seen", folder);
    if (mkdir(path, 0700))
        pgo_stop("cannot make %s: %s", path, strerror(errno));
    choose_links(links, folder);
    remove_old_links(links);
    cli_each_in_path(link_compiler, links);
    make_link(links, PGO_RUSTC);
    snprintf(path, sizeof path, "%s/" PGO_RUSTC, links);
    /* What a cache has was compiled with other flags. */
    if (setenv(FOLDER, folder, 1) || setenv(LINKS, links, 1) || setenv("CCACHE_DISABLE", "1", 1) ||
        setenv("SCCACHE_RECACHE", "1", 1) || setenv("RUSTC_WRAPPER", path, 1) ||
        setenv("DISTCC_HOSTS", "localhost", 1)) /* others do not have the profile */
        pgo_stop("out of memory");
}

char *pgo_use_links(void)
{
    char *path = pgo_saved("PATH");
    record_join("PATH", record_environment(LINKS), record_environment("PATH"));
    return path;
}

void pgo_wrapper_flags(const char *clang, const char *gcc, const char *rust)
{
    if (setenv(CLANG, clang, 1) || setenv(GCC, gcc, 1) || setenv(RUST, rust, 1))
        pgo_stop("out of memory");
}

void pgo_wrapper_archive(const char *archive)
{
    if (setenv(STATIC, archive, 1))
        pgo_stop("out of memory");
}

void pgo_each_used(const char *folder, void (*use)(void *ctx, const char *name, long times),
                   void *ctx)
{
    char path[2 * PATH_MAX];
    struct stat s;
    snprintf(path, sizeof path, "%s/seen", folder);
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        snprintf(path, sizeof path, "%s/seen/%s", folder, entry->d_name);
        if (*entry->d_name != '.' && !stat(path, &s))
            use(ctx, entry->d_name, s.st_size);
    }
    if (dir)
        closedir(dir);
}

/* ---- as a compiler ---- */

static _Noreturn void fail(int status, const char *name, const char *why)
{
    char safe[128];
    fprintf(stderr, "pgokit: cannot run %s: %s\n", pgk_human_text(safe, sizeof safe, name), why);
    exit(status);
}

/* So that what the compiler starts finds itself, and no link twice. The build may have put other
 * folders in front of ours. */
static void leave_path(const char *links)
{
    char *rest = strdup(record_environment("PATH"));
    char *path = rest ? calloc(1, strlen(rest) + 2) : NULL;
    if (!path)
        fail(EXIT_RECORD_FAILED, "the compiler", "out of memory");
    char *end = path;
    for (char *all = rest, *one; (one = strsep(&all, ":")) != NULL;)
        if (strcmp(one, links) != 0)
            end += sprintf(end, "%s%s", end == path ? "" : ":", one);
    if (setenv("PATH", path, 1))
        fail(EXIT_RECORD_FAILED, "the compiler", "out of memory");
    free(rest);
    free(path);
}

/* One byte for each call. */
static void note_seen(const char *folder, const char *name)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/seen/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0 && write(fd, "+", 1) != 1)
        errno = 0; /* then another call is counted */
    if (fd >= 0)
        close(fd);
}

/* What configure, CMake and Meson compile to try the compiler. */
static bool is_trial(char **argv)
{
    static const char *const parts[] = {"conftest", "CMakeScratch", "CMakeTmp", "CompilerId",
                                        "meson-private", "meson-test"};
    char here[PATH_MAX];
    const char *folder = getcwd(here, sizeof here) ? here : "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (strstr(folder, parts[i]))
            return true;
        for (char **argument = argv + 1; *argument; argument++)
            if (strstr(*argument, parts[i]))
                return true;
    }
    return false;
}

/* A source or an object is among the arguments, or a file that may name one, or `-x c -`; so it is
 * no question for a version. What an assembler reads gets no flags. */
static bool compiles(char **argv)
{
    static const char *const ends[] = {".c",  ".cc", ".cpp", ".cxx", ".C",   ".c++", ".cp", ".CPP",
                                       ".i",  ".ii", ".o",   ".lo",  ".obj", ".bc",  ".a",  ".m",
                                       ".mm", ".h",  ".hpp", ".hh",  ".cppm"};
    for (argv++; *argv; argv++) {
        if (**argv == '@' && argv[0][1])
            return true;
        if (!strncmp(*argv, "-xc", 3) || (!strcmp(*argv, "-x") && argv[1] && *argv[1] == 'c'))
            return true;
        for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
            size_t n = strlen(*argv), end = strlen(ends[i]);
            if (**argv != '-' && n > end && !strcmp(*argv + n - end, ends[i]))
                return true;
        }
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
                                          "-Wl,--strip-debug", "-Clink-arg=-s",
                                          "-Clink-args=-s", "-Cstrip=symbols",
                                          "-Cstrip=debuginfo"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (!strcmp(argument, options[i]))
            return true;
    return false;
}

/* Whether a flag is among those in a text. */
static bool is_in(const char *flags, const char *flag)
{
    const size_t n = strlen(flag);
    for (const char *at = flags; n && (at = strstr(at, flag)) != NULL; at += n)
        if ((at == flags || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

/* Debug information that is asked for has lines, and is left as it is. */
static bool asks_for_lines(char **argv)
{
    static const char *const options[] = {"-g", "-g1", "-g2", "-g3", "-ggdb", "-ggdb1",
                                          "-ggdb2", "-ggdb3", "-gmlt", "-gline-tables-only"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (has(argv, options[i]))
            return !has(argv, "-g0");
    return false;
}

/* An argument that came by CFLAGS and is for another compiler. All of them know -g, which a build
 * asks for by itself. */
static bool is_for_other(const char *argument, const char *flags, const char *others)
{
    return strcmp(argument, "-g") && is_in(others, argument) && !is_in(flags, argument);
}

/* The arguments but those that strip and those of `others`; and those of `flags` that are not
 * among them. */
static char **with_flags(char **argv, const char *flags, const char *others)
{
    size_t n = 0;
    const bool has_lines = asks_for_lines(argv);
    char *text = strdup(flags);
    char **all = calloc(count(argv) + strlen(flags) / 2 + 4, sizeof *all);
    if (!text || !all)
        fail(EXIT_RECORD_FAILED, argv[0], "out of memory");
    for (char **argument = argv; *argument; argument++)
        if (!strips(*argument) && !is_for_other(*argument, flags, others))
            all[n++] = *argument;
    for (char *flag; (flag = strsep(&text, " ")) != NULL;) {
        char *const of = strcmp(flag, "-mllvm") ? NULL : strsep(&text, " ");
        if (!*flag || has(argv, of ? of : flag) ||
            (has_lines && !strcmp(flag, "-gline-tables-only")))
            continue;
        all[n++] = flag;
        if (of)
            all[n++] = of;
    }
    return all;
}

static bool links_statically(char **argv)
{
    return (has(argv, "-static") || has(argv, "-static-pie") || has(argv, "--static")) &&
           !has(argv, "-c") && !has(argv, "-S") && !has(argv, "-E") && !has(argv, "-r") &&
           !has(argv, "-shared");
}

/* with_flags has left the space. */
static void add_recorder(char **argv)
{
    char *archive = strdup(record_environment(STATIC));
    argv += count(argv);
    *argv++ = (char *)(uintptr_t)"-Wl,-u,pgokit_branches_start"; /* which execv does not change */
    *argv = archive;
}

static int run_compiler(const char *folder, char **argv)
{
    char path[PATH_MAX];
    bool seen = false;
    const char *name = cli_base_name(argv[0]);
    if (!record_find_in_path(path, name, &seen))
        fail(EXIT_NOT_FOUND, name, "it is in no folder of PATH");
    if (*folder && compiles(argv)) {
        const bool clang = !strcmp(kind_of(name, path), "clang");
        if (!is_trial(argv))
            note_seen(folder, name);
        argv = with_flags(argv, record_environment(clang ? CLANG : GCC),
                          record_environment(clang ? GCC : CLANG));
        if (*record_environment(STATIC) && links_statically(argv) && !is_trial(argv))
            add_recorder(argv);
    }
    argv[0] = path; /* from which gcc finds its parts, if it has a slash */
    execv(path, argv);
    fail(EXIT_NOT_EXECUTABLE, path, strerror(errno));
}

/* Symbols and lines stay: without them there is no profile. What writes another file is run. */
static int run_strip(const char *folder, char **argv)
{
    char path[PATH_MAX];
    bool seen = false, writes = !*folder;
    for (char **argument = argv + 1; *argument; argument++)
        writes |= begins_with(*argument, "-o") || begins_with(*argument, "--output") ||
                  !strcmp(*argument, "--version") || !strcmp(*argument, "--help");
    if (!writes)
        return 0;
    if (!record_find_in_path(path, cli_base_name(argv[0]), &seen))
        fail(EXIT_NOT_FOUND, "strip", "it is in no folder of PATH");
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
    if (*folder && is_crate(argv)) {
        note_seen(folder, PGO_RUSTC);
        argv = with_flags(argv, record_environment(RUST), "");
        if (setenv("RUSTC_BOOTSTRAP", "1", 1)) /* released compilers take -Z with it */
            fail(EXIT_RECORD_FAILED, argv[1], "out of memory");
    }
    execvp(argv[1], argv + 1);
    fail(EXIT_NOT_FOUND, argv[1], strerror(errno));
}

bool pgo_is_wrapper(const char *name)
{
    name = cli_base_name(name);
    return !strcmp(name, PGO_RUSTC) || is_compiler_name(name) || is_strip_name(name);
}

int pgo_wrapper_run(char **argv)
{
    const char *folder = record_environment(FOLDER);
    char usual[PATH_MAX] = "";
    if (!*record_environment(LINKS))
        (void)usual_links(usual); /* which a user may have in PATH */
    leave_path(*usual ? usual : record_environment(LINKS));
    if (!strcmp(cli_base_name(argv[0]), PGO_RUSTC))
        return run_rustc(folder, argv);
    if (is_strip_name(cli_base_name(argv[0])))
        return run_strip(folder, argv);
    return run_compiler(folder, argv);
}
