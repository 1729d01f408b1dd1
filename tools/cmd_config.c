/* pgokit config: what a build system adds to build programs for recording, or by profiles. */
#include "config.h"

#include "heap_flags.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: pgokit config --cflags | --ldflags | --libs heap [OPTION]...\n"
    "       pgokit config --cflags | --ldflags | --libs use --profile FILE\n"
    "                     [OPTION]...\n"
    "       pgokit config --cflags | --ldflags layout [--profile FILE] [OPTION]...\n\n"
    "Prints, on one line, what to add to the commands that build a program: flags to\n"
    "compile with, flags to link with, libraries to link. Several can be asked for at\n"
    "once.\n\n"
    "heap: so that pgokit record heap also records loads and stores. For a compiler\n"
    "whose release is in its name, accesses are counted by a plugin of pgokit, if\n"
    "there is one for that release.\n"
    "use: so that clang uses a profile. By pgokit's plugin it promotes virtual calls\n"
    "by comparing types of objects, which a sample profile has, and passes hints to\n"
    "the allocator at calls, of C too, whose objects a heap profile has as cold.\n"
    "layout: so that a build can be recorded for an order of its code, and then, with\n"
    "the file that pgokit gen --format order or propeller wrote, so that it has it.\n\n";

static const char examples[] =
    "  clang -O2 $(pgokit config --cflags heap) -c app.c\n"
    "  clang app.o $(pgokit config --ldflags --libs heap) -o app\n"
    "  make CC=gcc-12 CFLAGS=\"-O2 $(pgokit config --cflags heap --cc gcc-12)\" \\\n"
    "      LDFLAGS=\"$(pgokit config --ldflags --libs heap --cc gcc-12)\"\n"
    "  clang++-22 -O2 -c app.cpp \\\n"
    "      $(pgokit config --cflags use --cc clang-22 --profile app.afdo)\n"
    "  clang-22 app.o $(pgokit config --ldflags layout --profile app.order) -o app\n";

#define HISTOGRAM_NEEDS "histograms of accesses need clang 19 or newer, or a plugin for gcc"

static const struct option_row rows[] = {
    {"cflags", 0, NULL, "for compiling C and C++", OPTION_FLAG(struct config, cflags)},
    {"ldflags", 0, NULL, "for linking", OPTION_FLAG(struct config, ldflags)},
    {"libs", 0, NULL, "the runtime; of use the allocator, after objects",
     OPTION_FLAG(struct config, libs),
     .page = "[libpgokit_heap](libpgokit_heap.md), whose place on the command line does not "
             "matter, and [libpgokit_alloc](libpgokit_alloc.md)"},
    {"cc", 0, "CC", "compiler: gcc-12, clang, clang-22, a path; default $CC, else clang",
     OPTION_TEXT(struct config, cc), OPTION_WORDS(cli_compiler)},
    {"static", 0, NULL, "the runtime becomes part of the program (default); also for -static",
     OPTION_CLEAR(struct config, shared)},
    {"shared", 0, NULL, "the runtime as a library", OPTION_FLAG(struct config, shared),
     .page = "its path is then in the program"},
    {"profile", 0, "FILE",
     "the profile to use; may be repeated; of layout the order of gen --format",
     OPTION_LIST(struct config, profiles)},
    {"report", 0, "DIR",
     "each compile writes there what it used, for pgokit match --used DIR; the folder is made",
     OPTION_TEXT(struct config, report),
     .page = "see [what compiles used](pgokit-match.md#what-compiles-used)"},
    {"histogram", 0, NULL,
     "count accesses by place in the object; clang from 19 on, gcc by plugin",
     OPTION_FLAG(struct config, histogram)},
    {0},
};
static const struct option_table table = {"config", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct config), {0}};

