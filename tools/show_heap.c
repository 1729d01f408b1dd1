/* pgokit show for heap profiles. */
#include "heap_input.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char help[] =
    "Totals, then the heaviest allocation contexts with their call stacks. With the profiled\n"
    "binaries, addresses and function numbers become names and source lines.\n\n"
    "      --sort KEY       bytes (default), count, accesses, lifetime, density, peak, leaked,\n"
    "                       temporary, unreachable\n"
    "      --top N          contexts shown (default 10; 0: all)\n"
    "      --depth N        frames shown of a stack (default 12; 0: all)\n"
    "      --json           all of it as JSON (docs/formats/heap-json.md)\n"
    "      --raw            every field of every context\n"
    "      --tree           calling functions with what is allocated below each; --depth\n"
    "                       counts levels (default: all)\n"
    "      --least PERCENT  with --tree: share below which a branch is summed up (default 1)\n"
    "      --library        with --tree: frames of libraries, too\n"
    "      --types          what the objects of each type cost\n"
    "      --timeline       draw the bytes that were alive over time\n"
    "\nExamples:\n"
    "  pgokit show memprof.profraw.4711 -b ./app\n"
    "  pgokit show app.profdata -b ./app --sort lifetime --top 20\n"
    "  pgokit show memprof.profraw.4711 --timeline\n"
    "  pgokit show app.profdata --json | jq .totals\n";

enum { OPT_SORT = 256, OPT_TOP, OPT_DEPTH, OPT_JSON, OPT_RAW, OPT_TREE, OPT_LEAST, OPT_LIBRARY,
       OPT_TIMELINE, OPT_TYPES };

static const struct option options[] = {
    {"sort", required_argument, NULL, OPT_SORT},
    {"top", required_argument, NULL, OPT_TOP},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"json", no_argument, NULL, OPT_JSON},
    {"raw", no_argument, NULL, OPT_RAW},
    {"tree", no_argument, NULL, OPT_TREE},
    {"least", required_argument, NULL, OPT_LEAST},
    {"library", no_argument, NULL, OPT_LIBRARY},
    {"timeline", no_argument, NULL, OPT_TIMELINE},
    {"types", no_argument, NULL, OPT_TYPES},
    CLI_COMMON_LONG,
    {0},
};

enum view { VIEW_TABLE, VIEW_JSON, VIEW_FIELDS, VIEW_TREE, VIEW_TIMELINE, VIEW_TYPES };

struct show {
    struct cli_common common;
    struct pgk_heap_print_opts report;
    struct pgk_heap_tree_opts tree;
    struct pgk_heap_timeline_opts timeline;
    enum view view;
    const char *path;
};

static enum pgk_heap_sort parse_sort(const char *text)
{
    for (enum pgk_heap_sort s = 0; s < PGK_HEAP_SORTS; s++)
        if (!strcmp(text, pgk_heap_sort_name(s)))
            return s;
    cli_usage(&cmd_show, "--sort takes bytes, count, accesses, lifetime, density, peak, leaked, "
              "temporary or unreachable, not '%s'", text);
}

/* 0 into a file or a pipe. */
static unsigned terminal_width(void)
{
    struct winsize size;
    return !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

static void parse(struct show *s, int argc, char **argv)
{
    enum { NOT_GIVEN = -1 };
    long top = NOT_GIVEN;
    s->report = (struct pgk_heap_print_opts){.struct_size = sizeof s->report, .depth = 12};
    s->tree = (struct pgk_heap_tree_opts){.struct_size = sizeof s->tree, .least = 0.01};
    for (int c; (c = cli_next_option(&cmd_show, argc, argv, "", options, &s->common)) != -1;) {
        switch (c) {
        case OPT_SORT:
            s->report.sort = parse_sort(optarg);
            break;
        case OPT_TOP:
            top = (long)cli_number("--top", optarg, 0, 1000000000);
            break;
        case OPT_DEPTH:
            s->report.depth = s->tree.depth = cli_number("--depth", optarg, 0, 1000000000);
            break;
        case OPT_TREE:
            s->view = VIEW_TREE;
            break;
        case OPT_LEAST:
            s->tree.least = (double)cli_number("--least", optarg, 0, 100) / 100;
            break;
        case OPT_LIBRARY:
            s->tree.library = true;
            break;
        case OPT_TIMELINE:
            s->view = VIEW_TIMELINE;
            break;
        case OPT_TYPES:
            s->view = VIEW_TYPES;
            break;
        case OPT_JSON:
            s->view = VIEW_JSON;
            break;
        case OPT_RAW:
            s->view = VIEW_FIELDS;
            break;
        }
    }
    if (optind + 1 != argc)
        cli_usage(&cmd_show, "show takes one file");
    s->path = argv[optind];
    s->report.title = s->path;
    s->report.top = top == NOT_GIVEN ? (s->view == VIEW_TABLE ? 10 : 0) : (size_t)top;
    s->report.colour = s->tree.colour = cli_colour();
    s->report.width = terminal_width();
    s->timeline = (struct pgk_heap_timeline_opts){.struct_size = sizeof s->timeline,
                                                  .title = s->path,
                                                  .width = s->report.width,
                                                  .colour = s->report.colour};
}

static int print(const struct show *s, const struct pgk_heap *heap, struct pgk_err *err)
{
    switch (s->view) {
    case VIEW_JSON:
        return pgk_heap_print_json(heap, &s->report, stdout, err);
    case VIEW_FIELDS:
        return pgk_heap_print_fields(heap, &s->report, stdout, err);
    case VIEW_TREE:
        return pgk_heap_print_tree(heap, &s->tree, stdout, err);
    case VIEW_TIMELINE:
        return pgk_heap_print_timeline(heap, &s->timeline, stdout, err);
    case VIEW_TYPES:
        return pgk_heap_print_types(heap, &s->report, stdout, err);
    case VIEW_TABLE:
        break;
    }
    return pgk_heap_print_table(heap, &s->report, stdout, err);
}

/* Contexts are in no order then. */
static void note_no_times(const struct pgk_heap *heap, enum pgk_heap_sort sort)
{
    struct pgk_heap_times times = {.struct_size = sizeof times};
    pgk_heap_over_time(heap, &times);
    if (!times.processes && sort >= PGK_HEAP_SORT_PEAK)
        fprintf(stderr,
                "pgokit: note: this profile does not tell how the heap was over time, so --sort %s "
                "has no effect; pgokit record heap records it\n", pgk_heap_sort_name(sort));
}

static int run(int argc, char **argv)
{
    struct show s = {0};
    struct heap_input in = {0};
    struct pgk_err err = {0};
    parse(&s, argc, argv);
    int status = heap_input_read(&in, s.path, &s.common, &err);
    if (!status) {
        s.report.info = in.info;
        if (s.view == VIEW_TABLE && !s.common.quiet && !cli_has_binaries(&s.common))
            heap_input_note_no_names(in.heap);
        if (!s.common.quiet)
            note_no_times(in.heap, s.report.sort);
        status = print(&s, in.heap, &err);
    }
    pgk_heap_close(&in.heap);
    int exit_code = status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
    if (exit_code == EXIT_DONE && !s.common.quiet)
        cli_note_symbolised(&in.symbolised);
    cli_common_free(&s.common);
    return exit_code;
}

const struct cli_action show_heap = {PGK_KIND_HEAP, help, "", options, run};
