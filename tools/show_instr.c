/* pgokit show for instrumentation profiles. */
#include "cli.h"
#include "llvm_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Totals, then the functions that ran most. Of a file that also holds heap data\n"
    "the heaviest contexts follow.\n\n";

static const char examples[] =
    "  pgokit show default_123_0.profraw\n"
    "  pgokit show app.profdata --function main\n"
    "  pgokit show app.profdata --function '^_ZN3net'\n"
    "  pgokit show app.profdata --value-cutoff 1000 --list-below-cutoff\n";

enum view { VIEW_TABLE, VIEW_JSON, VIEW_TEXT };

struct show {
    struct cli_common common;
    struct pgk_instr_print_opts report;
    enum view view;
    const char *path;
    uint32_t *cutoffs; /* of the report */
    bool top_given, below, summary, only_summary;
    struct llvm_parts llvm;
};

static const struct option_choice sorts[] = {{"total", PGK_INSTR_SORT_TOTAL},
                                             {"entry", PGK_INSTR_SORT_ENTRY},
                                             {"max", PGK_INSTR_SORT_MAX},
                                             {"name", PGK_INSTR_SORT_NAME}, {0}};

/* "800000,999999" */
static void take_cutoffs(const struct option_given *given)
{
    enum { WHOLE = 1000000 };
    struct show *s = given->into;
    char *list = optarg;
    size_t n = 0;
    s->cutoffs = realloc(s->cutoffs, (strlen(list) + 1) * sizeof *s->cutoffs);
    if (!s->cutoffs)
        cli_usage(&cmd_show, "--cutoffs needs more memory than there is");
    for (char *item; (item = strsep(&list, ","));)
        s->cutoffs[n++] = (uint32_t)cli_number("--cutoffs", item, 0, WHOLE);
    s->report.cutoffs = s->cutoffs;
    s->report.n_cutoffs = n;
}

static const struct option_row rows[] = {
    {"sort", 0, "KEY", "total (default), entry, max, name",
     OPTION_CHOICE(struct show, report.sort, sorts)},
    {"top", 0, "N", "functions shown (default 10; 0: all)",
     OPTION_NUMBER(struct show, report.top, 0, 1000000000), OPTION_GIVEN(struct show, top_given)},
    {"function", 0, "NAME",
     "counters and values of one function, by its linkage name; or, if there is none, of all that "
     "match it; extended syntax", OPTION_TEXT(struct show, report.function),
     .page = "a regular expression of POSIX may match anywhere in the name"},
    {"value-cutoff", 0, "N", "only functions with a counter of N or more",
     OPTION_NUMBER(struct show, report.value_cutoff, 1, UINT64_MAX),
     .page = "the number of the others is printed, too"},
    {"list-below-cutoff", 0, NULL, "instead only functions without such a counter, all of them",
     OPTION_FLAG(struct show, below),
     .page = "functions only known to be hot or warm are in neither list"},
    {"contextual", 0, NULL, "only functions counted in their calling contexts (CSIR)",
     OPTION_FLAG(struct show, report.contextual),
     .page = "`--detailed-summary` then covers only these, too"},
    {"detailed-summary", 0, NULL,
     "the summary in the words of llvm-profdata, alone or below the functions that another option "
     "chooses", OPTION_FLAG(struct show, summary), .page = "see [below](#the-summary-for-scripts)"},
    {"cutoffs", 0, "LIST",
     "its shares, in millionths of all counts, with commas between", OPTION_CALL(take_cutoffs),
     .page = "an example is `500000,990000`; the default are the 16 shares that files have"},
    LLVM_PARTS_ROW(struct show, llvm),
    {"json", 0, NULL, "all of it as JSON", OPTION_VALUE(struct show, view, VIEW_JSON),
     .page = "see [instr-json.md](../formats/instr-json.md)"},
    {"raw", 0, NULL, "every counter and value, as text profile",
     OPTION_VALUE(struct show, view, VIEW_TEXT), .page = "see [text](../formats/instr-text.md)"},
    {0},
};
static const struct option_table table = {"show counters", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct show), {0}};

static void check(const struct show *s)
{
    if (s->below && !s->report.value_cutoff)
        cli_usage(&cmd_show, "--list-below-cutoff needs to know below what: --value-cutoff N");
    if (s->summary && s->view != VIEW_TABLE)
        cli_usage(&cmd_show, "--detailed-summary is text; --json and --raw have all counters");
    if (s->cutoffs && !s->summary && !s->llvm.given)
        cli_usage(&cmd_show, "--cutoffs requires --detailed-summary");
    if (s->llvm.given && (s->view != VIEW_TABLE || s->summary))
        cli_usage(&cmd_show, "--llvm is of none of --json, --raw and --detailed-summary, which "
                  "--llvm=summary has");
}