static void parse(struct config *c, int argc, char **argv)
{
    option_parse(&cmd_config, groups, argc, argv, c);
    if (optind + 1 != argc)
        cli_usage(&cmd_config, "name what the flags are for: heap, use or layout");
    c->use = !strcmp(argv[optind], "use");
    c->layout = !strcmp(argv[optind], "layout");
    if (!c->use && !c->layout && strcmp(argv[optind], "heap") != 0)
        cli_refuse_value(&cmd_config, argv[optind],
                         "config takes what the flags are for: heap, use or layout");
    if (!c->cflags && !c->ldflags && !c->libs)
        cli_usage(&cmd_config, "nothing to print: name --cflags, --ldflags or --libs");
    if (c->layout && c->profiles.n > 1)
        cli_usage(&cmd_config, "layout takes one --profile: a build has one order");
    if (!c->layout && c->use != (c->profiles.n != 0))
        cli_usage(&cmd_config, c->use ? "name the profile to use: --profile FILE"
                                      : "--profile requires 'pgokit config use' or 'layout'");
    if (c->report && !c->use)
        cli_usage(&cmd_config, "--report requires 'pgokit config use'");
    if ((c->use || c->layout) && c->histogram)
        cli_usage(&cmd_config, "--histogram requires 'pgokit config heap'");
}

/* What follows the compiler's name: "-19" of "clang++-19". */
static unsigned long release_in(const char *after)
{
    after += after[0] == '+' && after[1] == '+' ? 2 : 0;
    return *after == '-' && isdigit((unsigned char)after[1]) ? strtoul(after + 1, NULL, 10) : 0;
}

/* "aarch64-linux-gnu-gcc-12" compiles for another processor. */
static bool is_cross(const char *name, const char *gcc)
{
#ifdef __aarch64__
    static const char own[] = "aarch64-linux-gnu-";
#else
    static const char own[] = "x86_64-linux-gnu-";
#endif
    size_t before = (size_t)(gcc - name), n = strlen(own);
    return before && gcc[-1] == '-' && !(before >= n && !memcmp(gcc - n, own, n));
}

/* By its name: "ccache clang++-19 -m64" is clang 19. */
static void know_compiler(struct config *c)
{
    const char *name = c->cc ? c->cc : getenv("CC");
    if (!name || !*name)
        name = "clang";
    const char *clang = strstr(name, "clang"), *gcc = strstr(name, "gcc");
    gcc = gcc ? gcc : strstr(name, "g++");
    c->clang = clang != NULL;
    if (clang) {
        c->release = release_in(clang + strlen("clang"));
    } else if (gcc) {
        c->release = release_in(gcc + (gcc[1] == 'c' ? strlen("gcc") : strlen("g")));
        c->other_processor = is_cross(name, gcc);
    } else {
        char safe[64];
        cli_usage(&cmd_config,
                  "cannot find out whether '%s' is gcc or clang; give --cc gcc or --cc clang",
                  pgk_human_text(safe, sizeof safe, name));
    }
    if (!c->use && !c->layout && c->clang && c->release && c->release < 13)
        cli_usage(&cmd_config, "clang %lu has no heap profiler; 13 is the first", c->release);
    if (c->histogram && c->clang && c->release && c->release < 19)
        cli_usage(&cmd_config, HISTOGRAM_NEEDS);
}

/* Words go into command lines through $(...), which splits at blanks and knows no quotes. */
void config_check_path(const char *path)
{
    char safe[256];
    if (path[strcspn(path, " \t\n,:")]) {
        fprintf(stderr,
                "pgokit: the path of a file has a blank, a comma or a colon, which "
                "command lines split: %s\n",
                pgk_human_text(safe, sizeof safe, path));
        exit(EXIT_FAILED);
    }
}

static void find_library(char path[PATH_MAX], const char *file)
{
    if (!heap_runtime_find(path, file)) {
        fprintf(stderr,
                "pgokit: %s is not in this build or installation of pgokit. Set "
                "PGOKIT_RUNTIME to the folder where it is\n",
                file);
        exit(EXIT_FAILED);
    }
    config_check_path(path);
}

