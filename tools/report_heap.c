/* pgokit report for heap profiles. */
#include "export_choice.h"
#include "plan_input.h"
#include "rebase.h"

#include <string.h>

static const char help[] =
    "The page shows headline figures, a flame graph of calling contexts, contexts by access\n"
    "density and lifetime, a table, and what to change (docs/report.md).\n\n"
    REPORT_HELP
    "      --source DIR     where to look for sources, besides where they were compiled; may\n"
    "                       be repeated\n"
    "      --no-source      no excerpts of sources on the page\n"
    "      --contexts N     contexts on the page one by one (default 50000, in Markdown\n"
    "                       10); the rest is summed up\n"
    "      --weight NAME    what folded stacks count: bytes (default), count, accesses,\n"
    "                       lifetime-bytes, leaked, leaked-count, peak, peak-count\n"
    "      --plan FILE      show what this plan of pgokit plan does; the page only\n"
    "      --alloc-stats FILE  and what its groups held: what the allocator wrote to\n"
    "                       standard error under pgokit run; - is standard input\n"
    "\nExamples:\n"
    "  pgokit report app.profdata -b ./app -o report.html\n"
    "  pgokit report new.profdata --base old.profdata -b ./app -o diff.html\n"
    "  pgokit report app.profdata -b ./app --format pprof -o heap.pb.gz\n"
    "  pgokit report app.profdata -b ./app --format folded | flamegraph.pl > heap.svg\n"
    "  pgokit report memprof.profraw.1 -b ./app --plan app.plan --alloc-stats app.stats\n";

enum { OPT_SOURCE = 256, OPT_NO_SOURCE, OPT_CONTEXTS, OPT_WEIGHT, OPT_PLAN, OPT_STATS };

static const struct option options[] = {
    REPORT_LONG,
    {"source", required_argument, NULL, OPT_SOURCE},
    {"no-source", no_argument, NULL, OPT_NO_SOURCE},
    {"contexts", required_argument, NULL, OPT_CONTEXTS},
    {"weight", required_argument, NULL, OPT_WEIGHT},
    {"plan", required_argument, NULL, OPT_PLAN},
    {"alloc-stats", required_argument, NULL, OPT_STATS},
    CLI_COMMON_LONG,
    {0},
};

struct report {
    struct cli_common common;
    struct report_choice choice;
    struct cli_list sources;
    const char *plan, *stats;
    struct pgk_heap_export_opts export;
};

static void parse(struct report *r, int argc, char **argv)
{
    r->export.struct_size = sizeof r->export;
    for (int c;
         (c = cli_next_option(&cmd_report, argc, argv, REPORT_SHORT, options, &r->common)) != -1;) {
        switch (c) {
        case OPT_SOURCE:
            cli_list_add(&r->sources, optarg);
            break;
        case OPT_NO_SOURCE:
            r->export.without_sources = true;
            break;
        case OPT_CONTEXTS:
            r->export.max_contexts = cli_number("--contexts", optarg, 1, 10000000);
            break;
        case OPT_WEIGHT:
            r->export.weight = export_weight(&cmd_report, optarg);
            break;
        case OPT_PLAN:
            r->plan = optarg;
            break;
        case OPT_STATS:
            r->stats = optarg;
            break;
        default:
            report_option(&r->choice, c);
        }
    }
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
static int read_profile(struct heap_input *in, const char *path, const struct report *r,
                        struct pgk_err *err)
{
    struct cli_common all = rebase_all_binaries(&r->common, &r->choice.on);
    struct rebase_builds builds;
    struct pgk_heap *rebased = NULL;
    double percent;
    int status = heap_input_read(in, path, &all, err);
    cli_list_free(&all.binaries);
    if (status || !r->choice.on.n)
        return status;
    status = rebase_open(&builds, &r->choice.on, &r->common, err);
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

static int run(int argc, char **argv)
{
    struct report r = {0};
    struct heap_input now = {0}, base = {0};
    struct pgk_plan *plan = NULL;
    struct pgk_err err = {0};
    parse(&r, argc, argv);
    int status = read_profile(&now, r.choice.path, &r, &err);
    if (!status && r.choice.base)
        status = read_profile(&base, r.choice.base, &r, &err);
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
    }
    pgk_plan_close(&plan);
    pgk_heap_close(&now.heap);
    pgk_heap_close(&base.heap);
    int exit_code = status ? cli_fail(&err) : EXIT_DONE;
    if (exit_code == EXIT_DONE && !r.common.quiet)
        cli_note_symbolised(&now.symbolised);
    cli_list_free(&r.sources);
    cli_list_free(&r.choice.on);
    cli_common_free(&r.common);
    return exit_code;
}

const struct cli_action report_heap = {PGK_KIND_HEAP, help, REPORT_SHORT, options, run};