static void parse(struct show *s, int argc, char **argv)
{
    struct pgk_instr_print_opts *r = &s->report;
    r->struct_size = sizeof *r;
    option_parse(&cmd_show, groups, argc, argv, s);
    cli_need_one(&cmd_show, argc - optind);
    check(s);
    s->only_summary = s->summary && !s->top_given && !r->function && !r->value_cutoff;
    if (!s->top_given && s->view == VIEW_TABLE && !r->function && !s->below && !s->llvm.given)
        r->top = 10;
    if (s->below && !s->llvm.given) {
        r->below_cutoff = r->value_cutoff;
        r->value_cutoff = 0;
    }
    s->path = r->title = argv[optind];
    r->colour = cli_colour();
    r->width = cli_width(STDOUT_FILENO);
}

/* Gives names to the functions of heap data, which knows them by number. */
static int name_heap(const struct show *s, struct pgk_heap *heap, struct pgk_err *err)
{
    struct pgk_binaries *binaries;
    if (!s->common.binaries.n)
        return 0;
    int status = cli_open_binaries(&s->common, &binaries, err);
    if (status)
        return status;
    status = pgk_heap_name_functions(heap, binaries, err);
    pgk_binaries_close(&binaries);
    return status;
}

/* The heap data of the same file. */
static int read_heap(const struct show *s, struct pgk_heap **heap, struct pgk_file *file,
                     struct pgk_err *err)
{
    int status = pgk_heap_new(heap, err);
    if (!status)
        status = pgk_heap_read_file(*heap, file, 1, err);
    return status ? status : name_heap(s, *heap, err);
}

static int print_heap(const struct show *s, const struct pgk_heap *heap, struct pgk_err *err)
{
    struct pgk_heap_print_opts opts = {.struct_size = sizeof opts,
                                       .info = s->report.info,
                                       .top = s->report.top,
                                       .depth = 12,
                                       .width = s->report.width,
                                       .colour = s->report.colour};
    if (fputs("\nheap data\n\n", stdout) < 0)
        return 0; /* which cli_finish_output has words for */
    return pgk_heap_print_table(heap, &opts, stdout, err);
}

static int print_llvm(const struct show *s, const struct pgk_instr *instr, struct pgk_err *err)
{
    const struct pgk_instr_print_opts *r = &s->report;
    struct pgk_llvm_print_opts opts = {
        .struct_size = sizeof opts,
        .info = r->info,
        .parts = s->llvm.bits,
        .release = s->llvm.release,
        .function = r->function,
        .top = r->top,
        .value_cutoff = r->value_cutoff,
        .below_cutoff = s->below,
        .contextual = r->contextual,
        .cutoffs = r->cutoffs,
        .n_cutoffs = r->n_cutoffs,
    };
    cli_for_data("-");
    return pgk_instr_print_llvm(instr, &opts, stdout, err);
}

/* `heap` is NULL if there is none. */
static int print(const struct show *s, const struct pgk_instr *instr, const struct pgk_heap *heap,
                 struct pgk_err *err)
{
    if (s->llvm.given)
        return print_llvm(s, instr, err);
    if (s->view == VIEW_TEXT) {
        cli_for_data("-");
        return pgk_instr_write(instr, "-", &(struct pgk_instr_target){.form = PGK_INSTR_TEXT},
                               err);
    }
    cli_for_people(s->view == VIEW_JSON ? CLI_EXACT : CLI_PEOPLE);
    if (s->view == VIEW_JSON)
        return pgk_instr_print_json(instr, &s->report, stdout, err);
    int status = s->only_summary ? 0 : pgk_instr_print_table(instr, &s->report, stdout, err);
    if (!status && s->summary)
        return pgk_instr_print_summary(instr, &s->report, stdout, err);
    return !status && heap && !s->report.function ? print_heap(s, heap, err) : status;
}

static int run(int argc, char **argv)
{
    struct show s = {0};
    struct pgk_instr *instr = NULL;
    struct pgk_heap *heap = NULL;
    struct pgk_err err = {0};
    struct pgk_file *file;
    parse(&s, argc, argv);
    int status = pgk_instr_new(&instr, &err);
    if (!status)
        status = cli_open(&file, s.path, &err);
    if (!status)
        status = pgk_instr_read_file(instr, file, 1, &err);
    if (!status && pgk_file_holds(file, PGK_KIND_HEAP))
        status = read_heap(&s, &heap, file, &err);
    if (!status) {
        s.report.info = pgk_file_info(file);
        status = print(&s, instr, heap, &err);
    }
    pgk_instr_close(&instr);
    pgk_heap_close(&heap);
    free(s.cutoffs);
    cli_common_free(&s.common);
    return status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
}

const struct cli_action show_instr = {
    PGK_KIND_INSTR, help, .run = run, .groups = groups, .examples = examples};
