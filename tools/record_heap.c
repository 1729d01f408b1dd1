/* pgokit record heap: runs a program with the heap profiler runtime. */
#include "record.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define SHARED_RUNTIME "libpgokit_heap.so"
/* The name under which programs of clang -shared-libsan look for their runtime. */
#define TAKEOVER_RUNTIME "libclang_rt.memprof-x86_64.so"
#define DEFAULT_NAME     "memprof.profraw.%p"

static const char help[] =
    "usage: pgokit record heap [OPTION]... -- PROGRAM [ARGUMENT]...\n\n"
    "Runs PROGRAM and records what it and its children allocate. A program that was built as\n"
    "pgokit config says brings the runtime along, and its loads and stores are counted; into\n"
    "any other program the runtime is preloaded. Says at the end, on standard error, what was\n"
    "recorded and what to type next.\n\n"
    "  -o, --output FILE    name of the profile: %p process, %h host, %e program, %t time;\n"
    "                       default " DEFAULT_NAME ". Without %p, children add their number\n"
    "      --depth N        frames kept of a call stack, 1 to 255 (default 30)\n"
    "      --raw-version N  version of the raw profile, 3 to 5 (default 5)\n"
    "      --histogram      require accesses by place in the object; the program decides,\n"
    "                       see pgokit config --histogram\n"
    "      --socket FILE    answer requests there while the program runs, see --attach; %p, %h,\n"
    "                       %e and %t as in -o. Children need %p to have one of their own\n"
    "\nOf a running process that has a socket:\n\n"
    "      --attach PID REQUEST\n"
    "                       dump (write what it recorded up to now), start, stop (do not record\n"
    "                       new objects), or status\n"
    "\nPGOKIT_HEAP_OPTIONS in the environment is kept; options given here win. PGOKIT_RUNTIME\n"
    "names the folder of the runtime.\n"
    "\nExamples:\n"
    "  pgokit record heap -- ./app input\n"
    "  pgokit record heap -o runs/%e.%p.profraw --depth 60 -- make check\n"
    "  pgokit record heap --socket /run/app.sock -- ./app &\n"
    "  pgokit record heap --attach $(pidof app) dump\n";

enum { OPT_DEPTH = 256, OPT_VERSION, OPT_HISTOGRAM, OPT_SOCKET, OPT_ATTACH };

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"raw-version", required_argument, NULL, OPT_VERSION},
    {"histogram", no_argument, NULL, OPT_HISTOGRAM},
    {"socket", required_argument, NULL, OPT_SOCKET},
    {"attach", required_argument, NULL, OPT_ATTACH},
    CLI_COMMON_LONG,
    {0},
};

struct record {
    struct cli_common common;
    const char *output, *socket;
    unsigned long attach;             /* number of a running process, or 0 */
    unsigned long depth, raw_version; /* 0: not given */
    bool histogram;
    char **argv;
    char program[PATH_MAX];   /* the file that is run */
    char profiled[PATH_MAX];  /* the file that has the code: of a script the interpreter */
    char template[PATH_MAX];  /* of the profiles' names, absolute */
    struct pgk_program found; /* what `profiled` is */
};

