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

#define FOLDER "PGOKIT_PGO_FOLDER" /* has `bin`, the links, and `seen`, a file for each one used */
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

static void make_link(const char *folder, const char *name)
{
    char self[PATH_MAX], link[2 * PATH_MAX];
    snprintf(link, sizeof link, "%s/bin/%s", folder, name);
    if (!realpath("/proc/self/exe", self) || (symlink(self, link) && errno != EEXIST))
        pgo_stop("cannot make %s: %s", link, strerror(errno));
}

static void link_compiler(void *folder, const char *name)
{
    if (is_compiler_name(name) || is_strip_name(name))
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
        setenv("SCCACHE_RECACHE", "1", 1) || setenv("RUSTC_WRAPPER", path, 1) ||
        setenv("DISTCC_HOSTS", "localhost", 1)) /* others do not have the profile */
        pgo_stop("out of memory");
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
static void leave_path(const char *folder)
{
    char bin[PATH_MAX + 8];
    char *rest = strdup(record_environment("PATH"));
    char *path = rest ? calloc(1, strlen(rest) + 2) : NULL;
    snprintf(bin, sizeof bin, "%s/bin", folder);
    if (!path)
        fail(EXIT_RECORD_FAILED, "the compiler", "out of memory");
    char *end = path;
    for (char *all = rest, *one; (one = strsep(&all, ":")) != NULL;)
        if (strcmp(one, bin) != 0)
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

/* The arguments but those that strip and those of `others`, which are for another compiler and
 * came by CFLAGS; and those of `flags` that are not among them. */
static char **with_flags(char **argv, const char *flags, const char *others)
{
    size_t n = 0;
    char *text = strdup(flags);
    char **all = calloc(count(argv) + strlen(flags) / 2 + 4, sizeof *all);
    if (!text || !all)
        fail(EXIT_RECORD_FAILED, argv[0], "out of memory");
    for (char **argument = argv; *argument; argument++)
        if (!strips(*argument) && (is_in(flags, *argument) || !is_in(others, *argument)))
            all[n++] = *argument;
    for (char *flag; (flag = strsep(&text, " ")) != NULL;)
        if (*flag && !has(argv, flag))
            all[n++] = flag;
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
    if (compiles(argv)) {
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
static int run_strip(char **argv)
{
    char path[PATH_MAX];
    bool seen = false, writes = false;
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
    if (is_crate(argv)) {
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
    return getenv(FOLDER) &&
           (!strcmp(name, PGO_RUSTC) || is_compiler_name(name) || is_strip_name(name));
}

int pgo_wrapper_run(char **argv)
{
    const char *folder = record_environment(FOLDER);
    leave_path(folder);
    if (!strcmp(cli_base_name(argv[0]), PGO_RUSTC))
        return run_rustc(folder, argv);
    if (is_strip_name(cli_base_name(argv[0])))
        return run_strip(argv);
    return run_compiler(folder, argv);
}
