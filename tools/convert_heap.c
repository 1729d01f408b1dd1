/* pgokit convert for heap profiles. */
#include "export_choice.h"
#include "heap_input.h"
#include "output_indexed.h"
#include "rebase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Any heap profile becomes any other. Only a profile that was never symbolised can\n"
    "become a raw one; raw ones and texts need the binaries that were run to become\n"
    "anything else.\n\n";

static const char examples[] =
    "  pgokit convert memprof.profraw.4711 --to raw --format-version 4 \\\n"
    "      -o for-llvm-19.profraw\n"
    "  pgokit convert app.profdata --to yaml -o -\n"
    "  pgokit convert new.profdata --to llvm16 -o old.profdata\n"
    "  pgokit convert memprof.profraw.4711 -b ./app --to partial -o app.pgk\n"
    "  pgokit convert app.profdata -b ./app --to pprof -o heap.pb.gz\n"
    "  pgokit convert app.profdata --rebase-to ./app -b ./app.released \\\n"
    "      -o new.profdata\n";

struct convert {
    struct cli_common common;
    const char *input, *output;
    const char *viewer; /* the format, if it is for one, instead of `target` */
    struct pgk_heap_target target;
    struct pgk_heap_symbolised symbolised;
    struct rebase_options rebase;
    struct indexed_output indexed;
    uint32_t raw_version; /* 0: that of --to, or the newest */
};

#define RAW_NAME "raw heap profile"

enum { RAW_OF_LLVM_14 = 1 };

/* What --to may name besides indexed profiles and viewers. LLVM 14 has no indexed heap profiles:
 * all it reads is a raw one. */
enum { RAW, LLVM_14, YAML, PARTIAL, FORMS };
static const char *const forms[] = {
    [RAW] = "raw", [LLVM_14] = "llvm14", [YAML] = "yaml", [PARTIAL] = "partial", [FORMS] = NULL};
static const struct pgk_heap_target targets[] = {
    [RAW] = {.form = PGK_HEAP_RAW},
    [LLVM_14] = {.form = PGK_HEAP_RAW, .version = RAW_OF_LLVM_14},
    [YAML] = {.form = PGK_HEAP_YAML},
    [PARTIAL] = {.form = PGK_HEAP_PARTIAL},
};

static const char *to_word(size_t i)
{
    size_t before = 0;
    while (indexed_output_word(PGK_KIND_HEAP, forms, before) && before < i)
        before++;
    const char *word = indexed_output_word(PGK_KIND_HEAP, forms, before);
    return word ? word : export_viewer(i - before);
}

static void take_to(const struct option_given *given)
{
    struct convert *c = given->into;
    struct option_given of_indexed = *given;
    of_indexed.into = &c->indexed;
    c->viewer = export_is_viewer(given->value) ? given->value : NULL;
    if (!c->viewer)
        indexed_output_to(&of_indexed);
}

static void take_version(const struct option_given *given)
{
    *(uint32_t *)given->into =
        (uint32_t)cli_version("--format-version", given->value, RAW_NAME, PGK_KIND_HEAP);
}

static const struct option_row rows[] = {
    {"to", 0, "NAME",
     "what to write, or the reader it is for: any (default: indexed, for LLVM 19 and later), "
     "llvm14 to llvm" CLI_LLVM_NEWEST ", raw, yaml, partial; or for viewers: " CLI_VIEWERS,
     OPTION_CALL(take_to), OPTION_WORDS(to_word), .page = "see below"},
    {"format-version", 0, "N",
     "of raw profiles: one that pgokit formats lists (default: the newest)",
     OPTION_CALL_FOR(struct convert, raw_version, take_version)},
    INDEXED_FIELDS_ROW(struct convert, indexed),
    {0},
};
static const struct option_table table = {"convert heap", NULL, rows};
static const struct option_group groups[] = {
    OPTION_GROUP(cli_output_option, struct convert, output),
    {&table, 0, 0},
    OPTION_GROUP(indexed_version_options, struct convert, indexed),
    OPTION_GROUP(rebase_option_table, struct convert, rebase),
    CLI_COMMON(struct convert),
    {0},
};

static struct pgk_heap_target target(const struct indexed_output *o, uint32_t raw_version)
{
    for (int i = 0; o->other && i < FORMS; i++) {
        struct pgk_heap_target t = targets[i];
        if (strcmp(o->other, forms[i]))
            continue;
        t.full_schema = o->full_schema;
        if (t.form == PGK_HEAP_RAW && raw_version)
            t.version = raw_version;
        else if (t.form == PGK_HEAP_RAW && !t.version)
            t.version = cli_format(RAW_NAME, PGK_KIND_HEAP)->write.last;
        return t;
    }
    const struct pgk_indexed_write_opts opts = indexed_output_opts(o, 1);
    return (struct pgk_heap_target){.form = PGK_HEAP_INDEXED,
                                    .version = opts.target.memprof_version,
                                    .index_version = opts.target.index_version,
                                    .full_schema = opts.full_schema};
}