/* The plugin for the compiler; and says what will count. */
static bool find_plugin(const struct config *c, char path[PATH_MAX])
{
    const char *name = c->clang ? "clang" : "gcc";
    const char *own = c->clang ? "clang's own pass" : "calls of -fsanitize=thread";
    char file[64], safe[256];
    snprintf(file, sizeof file, "pgokit_heap_%s_%lu.so", name, c->release);
    bool found = c->release && !c->other_processor && heap_runtime_find(path, file);
    if (found)
        config_check_path(path);
    if (c->common.quiet)
        return found;
    if (found)
        fprintf(stderr, "pgokit: accesses are counted by the plugin for %s %lu: %s\n", name,
                c->release, pgk_human_text(safe, sizeof safe, path));
    else if (c->release)
        fprintf(stderr,
                "pgokit: accesses are counted by %s, because this pgokit has no plugin for %s "
                "%lu%s\n",
                own, name, c->release, c->other_processor ? " of another processor" : "");
    else
        fprintf(stderr,
                "pgokit: accesses are counted by %s. There may be a plugin, which costs less: "
                "name the release, as in --cc %s\n",
                own, c->clang ? "clang-22" : "gcc-12");
    return found;
}

static void print_clang_flags(const struct config *c, const char *plugin)
{
    if (plugin)
        printf(HEAP_CFLAGS_PLUGIN, plugin, plugin);
    else
        fputs(HEAP_CFLAGS_CLANG, stdout);
    if (c->histogram)
        printf(" %s", HEAP_CFLAGS_HISTOGRAM);
    /* 19 has no inline code for it; the plugin has. */
    if (c->histogram && c->release < 22 && !plugin)
        printf(" %s", HEAP_CFLAGS_CALLBACKS);
}

static void print_gcc_flags(const struct config *c, const char *plugin)
{
    if (c->histogram && !plugin)
        cli_usage(&cmd_config, HISTOGRAM_NEEDS);
    putchar(' ');
    if (plugin)
        printf(HEAP_CFLAGS_PLUGIN_GCC, plugin);
    else
        fputs(HEAP_CFLAGS_GCC, stdout);
    if (c->histogram) {
        putchar(' ');
        printf(HEAP_CFLAGS_HISTOGRAM_GCC, c->release);
    }
}

static void print_cflags(const struct config *c)
{
    char path[PATH_MAX];
    const char *plugin = find_plugin(c, path) ? path : NULL;
    if (c->clang) {
        putchar(' ');
        print_clang_flags(c, plugin);
    } else {
        print_gcc_flags(c, plugin);
    }
}

static void print_ldflags(const struct config *c)
{
    char path[PATH_MAX];
    if (!c->clang) {
        find_library(path, "libtsan_preinit.o");
        *strrchr(path, '/') = 0;
        printf(" " HEAP_NO_LIBTSAN "%s", path);
    }
    printf(" %s", c->clang ? HEAP_LDFLAGS_CLANG : HEAP_LDFLAGS_GCC);
}

static void print_libs(const struct config *c)
{
    char path[PATH_MAX];
    find_library(path, c->shared ? "libpgokit_heap.so" : "libpgokit_heap.a");
    if (!c->shared) {
        printf(" " HEAP_LIBS_BEFORE "%s" HEAP_LIBS_AFTER, path);
        return;
    }
    printf(" " HEAP_SHARED_BEFORE "%s" HEAP_SHARED_AFTER, path);
    *strrchr(path, '/') = 0;
    printf(" -Wl,-rpath,%s -pthread", path);
}

static int run(int argc, char **argv)
{
    struct config c = {0};
    parse(&c, argc, argv);
    know_compiler(&c);
    if (c.layout) {
        config_layout(&c);
    } else if (c.use) {
        config_use(&c);
    } else {
        if (c.cflags)
            print_cflags(&c);
        if (c.ldflags)
            print_ldflags(&c);
        if (c.libs)
            print_libs(&c);
    }
    putchar('\n');
    cli_list_free(&c.profiles);
    cli_common_free(&c.common);
    return cli_finish_output(EXIT_DONE);
}

const struct cli_verb cmd_config = {
    .name = "config",
    .summary = "prints compiler flags for recording, or for using a profile",
    .help = help,
    .run = run,
    .groups = groups,
    .examples = examples,
};
