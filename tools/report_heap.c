/* pgokit report for heap profiles. */
#include "export_choice.h"
#include "plan_input.h"
#include "rebase.h"

#include <string.h>

static const char help[] =
    "The page shows headline figures, a flame graph of calling contexts, contexts by\n"
    "access density and lifetime, a table, and what to change (docs/report.md).\n\n";

static const char examples[] =
    "  pgokit report app.profdata -b ./app -o report.html\n"
    "  pgokit report new.profdata --base old.profdata -b ./app -o diff.html\n"
    "  pgokit report app.profdata -b ./app --format pprof -o heap.pb.gz\n"
    "  pgokit report app.profdata -b ./app --format folded | flamegraph.pl > heap.svg\n"
    "  pgokit report memprof.profraw.1 -b ./app --plan app.plan \\\n"
    "      --alloc-stats app.stats\n";

struct report {
    struct cli_common common;
    struct report_choice choice;
    struct cli_list sources;
    const char *plan, *stats;
    struct pgk_heap_export_opts export;
};

static void take_weight(const struct option_given *given)
{
    *(enum pgk_heap_weight *)given->into = export_weight(given);
}

static const struct option_row rows[] = {
    {"source", 0, "DIR",
     "where to look for sources, besides where they were compiled; may be repeated",
     OPTION_LIST(struct report, sources),
     .page = "the whole path of a file is tried, then shorter and shorter ends of it"},
    {"no-source", 0, NULL, "no excerpts of sources on the page",
     OPTION_FLAG(struct report, export.without_sources)},
    {"contexts", 0, "N",
     "the largest contexts, one by one (default 50000, in Markdown 10, in CSV all); the rest is "
     "summed up, but in CSV",
     OPTION_NUMBER(struct report, export.max_contexts, 1, 10000000)},
    {"weight", 0, "NAME",
     "what folded stacks count: bytes (default), count, accesses, lifetime-bytes, leaked, "
     "leaked-count, peak, peak-count", OPTION_CALL_FOR(struct report, export.weight, take_weight),
     OPTION_WORDS(export_weight_word),
     .page = "the last four need a profile of pgokit's runtime: alive at exit, and at the peak"},
    {"plan", 0, "FILE", "show what this plan of pgokit plan does; the page only",
     OPTION_TEXT(struct report, plan),
     .page = "it takes a single heap profile, which has addresses or is matched with the build of "
             "`-b`"},
    {"alloc-stats", 0, "FILE",
     "and what its groups held: what the allocator wrote to standard error under pgokit run; - is "
     "standard input", OPTION_TEXT(struct report, stats),
     .page = "[pgokit plan](pgokit-plan.md) prints the same"},
    {0},
};
static const struct option_table table = {"report heap", NULL, rows};
static const struct option_group groups[] = {
    OPTION_GROUP(report_choice_options, struct report, choice),
    {&table, 0, 0},
    CLI_COMMON(struct report),
    {0},
};

static void parse(struct report *r, int argc, char **argv)
{
    r->export.struct_size = sizeof r->export;
    option_parse(&cmd_report, groups, argc, argv, r);
    report_operand(&r->choice, argc, argv);
    if (r->stats && !r->plan)
        cli_usage(&cmd_report, "--alloc-stats requires --plan");
    if (r->plan && (r->choice.base || r->choice.on.n || strcmp(r->choice.format, "html")))
        cli_usage(&cmd_report, "--plan is for the page of one profile, without --base and --on");
}

/* Its contexts have addresses: the profile is read a second time. */
static int read_plan(struct pgk_plan **plan, const struct report *r, struct pgk_err *err)
{
    struct plan_input in = {.verb = &cmd_report, .common = r->common, .profile = r->choice.path,
                            .file = r->plan, .names = true};
    int status = r->plan ? plan_input_make(&in, plan, err) : 0;
    if (!status && r->stats)
        status = pgk_plan_read_stats(*plan, r->stats, err);
    plan_input_free(&in);
    return status;
}

/* With --on the profile at the lines of that build, without what is not there. */
static int rebase(struct heap_input *in, const char *path, const struct report *r,
                  struct pgk_err *err)
{
    struct rebase_builds builds;
    struct pgk_heap *rebased = NULL;
    double percent;
    if (!r->choice.on.n)
        return 0;
    int status = rebase_open(&builds, &r->choice.on, &r->common, err);
    if (!status)
        status = rebase_heap_on(&rebased, in->heap, &builds, PGK_LOST_DROP, &percent, err);
    if (!status)
        status = pgk_heap_find_types(rebased, builds.now, true, err);
    rebase_close(&builds);
    if (status) {
        pgk_heap_close(&rebased);
        return status;
    }
    pgk_heap_close(&in->heap);
    in->heap = rebased;
    if (!r->common.quiet)
        rebase_note(path, percent, "bytes", r->choice.on.v[0]);
    return 0;
}

static int read_profiles(struct heap_input *now, struct heap_input *base, const struct report *r,
                         struct pgk_err *err)
{
    const char *const paths[] = {r->choice.base, r->choice.path};
    struct cli_common all = rebase_all_binaries(&r->common, &r->choice.on);
    now->show_all = base->show_all = !r->choice.on.n; /* lines of another build have no addresses */
    int status = r->choice.base ? heap_input_read_two((struct heap_input *[]){base, now}, paths,
                                                      &all, &r->common.binaries, err)
                                : heap_input_read(now, r->choice.path, &all, err);
    cli_list_free(&all.binaries);
    if (!status)
        status = rebase(now, r->choice.path, r, err);
    return !status && r->choice.base ? rebase(base, r->choice.base, r, err) : status;
}

static int run(int argc, char **argv)
{
    struct report r = {0};
    struct heap_input now = {0}, base = {0};
    struct pgk_plan *plan = NULL;
    struct pgk_err err = {0};
    parse(&r, argc, argv);
    int status = read_profiles(&now, &base, &r, &err);
    if (!status)
        status = read_plan(&plan, &r, &err);
    if (!status) {
        if (!r.common.quiet && !cli_has_binaries(&r.common) && !r.choice.on.n)
            heap_input_note_no_names(now.heap);
        r.export.title = export_title(r.choice.path);
        r.export.info = now.info;
        r.export.base = base.heap;
        r.export.base_title = r.choice.base ? export_title(r.choice.base) : NULL;
        r.export.plan = plan;
        r.export.source_dirs = r.sources.v;
        r.export.n_source_dirs = r.sources.n;
        status = pgk_heap_export(now.heap, r.choice.format, r.choice.output, &r.export, &err);
        if (!status && !r.common.quiet) {
            const struct cli_cut cut = cli_cut_stacks(now.heap);
            cli_note_unnamed(now.heap);
            cli_note_cut(&cut);
        }
    }
    pgk_plan_close(&plan);
    pgk_heap_close(&now.heap);
    pgk_heap_close(&base.heap);
    int exit_code = status ? cli_fail(&err) : EXIT_DONE;
    if (exit_code == EXIT_DONE && !r.common.quiet) {
        cli_note_symbolised(&now.symbolised);
        report_note_output(&r.choice);
    }
    cli_list_free(&r.sources);
    cli_list_free(&r.choice.on);
    cli_common_free(&r.common);
    return exit_code;
}

const struct cli_action report_heap = {
    PGK_KIND_HEAP, help, .run = run, .groups = groups, .examples = examples};