/* "pgokit: cannot record PROGRAM: ..." */
static _Noreturn void refuse(int exit_code, const char *program, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
static _Noreturn void refuse(int exit_code, const char *program, const char *fmt, ...)
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

static void parse(struct record *r, int argc, char **argv)
{
    for (int c;
         (c = cli_next_option(&record_heap, argc, argv, "+o:", options, &r->common)) != -1;) {
        switch (c) {
        case 'o':
            r->output = optarg;
            break;
        case OPT_DEPTH:
            r->depth = cli_number("--depth", optarg, 1, 255);
            break;
        case OPT_VERSION:
            r->raw_version = cli_number("--raw-version", optarg, 3, 5);
            break;
        case OPT_HISTOGRAM:
            r->histogram = true;
            break;
        case OPT_SOCKET:
            r->socket = optarg;
            break;
        case OPT_ATTACH:
            r->attach = cli_number("--attach", optarg, 1, INT_MAX);
            break;
        }
    }
    if (r->attach && (r->output || r->socket || r->depth || r->raw_version || r->histogram))
        cli_usage(&record_heap, "--attach is for a program that runs already, other options are "
                                "for its start");
    if (r->attach && (argc - optind != 1 || !record_attach_knows(argv[optind])))
        cli_usage(&record_heap, "--attach takes a request: dump, start, status or stop");
    if (optind == argc)
        cli_usage(&record_heap, "no program: name it after --");
    r->argv = argv + optind;
}

/* ---- the program ---- */

static bool is_program(const char *path)
{
    struct stat s;
    return !stat(path, &s) && S_ISREG(s.st_mode) && !access(path, X_OK);
}

/* As execvp(3) looks for it. */
static void find_program(char path[PATH_MAX], const char *name)
{
    const char *folders = getenv("PATH"), *end;
    bool seen = false;
    if (strchr(name, '/')) {
        struct stat s;
        snprintf(path, PATH_MAX, "%s", name);
        if (is_program(path))
            return;
        if (stat(path, &s))
            refuse(errno == ENOENT || errno == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE, name,
                   "%s", strerror(errno));
        if (!S_ISREG(s.st_mode))
            refuse(EXIT_NOT_EXECUTABLE, name, "it is not a regular file");
        refuse(EXIT_NOT_EXECUTABLE, name, "it is not executable. Try chmod +x");
    }
    for (const char *at = folders ? folders : "/bin:/usr/bin"; *name; at = end + 1) {
        end = strchrnul(at, ':');
        int n = (int)(end - at);
        if (snprintf(path, PATH_MAX, "%.*s%s%s", n, at, n ? "/" : "./", name) < PATH_MAX) {
            if (is_program(path))
                return;
            seen |= !access(path, F_OK);
        }
        if (!*end)
            break;
    }
    if (seen)
        refuse(EXIT_NOT_EXECUTABLE, name, "it is not executable");
    refuse(EXIT_NOT_FOUND, name, "no program of this name is in PATH. Try a path, as in ./%s",
           name);
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
static void inspect_program(struct record *r)
{
    inspect(&r->found, r->program);
    snprintf(r->profiled, sizeof r->profiled, "%s", r->program);
    if (r->found.kind != PGK_PROGRAM_SCRIPT)
        return;
    snprintf(r->profiled, sizeof r->profiled, "%s", r->found.interpreter);
    if (access(r->profiled, X_OK))
        refuse(EXIT_NOT_EXECUTABLE, r->program, "its interpreter %s: %s", r->profiled,
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

static void check_can_preload(const struct record *r)
{
    const char *rights = extra_rights(r->profiled);
    if (r->found.kind == PGK_PROGRAM_STATIC)
        refuse(EXIT_NOT_EXECUTABLE, r->profiled,
               "it is statically linked, so nothing can be preloaded. Link it with the runtime: "
               "pgokit config --libs heap");
    if (rights)
        refuse(EXIT_NOT_EXECUTABLE, r->profiled,
               "%s, so nothing can be preloaded. Run it as that user, or link it with the "
               "runtime: pgokit config --libs heap",
               rights);
}

static void check_histogram(const struct record *r)
{
    if (r->histogram && !(r->found.histogram_known && r->found.histogram))
        refuse(EXIT_NOT_EXECUTABLE, r->profiled,
               "%s. Build it as pgokit config --histogram heap says, or leave --histogram out",
               r->found.histogram_known
                   ? "it was not built to count by place in the object"
                   : "it is stripped, so it is not known whether it counts by place in the object");
}

/* ---- its environment ---- */

static _Noreturn void out_of_memory(void)
{
    fputs("pgokit: out of memory\n", stderr);
    exit(EXIT_RECORD_FAILED);
}

/* Sets NAME to FIRST:SECOND; what is empty is left out. */
static void join_into(const char *name, const char *first, const char *second)
{
    char *joined;
    if (asprintf(&joined, "%s%s%s", first, *first && *second ? ":" : "", second) < 0 ||
        setenv(name, joined, 1))
        out_of_memory();
    free(joined);
}

static const char *environment(const char *name)
{
    const char *value = getenv(name);
    return value ? value : "";
}

/* The last out= of the user's own options, as the runtime reads them. */
static bool out_of_options(char *out, size_t size, const char *s)
{
    bool found = false;
    while (*s) {
        s += strspn(s, ":, \t\n");
        size_t name = strcspn(s, "=:, \t\n");
        bool is_out = name == 3 && !strncmp(s, "out", 3);
        s += name;
        if (*s != '=')
            continue;
        s++;
        char quote[] = {*s == '\'' || *s == '"' ? *s : 0, 0};
        s += *quote != 0;
        size_t value = strcspn(s, *quote ? quote : ":, \t\n");
        if (is_out && value && value < size) {
            memcpy(out, s, value);
            out[value] = 0;
            found = true;
        }
        s += value + (*quote && s[value]);
    }
    return found;
}

/* The absolute name, because a program may change its folder before it starts another; its length,
 * which may be more than there is room for. */
static int put_absolute(const struct record *r, char *to, size_t size, const char *name,
                        const char *end)
{
    char folder[PATH_MAX] = "";
    if (*name != '/' && !getcwd(folder, sizeof folder))
        refuse(EXIT_RECORD_FAILED, r->program, "the current folder: %s", strerror(errno));
    return snprintf(to, size, "%s%s%s%s", folder, *name == '/' ? "" : "/", name, end);
}

/* The options of the runtime put a name between marks of one kind. */
static void check_quotes(const struct record *r, const char *name, const char *option)
{
    if (strchr(name, '\'') && strchr(name, '"'))
        refuse(EXIT_RECORD_FAILED, r->program,
               "%s has both kinds of quotation marks; choose another name with %s", name, option);
}

static void choose_template(struct record *r)
{
    char own[PATH_MAX];
    struct stat s;
    const char *name = r->output;
    if (!name)
        name = out_of_options(own, sizeof own, environment("PGOKIT_HEAP_OPTIONS")) ||
                       out_of_options(own, sizeof own, environment("PGOKIT_HEAP"))
                   ? own
                   : DEFAULT_NAME;
    bool into = !stat(name, &s) && S_ISDIR(s.st_mode);
    char joined[2 * PATH_MAX + sizeof DEFAULT_NAME];
    int n = put_absolute(r, joined, sizeof joined, name, into ? "/" DEFAULT_NAME : "");
    if (n >= 1000) /* what the runtime takes */
        refuse(EXIT_RECORD_FAILED, r->program, "the name of the profile is longer than 1000 bytes");
    check_quotes(r, joined, "-o");
    memcpy(r->template, joined, (size_t)n + 1);
}

static char quote_for(const char *name)
{
    return strchr(name, '\'') ? '"' : '\'';
}

/* The runtime's own limit is that of the system, 107 bytes, once it has put in what %p and others
 * stand for. */
static void add_socket(const struct record *r, char *ours, size_t size)
{
    char name[2 * PATH_MAX];
    const size_t n = strlen(ours);
    if (put_absolute(r, name, sizeof name, r->socket, "") > 107)
        refuse(EXIT_RECORD_FAILED, r->program, "the name of the socket is longer than 107 bytes");
    check_quotes(r, name, "--socket");
    snprintf(ours + n, size - n, ":socket=%c%s%c", quote_for(name), name, quote_for(name));
}

static void set_options(const struct record *r)
{
    char ours[PATH_MAX + 300], number[60];
    char quote = quote_for(r->template);
    snprintf(ours, sizeof ours, "out=%c%s%c", quote, r->template, quote);
    if (r->socket)
        add_socket(r, ours, sizeof ours - 2 * sizeof number);
    if (r->depth) {
        snprintf(number, sizeof number, ":depth=%lu", r->depth);
        strcat(ours, number);
    }
    if (r->raw_version) {
        snprintf(number, sizeof number, ":raw_version=%lu", r->raw_version);
        strcat(ours, number);
    }
    join_into("PGOKIT_HEAP_OPTIONS", environment("PGOKIT_HEAP_OPTIONS"), ours);
}

/* LLVM's runtime adds ".PROCESS" to a name and knows no other template. */
static void set_options_of_llvm(const struct record *r)
{
    char ours[PATH_MAX + 100], number[60];
    size_t n = strlen(r->template) - strlen(".%p");
    if (strcmp(r->template + n, ".%p") != 0 || memchr(r->template, '%', n))
        refuse(EXIT_RECORD_FAILED, r->program,
               "it is linked with LLVM's runtime, whose profiles are named NAME.%%p");
    if (r->socket)
        refuse(EXIT_RECORD_FAILED, r->program,
               "it is linked with LLVM's runtime, which answers at no socket; leave --socket out");
    if (r->raw_version)
        refuse(EXIT_RECORD_FAILED, r->program,
               "it is linked with LLVM's runtime, which writes a version of its own; leave "
               "--raw-version out");
    char quote = quote_for(r->template);
    snprintf(ours, sizeof ours, "log_path=%c%.*s%c", quote, (int)n, r->template, quote);
    if (r->depth) {
        snprintf(number, sizeof number, ":malloc_context_size=%lu", r->depth);
        strcat(ours, number);
    }
    join_into("MEMPROF_OPTIONS", environment("MEMPROF_OPTIONS"), ours);
}

static void find_runtime(const struct record *r, char path[PATH_MAX], const char *file)
{
    if (!heap_runtime_find(path, file))
        refuse(EXIT_RECORD_FAILED, r->program,
               "%s is not %s. Set PGOKIT_RUNTIME to the folder where it is", file,
               getenv("PGOKIT_RUNTIME") ? "where PGOKIT_RUNTIME says"
                                        : "in this build or installation of pgokit");
    if (strpbrk(path, ": "))
        refuse(EXIT_RECORD_FAILED, r->program,
               "the path of the runtime has a blank or a colon, which the dynamic linker cannot "
               "read: %s",
               path);
}

/* What has to be put in front of the program depends on the runtime that is linked into it. */
static void set_environment(const struct record *r)
{
    char path[PATH_MAX];
    set_options(r);
    switch (r->found.heap_runtime) {
    case PGK_HEAP_RUNTIME_PGOKIT:
        break;
    case PGK_HEAP_RUNTIME_LLVM:
        set_options_of_llvm(r);
        if (!r->common.quiet)
            fputs("pgokit: note: the program is linked with LLVM's runtime, so that one "
                  "records; for pgokit's, link as pgokit config --libs heap says\n",
                  stderr);
        break;
    case PGK_HEAP_RUNTIME_LLVM_SHARED:
        check_can_preload(r);
        find_runtime(r, path, TAKEOVER_RUNTIME);
        *strrchr(path, '/') = 0;
        join_into("LD_LIBRARY_PATH", path, environment("LD_LIBRARY_PATH"));
        break;
    case PGK_HEAP_RUNTIME_NONE:
        check_can_preload(r);
        find_runtime(r, path, SHARED_RUNTIME);
        join_into("LD_PRELOAD", path, environment("LD_PRELOAD"));
        break;
    }
}

static int run(int argc, char **argv)
{
    struct record r = {0};
    struct record_files files;
    struct record_ended ended;
    parse(&r, argc, argv);
    if (r.attach) {
        const int status = record_attach((int)r.attach, r.argv[0]);
        cli_common_free(&r.common);
        return status;
    }
    find_program(r.program, r.argv[0]);
    inspect_program(&r);
    check_histogram(&r);
    choose_template(&r);
    set_environment(&r);
    record_files_before(&files, r.template);
    if (!record_run(r.program, r.argv, &ended))
        refuse(EXIT_NOT_EXECUTABLE, r.program, "%s", strerror(errno));
    record_files_after(&files, r.template);
    record_heap_tell(&files, &ended, r.profiled, r.common.quiet);
    record_files_free(&files);
    cli_common_free(&r.common);
    return ended.exit_code;
}

const struct cli_verb record_heap = {
    .name = "record heap",
    .summary = "what is allocated where, and how it is used",
    .help = help,
    .exit_help =
        "that of the program, 128 and its number if a signal ended it;\n125 pgokit failed, "
        "126 the program cannot be run or recorded, 127 there is no such program,\n"
        "2 wrong usage",
    .run = run};
