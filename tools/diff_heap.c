/* pgokit diff for heap profiles. */
#include "heap_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Totals of both, an overlap score, and the contexts that changed most. With binaries of\n"
    "both builds, contexts are found again also where lines have moved.\n\n"
    "      --top N          contexts shown (default 10; 0: all)\n"
    "      --depth N        frames shown of a stack (default 12; 0: all)\n"
    "      --json           all of it as JSON (docs/formats/heap-json.md)\n"
    "      --fail-on LIMIT  exit status 3 if the limit is passed; may be repeated:\n"
    "                       growth=N%   more bytes allocated than before, by N % or more\n"
    "                       objects=N%  more objects, by N % or more\n"
    "                       new=N%      bytes in new contexts, N % or more of those before\n"
    "\nExamples:\n"
    "  pgokit diff old.profdata new.profdata -b ./app\n"
    "  pgokit diff main.profdata branch.profdata -b ./app --fail-on growth=10%\n";

enum { OPT_TOP = 256, OPT_DEPTH, OPT_JSON, OPT_FAIL_ON };

static const struct option options[] = {
    {"top", required_argument, NULL, OPT_TOP},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"json", no_argument, NULL, OPT_JSON},
    {"fail-on", required_argument, NULL, OPT_FAIL_ON},
    CLI_COMMON_LONG,
    {0},
};

enum { EXIT_LIMIT = 3 };

enum limit { LIMIT_GROWTH, LIMIT_OBJECTS, LIMIT_NEW, LIMITS };
static const struct {
    const char *name, *meaning;
} limit_texts[LIMITS] = {
    [LIMIT_GROWTH] = {"growth", "bytes allocated grew"},
    [LIMIT_OBJECTS] = {"objects", "objects grew"},
    [LIMIT_NEW] = {"new", "bytes in new contexts make up"},
};

struct diff {
    struct cli_common common;
    struct pgk_diff_opts opts;
    double limits[LIMITS]; /* in per cent; negative: none */
};

static void parse_limit(struct diff *d, const char *text)
{
    const char *equals = strchr(text, '=');
    for (enum limit l = 0; equals && l < LIMITS; l++) {
        size_t len = strlen(limit_texts[l].name);
        char *end;
        if ((size_t)(equals - text) != len || strncmp(text, limit_texts[l].name, len))
            continue;
        double percent = strtod(equals + 1, &end);
        if (end == equals + 1 || strcmp(end, "%") || !(percent >= 0 && percent < 1e9))
            break;
        d->limits[l] = percent;
        return;
    }
    cli_usage(&cmd_diff, "--fail-on takes growth=N%%, objects=N%% or new=N%%, not '%s'", text);
}

static void parse(struct diff *d, int argc, char **argv)
{
    long top = -1;
    d->opts = (struct pgk_diff_opts){.struct_size = sizeof d->opts, .depth = 12};
    for (enum limit l = 0; l < LIMITS; l++)
        d->limits[l] = -1;
    for (int c; (c = cli_next_option(&cmd_diff, argc, argv, "", options, &d->common)) != -1;) {
        switch (c) {
        case OPT_TOP:
            top = (long)cli_number("--top", optarg, 0, 1000000000);
            break;
        case OPT_DEPTH:
            d->opts.depth = cli_number("--depth", optarg, 0, 1000000000);
            break;
        case OPT_JSON:
            d->opts.json = true;
            break;
        case OPT_FAIL_ON:
            parse_limit(d, optarg);
            break;
        }
    }
    if (optind + 2 != argc)
        cli_usage(&cmd_diff, "diff takes two profiles, the older one first");
    d->opts.before_title = argv[optind];
    d->opts.now_title = argv[optind + 1];
    d->opts.top = top >= 0 ? (size_t)top : d->opts.json ? 0 : 10;
    d->opts.colour = cli_colour();
}

static double percent_of(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : part ? 1e9 : 0;
}

/* Says which limits are passed. */
static int check_limits(const struct diff *d, const struct pgk_diff_figures *f)
{
    const double found[LIMITS] = {
        [LIMIT_GROWTH] = percent_of(f->bytes, f->bytes_before) - (f->bytes_before ? 100 : 0),
        [LIMIT_OBJECTS] = percent_of(f->objects, f->objects_before) - (f->objects_before ? 100 : 0),
        [LIMIT_NEW] = percent_of(f->new_bytes, f->bytes_before),
    };
    int exit_code = EXIT_DONE;
    for (enum limit l = 0; l < LIMITS; l++) {
        if (d->limits[l] < 0 || found[l] <= 0 || found[l] < d->limits[l])
            continue;
        fprintf(stderr, "pgokit: limit passed: %s %.1f %%, and %s=%g%% was given\n",
                limit_texts[l].meaning, found[l], limit_texts[l].name, d->limits[l]);
        exit_code = EXIT_LIMIT;
    }
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct diff d = {0};
    struct heap_input before = {0}, now = {0};
    struct pgk_diff_figures figures = {0};
    struct pgk_err err = {0};
    parse(&d, argc, argv);
    int status = heap_input_read(&before, d.opts.before_title, &d.common, &err);
    if (!status)
        status = heap_input_read(&now, d.opts.now_title, &d.common, &err);
    if (!status) {
        if (!d.common.quiet && !d.opts.json && !cli_has_binaries(&d.common))
            heap_input_note_no_names(now.heap);
        status = pgk_report_heap_diff(before.heap, now.heap, &d.opts, stdout, &figures, &err);
    }
    pgk_heap_close(&before.heap);
    pgk_heap_close(&now.heap);
    int exit_code = status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
    if (exit_code == EXIT_DONE)
        exit_code = check_limits(&d, &figures);
    cli_common_free(&d.common);
    return exit_code;
}

const struct cli_action diff_heap = {PGK_KIND_HEAP, help, "", options, run};
