/* pgokit diff for heap profiles. */
#include "diff_form.h"
#include "diff_limits.h"
#include "heap_input.h"
#include "pgokit/program.h"
#include "rebase.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Totals of both, an overlap score, and the contexts and types of objects that\n"
    "changed most. With the programs of both builds, -b OLD -b NEW, contexts are\n"
    "compared across changes of the source.\n\n";

static const char examples[] =
    "  pgokit diff old.profdata new.profdata -b ./app\n"
    "  pgokit diff old.profdata new.profdata -b ./app.old -b ./app\n"
    "  pgokit diff main.profdata branch.profdata -b ./app --fail-on growth=10%\n"
    "  pgokit diff before.profraw after.profraw -b ./app --fail-on exit=5%\n";

enum { LIMIT_GROWTH, LIMIT_OBJECTS, LIMIT_NEW, LIMIT_PEAK, LIMIT_EXIT, LIMITS };
static const struct diff_limit limits[LIMITS] = {
    [LIMIT_GROWTH] = {.name = "growth", .meaning = "bytes allocated grew"},
    [LIMIT_OBJECTS] = {.name = "objects", .meaning = "objects grew"},
    [LIMIT_NEW] = {.name = "new", .meaning = "bytes in new contexts make up"},
    [LIMIT_PEAK] = {.name = "peak", .meaning = "bytes alive at the peak grew",
                    .source = "what was alive at the peak; raw profiles of pgokit record heap and "
                              "partial profiles of these do (merge --partial)"},
    [LIMIT_EXIT] = {.name = "exit", .meaning = "bytes alive at exit grew",
                    .source = "what was alive at exit; raw profiles of pgokit record heap and "
                              "partial profiles of these do (merge --partial)"},
};

struct diff {
    struct cli_common common;
    struct pgk_heap_diff_opts opts;
    enum diff_form form;
    struct diff_limit limits[LIMITS];
    struct cli_list on;
    bool top_given, depth_given;
};

static void take_limit(const struct option_given *given)
{
    diff_limit_parse(given->into, LIMITS, given->value);
}

static const char *limit_word(size_t i)
{
    return diff_limit_word(limits, LIMITS, i);
}

static const struct option_row rows[] = {
    {"on", 0, "FILE", "compare in terms of this build, of the newer source; may be repeated",
     OPTION_LIST(struct diff, on),
     .page = "see [Across changes of the source](#across-changes-of-the-source)"},
    {"top", 0, "N", "contexts shown (default 10; 0: all)",
     OPTION_NUMBER(struct diff, opts.top, 0, 1000000000), OPTION_GIVEN(struct diff, top_given),
     .page = "`--json` has all by default"},
    {"depth", 0, "N", "frames shown of a stack (default 12, of Markdown 4; 0: all)",
     OPTION_NUMBER(struct diff, opts.depth, 0, 1000000000), OPTION_GIVEN(struct diff, depth_given)},
    {"fail-on", 0, "LIMIT",
     "exit status 3 if the limit is reached; may be repeated. growth=N%: more bytes allocated than "
     "before, by N % or more; objects=N%: more objects, by N % or more; new=N%: bytes in new "
     "contexts, N % or more of those before; peak=N%: more bytes alive at the peak, by N % or "
     "more; exit=N%: more bytes alive at exit, by N % or more",
     OPTION_CALL_FOR(struct diff, limits, take_limit),
     OPTION_WORDS(limit_word)},
    {0},
};
static const struct option_table table = {"diff heap", NULL, rows};
static const struct option_group groups[] = {
    {&table, 0, 0},
    OPTION_GROUP(diff_form_options, struct diff, form),
    CLI_COMMON(struct diff),
    {0},
};

static void parse(struct diff *d, int argc, char **argv)
{
    d->opts = (struct pgk_heap_diff_opts){.struct_size = sizeof d->opts};
    memcpy(d->limits, limits, sizeof limits);
    option_parse(&cmd_diff, groups, argc, argv, d);
    if (optind + 2 != argc)
        cli_usage(&cmd_diff, "diff takes two profiles, the older one first");
    d->opts.before_title = argv[optind];
    d->opts.now_title = argv[optind + 1];
    d->opts.json = d->form == DIFF_JSON;
    if (!d->top_given)
        d->opts.top = d->form == DIFF_JSON ? 0 : 10;
    if (!d->depth_given)
        d->opts.depth = d->form == DIFF_MARKDOWN ? 4 : 12;
    d->opts.colour = cli_colour();
    d->opts.width = cli_width(STDOUT_FILENO);
    diff_form_output(d->form);
}

static bool is_program(const char *path)
{
    struct pgk_program p = {.struct_size = sizeof p};
    return !pgk_program_inspect(&p, path, NULL) && p.kind == PGK_PROGRAM_DYNAMIC;
}

/* Where the second build begins among the files of -b: at the second program, if there are two;
 * otherwise after all of them. */
static size_t second_build(const struct cli_list *files)
{
    size_t programs = 0, second = files->n;
    for (size_t i = 0; i < files->n; i++)
        if (is_program(files->v[i]) && ++programs == 2)
            second = i;
    return programs == 2 ? second : files->n;
}

static void swap(struct pgk_heap **a, struct pgk_heap **b)
{
    struct pgk_heap *of_a = *a;
    *a = *b;
    *b = of_a;
}

