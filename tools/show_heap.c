/* pgokit show for heap profiles. */
#include "cli_heap.h"
#include "heap_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Totals, then the heaviest allocation contexts with their call stacks. With the\n"
    "profiled binaries, addresses and function numbers become names and source lines.\n\n";

static const char examples[] =
    "  pgokit show memprof.profraw.4711 -b ./app\n"
    "  pgokit show app.profdata -b ./app --sort lifetime --top 20\n"
    "  pgokit show memprof.profraw.4711 -b ./app --advice\n"
    "  pgokit show memprof.profraw.4711 --timeline\n"
    "  pgokit show app.profdata --json | jq .totals\n";

enum view {
    VIEW_TABLE,
    VIEW_JSON,
    VIEW_FIELDS,
    VIEW_TREE,
    VIEW_TIMELINE,
    VIEW_TYPES,
    VIEW_ADVICE,
    VIEW_LLVM,
};

struct show {
    struct cli_common common;
    struct pgk_heap_print_opts report;
    struct pgk_heap_tree_opts tree;
    struct pgk_heap_timeline_opts timeline;
    enum view view;
    const char *path;
    bool top_given, depth_given;
};

static const struct option_choice sorts[] = {
    {"bytes", PGK_HEAP_SORT_BYTES},         {"count", PGK_HEAP_SORT_COUNT},
    {"accesses", PGK_HEAP_SORT_ACCESSES},   {"lifetime", PGK_HEAP_SORT_LIFETIME},
    {"density", PGK_HEAP_SORT_DENSITY},     {"peak", PGK_HEAP_SORT_PEAK},
    {"leaked", PGK_HEAP_SORT_LEAKED},       {"temporary", PGK_HEAP_SORT_TEMPORARY},
    {"unreachable", PGK_HEAP_SORT_UNREACHABLE}, {0}};

static const struct option_row rows[] = {
    {"sort", 0, "KEY",
     "bytes (default), count, accesses, lifetime, density, peak, leaked, temporary, unreachable",
     OPTION_CHOICE(struct show, report.sort, sorts), .page = "the order is descending"},
    {"top", 0, "N", "contexts shown (default 10; 0: all)",
     OPTION_NUMBER(struct show, report.top, 0, 1000000000), OPTION_GIVEN(struct show, top_given)},
    {"depth", 0, "N", "frames shown of a stack (default 12; 0: all)",
     OPTION_NUMBER(struct show, report.depth, 0, 1000000000),
     OPTION_GIVEN(struct show, depth_given)},
    {"function", 0, "NAME", "contexts with this function in their stacks only: NAME as the linker "
                            "knows it, or an extended regular expression",
     OPTION_TEXT(struct show, report.function),
     .page = "it is looked for in linkage names and in those that programmers write"},
    {"json", 0, NULL, "all of it as JSON", OPTION_VALUE(struct show, view, VIEW_JSON),
     .page = "see [heap-json](../formats/heap-json.md)"},
    {"raw", 0, NULL, "every field of every context", OPTION_VALUE(struct show, view, VIEW_FIELDS),
     .page = "function records are included"},
    {"llvm", 0, NULL, "the output of llvm-profdata show --memory, for scripts that read it",
     OPTION_VALUE(struct show, view, VIEW_LLVM), .page = "as LLVM 22 prints it; it needs the "
                                                         "binaries of a raw profile"},
    {"tree", 0, NULL,
     "calling functions with what is allocated below each; --depth counts levels (default: all)",
     OPTION_VALUE(struct show, view, VIEW_TREE)},
    {"least", 0, "PERCENT", "with --tree: share below which a branch is summed up (default 1)",
     OPTION_NUMBER(struct show, tree.least, 0, 100)},
    {"library", 0, NULL, "with --tree: frames of libraries, too",
     OPTION_FLAG(struct show, tree.library),
     .page = "these are the language's library and allocators"},
    {"types", 0, NULL, "what the objects of each type cost",
     OPTION_VALUE(struct show, view, VIEW_TYPES),
     .page = "see [below](#types); `--sort` and `--top` order and limit them"},
    {"advice", 0, NULL, "what to change, each with the contexts concerned; --top counts these "
                        "(default 3)", OPTION_VALUE(struct show, view, VIEW_ADVICE)},
    {"timeline", 0, NULL, "draw the bytes that were alive over time",
     OPTION_VALUE(struct show, view, VIEW_TIMELINE), .page = "see [below](#the-heap-over-time)"},
    {0},
};
static const struct option_table table = {"show heap", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct show), {0}};