static void check_options(const struct convert *c)
{
    const struct indexed_output *o = &c->indexed;
    bool is_raw = c->target.form == PGK_HEAP_RAW && !c->viewer,
         is_indexed = c->target.form == PGK_HEAP_INDEXED && !c->viewer;
    if (c->raw_version && !is_raw)
        cli_usage(&cmd_convert, "--format-version is for --to raw");
    if ((o->has_versions || o->has_fields) && !is_indexed)
        cli_usage(&cmd_convert, "--index-version, --memprof-version and --compiler-fields are for "
                                "indexed profiles");
    if (!c->output)
        cli_usage(&cmd_convert, "no output: name it with -o");
    if (c->rebase.builds.n && (is_raw || c->viewer))
        cli_usage(&cmd_convert, "--rebase-to makes no raw profiles, and nothing for viewers");
    rebase_check_options(&c->rebase, c->output);
}

static void parse(struct convert *c, int argc, char **argv)
{
    static char takes[160]; /* as long-lived as the options */
    c->indexed = (struct indexed_output){INDEXED_OUTPUT_INIT, .verb = &cmd_convert,
                                         .kind = PGK_KIND_HEAP, .others = forms, .takes = takes,
                                         .full_schema = true};
    snprintf(takes, sizeof takes, "any, llvm14 to llvm" CLI_LLVM_NEWEST ", raw, yaml, partial, %s",
             export_viewers());
    option_parse(&cmd_convert, groups, argc, argv, c);
    c->target = target(&c->indexed, c->raw_version);
    if (optind + 1 != argc)
        cli_usage(&cmd_convert, "convert takes one file; pgokit merge adds up several");
    check_options(c);
    c->input = argv[optind];
}

/* Losses are gathered before writing, and said once the output is there. */
static void keep_loss(void *ctx, const char *what)
{
    cli_list_add(ctx, strdup(what));
}

#define NEEDS_BINARY \
    "this profile holds addresses, or demangled names: give the binary that was run"

/* Makes frames what the target has: addresses of its kind, or source positions. A partial profile
 * has both. */
static int prepare(struct convert *c, struct pgk_heap **heap, struct cli_list *losses,
                   struct pgk_err *err)
{
    struct pgk_binaries *binaries = NULL;
    struct pgk_heap *prepared = NULL;
    bool raw = c->target.form == PGK_HEAP_RAW;
    const bool partial = c->target.form == PGK_HEAP_PARTIAL;
    if (!raw && (!pgk_heap_needs_binaries(*heap) || (partial && !cli_has_binaries(&c->common))))
        return 0;
    size_t build_ids = raw ? pgk_heap_build_ids_lost(*heap, c->target.version) : 0;
    if (build_ids) {
        char text[80];
        snprintf(text, sizeof text, "%zu build ids", build_ids);
        keep_loss(losses, text);
    }
    c->common.symbols_suffice = pgk_heap_lacks_accesses(*heap);
    int status = raw ? cli_open_binaries(&c->common, &binaries, err)
                     : cli_find_binaries(&c->common, *heap, &binaries, err);
    if (!status && !binaries && !raw)
        cli_not_found(&cmd_convert, *heap, NEEDS_BINARY);
    if (!status && !binaries)
        cli_usage(&cmd_convert, NEEDS_BINARY " (-b BINARY)");
    if (!status && raw)
        status = pgk_heap_rebase(&prepared, *heap, binaries, c->target.version, err);
    else if (!status)
        status = pgk_heap_symbolise(heap, binaries, NULL, &c->symbolised, err);
    if (!status && (partial || c->target.full_schema))
        status = pgk_heap_find_types(*heap, binaries, false, err);
    pgk_binaries_close(&binaries);
    if (!status && raw) {
        pgk_heap_close(heap);
        *heap = prepared;
    }
    return status;
}

static int report(const struct convert *c, const struct cli_list *losses)
{
    char safe[256], size[PGK_HUMAN_SIZE];
    pgk_human_text(safe, sizeof safe, c->output);
    for (size_t i = 0; i < losses->n; i++)
        fprintf(stderr, "pgokit: warning: %s: lost: %s\n", safe, losses->v[i]);
    const struct pgk_heap_symbolised *done = &c->symbolised;
    if (done->contexts_dropped)
        fprintf(stderr,
                "pgokit: warning: %s: lost: %zu contexts (%s) that have no frame in the given "
                "binaries; shared libraries can be given with further -b\n",
                safe, done->contexts_dropped, pgk_human_bytes(size, (double)done->bytes_dropped));
    return losses->n || done->contexts_dropped ? EXIT_INCOMPLETE : EXIT_DONE;
}