/* Both profiles with the stacks that their contexts have in the newer build. Contexts that are not
 * found there stay as they are, to be called gone or new. */
static int rebase_both(struct heap_input *before, struct heap_input *now,
                       const struct cli_common *old, const struct cli_list *newer,
                       double *percent, struct pgk_err *err)
{
    struct rebase_builds builds;
    struct pgk_heap *was = NULL, *is = NULL;
    double of_now;
    int status = rebase_open(&builds, newer, old, err);
    if (!status)
        status = rebase_heap_on(&was, before->heap, &builds, PGK_LOST_KEEP, percent, err);
    pgk_binaries_close(&builds.profiled);
    if (!status)
        status = rebase_heap_on(&is, now->heap, &builds, PGK_LOST_KEEP, &of_now, err);
    rebase_close(&builds);
    if (!status) {
        swap(&before->heap, &was);
        swap(&now->heap, &is);
    }
    pgk_heap_close(&was);
    pgk_heap_close(&is);
    return status;
}

/* Does it compare at the lines of another build, where there are no addresses? */
static bool is_of_two_builds(const struct diff *d)
{
    return d->on.n || second_build(&d->common.binaries) < d->common.binaries.n;
}

/* By --on, or by the second program of -b. That is no wish that must be met: two programs may have
 * been given for their names. */
static int rebase(const struct diff *d, struct heap_input *before, struct heap_input *now,
                  struct pgk_err *err)
{
    struct cli_common old = d->common;
    struct cli_list newer = d->on;
    struct pgk_err own = {0};
    double percent;
    if (!newer.n) {
        size_t second = second_build(&d->common.binaries);
        newer = (struct cli_list){old.binaries.v + second, old.binaries.n - second};
        old.binaries.n = second;
    }
    if (!newer.n)
        return 0;
    int status = rebase_both(before, now, &old, &newer, &percent, &own);
    if (status && d->on.n) {
        *err = own;
        return status;
    }
    if (d->common.quiet)
        return 0;
    if (status) {
        fputs("pgokit: note: contexts are not compared across changes of the source: ", stderr);
        pgk_err_print(&own, stderr);
        fputc('\n', stderr);
    } else {
        rebase_note(d->opts.before_title, percent, "bytes", newer.v[0]);
    }
    return 0;
}

/* The first profile that does not know; NULL: both do. */
static const char *who_lacks(const struct diff *d, uint32_t sides)
{
    return sides & PGK_HEAP_DIFF_BEFORE ? d->opts.before_title
         : sides & PGK_HEAP_DIFF_NOW    ? d->opts.now_title
                                        : NULL;
}

static int print(struct diff *d, const struct pgk_heap *before, const struct pgk_heap *now,
                 double found[LIMITS], struct pgk_err *err)
{
    struct pgk_heap_diff_figures f = {.struct_size = sizeof f};
    int status = d->form == DIFF_MARKDOWN
                     ? pgk_heap_print_diff_markdown(before, now, &d->opts, stdout, &f, err)
                     : pgk_heap_print_diff(before, now, &d->opts, stdout, &f, err);
    found[LIMIT_GROWTH] = f.growth_percent;
    found[LIMIT_OBJECTS] = f.objects_growth_percent;
    found[LIMIT_NEW] = f.new_percent;
    found[LIMIT_PEAK] = f.peak_growth_percent;
    found[LIMIT_EXIT] = f.exit_growth_percent;
    d->limits[LIMIT_PEAK].unknown = who_lacks(d, f.peak_unknown);
    d->limits[LIMIT_EXIT].unknown = who_lacks(d, f.exit_unknown);
    if (!status && d->form == DIFF_MARKDOWN)
        diff_limits_print_markdown(d->limits, LIMITS, found, stdout);
    return status;
}

static int run(int argc, char **argv)
{
    struct diff d = {0};
    struct heap_input before = {0}, now = {0};
    double found[LIMITS] = {0};
    struct pgk_err err = {0};
    parse(&d, argc, argv);
    struct cli_common all = rebase_all_binaries(&d.common, &d.on);
    before.show_all = now.show_all = !is_of_two_builds(&d);
    int status = heap_input_read_two((struct heap_input *[]){&before, &now},
                                     (const char *[]){d.opts.before_title, d.opts.now_title},
                                     &all, &d.common.binaries, &err);
    if (!status)
        status = rebase(&d, &before, &now, &err);
    if (!status) {
        if (!d.common.quiet && d.form != DIFF_JSON && !cli_has_binaries(&all))
            heap_input_note_no_names(now.heap);
        status = print(&d, before.heap, now.heap, found, &err);
        if (!status && !d.common.quiet)
            cli_note_unnamed(now.heap);
    }
    pgk_heap_close(&before.heap);
    pgk_heap_close(&now.heap);
    int exit_code = status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
    if (exit_code == EXIT_DONE)
        exit_code = diff_limits_check(d.limits, LIMITS, found);
    cli_list_free(&all.binaries);
    cli_list_free(&d.on);
    cli_common_free(&d.common);
    return exit_code;
}

const struct cli_action diff_heap = {
    PGK_KIND_HEAP, help, .run = run, .groups = groups, .examples = examples};