static void parse(struct show *s, int argc, char **argv)
{
    s->report = (struct pgk_heap_print_opts){.struct_size = sizeof s->report, .depth = 12};
    s->tree = (struct pgk_heap_tree_opts){.struct_size = sizeof s->tree, .least = 1};
    option_parse(&cmd_show, groups, argc, argv, s);
    s->tree.least /= 100;
    if (s->depth_given)
        s->tree.depth = s->report.depth;
    if (!s->top_given)
        s->report.top = s->view == VIEW_TABLE ? 10 : s->view == VIEW_ADVICE ? 3 : 0;
    cli_need_one(&cmd_show, argc - optind);
    s->path = argv[optind];
    s->report.title = s->path;
    s->report.colour = s->tree.colour = cli_colour();
    s->report.width = s->tree.width = cli_width(STDOUT_FILENO);
    s->timeline = (struct pgk_heap_timeline_opts){.struct_size = sizeof s->timeline,
                                                  .title = s->path,
                                                  .width = s->report.width,
                                                  .colour = s->report.colour};
}

static int print(const struct show *s, const struct pgk_heap *heap, struct pgk_err *err)
{
    cli_for_people(s->view == VIEW_JSON || s->view == VIEW_FIELDS ? CLI_EXACT : CLI_PEOPLE);
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
    case VIEW_ADVICE:
        return pgk_heap_print_advice(heap, &s->report, stdout, err);
    case VIEW_LLVM:
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
        cli_note("this profile does not hold the heap over time, so --sort %s has no effect; "
                 "pgokit record heap records it", pgk_heap_sort_name(sort));
}

/* With the names that files for compilers are made with. */
static int print_llvm(const struct show *s)
{
    struct pgk_heap *heap = NULL;
    struct pgk_file *file;
    struct pgk_heap_symbolised symbolised = {.struct_size = sizeof symbolised};
    struct pgk_err err = {0};
    cli_for_data("-");
    int status = pgk_heap_new(&heap, &err);
    if (!status)
        status = cli_open(&file, s->path, &err);
    if (!status)
        status = pgk_heap_read_file(heap, file, 1, &err);
    if (!status)
        status = cli_symbolise_heap(&cmd_show, &s->common, CLI_HEAP_FOR_COMPILERS, &heap,
                                    &symbolised, &err);
    if (!status)
        status = pgk_heap_print_llvm(heap, pgk_file_info(file), s->path, stdout, &err);
    pgk_heap_close(&heap);
    cli_common_free((struct cli_common *)(uintptr_t)&s->common);
    return status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
}

static int run(int argc, char **argv)
{
    struct show s = {0};
    struct heap_input in = {.show_all = true};
    struct pgk_err err = {0};
    parse(&s, argc, argv);
    if (s.view == VIEW_LLVM)
        return print_llvm(&s);
    int status = heap_input_read(&in, s.path, &s.common, &err);
    if (!status) {
        s.report.info = in.info;
        if (s.view == VIEW_TABLE && !s.common.quiet && !cli_has_binaries(&s.common))
            heap_input_note_no_names(in.heap);
        if (!s.common.quiet)
            note_no_times(in.heap, s.report.sort);
        status = print(&s, in.heap, &err);
    }
    int exit_code = status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
    if (exit_code == EXIT_DONE && !s.common.quiet) {
        cli_note_symbolised(&in.symbolised);
        cli_note_unnamed(in.heap);
    }
    pgk_heap_close(&in.heap);
    cli_common_free(&s.common);
    return exit_code;
}

const struct cli_action show_heap = {
    PGK_KIND_HEAP, help, .run = run, .groups = groups, .examples = examples};