/* Viewers show names, and addresses where binaries are not given: nothing is lost. */
static int run_viewer(struct convert *c)
{
    struct heap_input in = {.show_all = true};
    struct pgk_err err = {0};
    int status = heap_input_read(&in, c->input, &c->common, &err);
    if (!status) {
        struct pgk_heap_export_opts opts = {
            .struct_size = sizeof opts, .title = export_title(c->input), .info = in.info};
        if (!c->common.quiet && !cli_has_binaries(&c->common))
            heap_input_note_no_names(in.heap);
        status = pgk_heap_export(in.heap, c->viewer, c->output, &opts, &err);
        if (!status && !c->common.quiet)
            cli_note_unnamed(in.heap);
    }
    pgk_heap_close(&in.heap);
    int exit_code = status ? cli_fail(&err) : EXIT_DONE;
    if (exit_code == EXIT_DONE && !c->common.quiet)
        cli_note_symbolised(&in.symbolised);
    cli_common_free(&c->common);
    return exit_code;
}

/* As for a merge: what counts a part of the accesses only is taken for unknown, so that nothing is
 * called cold or unused by it. A raw profile has no way to say so. */
static int read_input(const struct convert *c, struct pgk_heap **heap,
                      const struct pgk_file_info **info, struct pgk_err *err)
{
    struct pgk_input input = {c->input, 1, NULL};
    int status = cli_open(&input.file, c->input, err);
    if (status)
        return status;
    *info = pgk_file_info(input.file);
    if (c->target.form != PGK_HEAP_RAW)
        return pgk_heap_read_all(heap, &input, 1, 1, err);
    status = pgk_heap_new(heap, err);
    return status ? status : pgk_heap_read_file(*heap, input.file, 1, err);
}

/* Writes the profile; what is lost is gathered before, while the profile still has it. */
static int convert(struct convert *c, struct pgk_heap *heap, struct cli_list *losses)
{
    struct pgk_err err = {0};
    int status = pgk_heap_losses(heap, &c->target, keep_loss, losses, &err);
    size_t cold = status >= 0 && c->target.form == PGK_HEAP_INDEXED ? pgk_heap_cold_by_default(heap)
                                                                    : 0;
    if (status >= 0)
        status = pgk_heap_write(heap, c->output, &c->target, &err);
    if (status)
        return cli_fail(&err);
    cli_warn_cold_by_default(cold);
    return report(c, losses);
}

static int run(int argc, char **argv)
{
    struct convert c = {.symbolised.struct_size = sizeof c.symbolised};
    struct pgk_heap *heap = NULL;
    struct pgk_err err = {0};
    const struct pgk_file_info *info = NULL;
    struct cli_list losses = {0};
    parse(&c, argc, argv);
    if (c.viewer)
        return run_viewer(&c);
    int status = read_input(&c, &heap, &info, &err);
    const bool keeps_origin = c.target.form == PGK_HEAP_PARTIAL;
    if (info && pgk_file_info_fact(info, PGK_FACT_INTERRUPTED) && !keeps_origin)
        keep_loss(&losses, "the mark that what was alive at the end was perhaps in use");
    if (info && pgk_file_info_fact(info, PGK_FACT_LIBRARY_ACCESSES))
        keep_loss(&losses, c.target.form == PGK_HEAP_RAW
                               ? "the mark that accesses are those of library functions only"
                               : "accesses, which are those of library functions only");
    if (!status)
        status = prepare(&c, &heap, &losses, &err);
    int exit_code = status ? cli_fail(&err) : EXIT_DONE, of_rebase = EXIT_DONE;
    if (!status && c.rebase.builds.n)
        exit_code = of_rebase = rebase_heap(&c.rebase, &heap, c.input, c.output, &c.common);
    if (exit_code != EXIT_FAILED)
        exit_code = convert(&c, heap, &losses);
    if (exit_code == EXIT_DONE)
        exit_code = of_rebase;
    pgk_heap_close(&heap);
    for (size_t i = 0; i < losses.n; i++)
        free((char *)(uintptr_t)losses.v[i]);
    cli_list_free(&losses);
    cli_list_free(&c.rebase.builds);
    cli_common_free(&c.common);
    return exit_code;
}

const struct cli_action convert_heap = {
    PGK_KIND_HEAP, help, .run = run, .groups = groups, .examples = examples};
