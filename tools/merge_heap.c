/* pgokit merge for heap profiles. */
#include "cli_heap.h"
#include "merge_inputs.h"
#include "output_indexed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Raw profiles (*.profraw), indexed ones (*.profdata) and YAML become one indexed\n"
    "profile for -fmemory-profile-use=. Raw profiles need the binaries that were run.\n"
    "Contexts with equal call stacks are added up, whichever file they come from.\n"
    "FILE@N counts N times. Files may be compressed (zstd, gzip); an output that ends\n"
    "in .zst will be.\n\n";

static const char examples[] =
    "  pgokit merge memprof.profraw.* -b ./app -o app.profdata\n"
    "  pgokit merge --files-from shard3.txt --partial -o shard3.pgk.zst\n"
    "  pgokit merge shard*.pgk.zst -b ./app --min-bytes 64k -o app.profdata\n"
    "  pgokit merge run1.profraw old.profdata -b ./app -b ./libapp.so --to llvm22 \\\n"
    "      -o new.profdata\n";

struct merge {
    struct cli_common common;
    const char *output;
    struct indexed_output indexed; /* unless it is YAML */
    struct pgk_indexed_write_opts write;
    bool partial; /* instead of either */
    struct cli_prune prune;
    struct pgk_input *inputs;
    size_t n_inputs;
    struct merge_inputs shared;
    struct pgk_heap_symbolised symbolised;
};

static const char *const forms[] = {"yaml", NULL};

static const char *to_word(size_t i)
{
    return indexed_output_word(PGK_KIND_HEAP, forms, i);
}

static const struct option_row rows[] = {
    {"to", 0, "NAME",
     "the reader it is for: any (default), llvm15 to llvm" CLI_LLVM_NEWEST
     "; or yaml, the text form of LLVM 22 and later",
     OPTION_CALL_FOR(struct merge, indexed, indexed_output_to), OPTION_WORDS(to_word),
     .page = "see below"},
    INDEXED_FULL_ROW(struct merge, indexed),
    {"partial", 0, NULL,
     "write a partial profile, which loses nothing: merging partial profiles is merging all their "
     "inputs. Binaries may come later", OPTION_FLAG(struct merge, partial)},
    {0},
};
static const struct option_table table = {"merge heap", NULL, rows};
static const struct option_group groups[] = {
    OPTION_GROUP(cli_output_option, struct merge, output),
    OPTION_GROUP(merge_files_option, struct merge, shared),
    {&table, 0, 0},
    OPTION_GROUP(indexed_version_options, struct merge, indexed),
    OPTION_GROUP(merge_inputs_options, struct merge, shared),
    CLI_PRUNE(struct merge),
    CLI_COMMON(struct merge),
    {0},
};

static void check_options(const struct merge *m)
{
    if (!m->output)
        cli_usage(&cmd_merge, "no output: name it with -o");
    if (m->partial && m->prune.wanted)
        cli_usage(&cmd_merge, "a partial profile cannot be pruned, because what is small in it may "
                              "be large in the whole; prune when the partial profiles are merged");
    indexed_output_check_partial(&m->indexed, m->partial, false);
    if (m->prune.unknown_leaf && !cli_has_binaries(&m->common))
        cli_usage(&cmd_merge, "--drop-unknown-leaf needs the binaries: give them with -b");
}

/* The operands, weights apart. */
static void take_inputs(struct merge *m, int n, char **operands)
{
    if (!n)
        cli_usage(&cmd_merge, "nothing to merge: name one input at least");
    m->n_inputs = (size_t)n;
    m->inputs = calloc(m->n_inputs, sizeof *m->inputs);
    if (!m->inputs)
        cli_usage(&cmd_merge, "out of memory");
    for (int i = 0; i < n; i++)
        m->inputs[i] = cli_input(&cmd_merge, operands[i]);
    merge_inputs_sift(&m->shared, PGK_KIND_HEAP, m->inputs, &m->n_inputs);
    merge_inputs_need_some(&m->shared, m->n_inputs);
}

static void parse(struct merge *m, int argc, char **argv)
{
    m->indexed = (struct indexed_output){
        INDEXED_OUTPUT_INIT, .verb = &cmd_merge, .kind = PGK_KIND_HEAP, .others = forms,
        .takes = "any, llvm15 to llvm" CLI_LLVM_NEWEST " or yaml",
    };
    option_parse(&cmd_merge, groups, argc, argv, m);
    merge_inputs_check(&m->shared);
    m->write = indexed_output_opts(&m->indexed, m->common.threads);
    take_inputs(m, argc - optind, argv + optind);
    check_options(m);
}

static int read_inputs(struct merge *m, struct pgk_heap **heap, struct pgk_err *err)
{
    unsigned threads = m->common.threads;
    int status = pgk_heap_read_all(heap, m->inputs, m->n_inputs, threads, err);
    if (status && merge_inputs_skip(&m->shared, PGK_KIND_HEAP, m->inputs, &m->n_inputs, err)) {
        merge_inputs_need_some(&m->shared, m->n_inputs);
        status = pgk_heap_read_all(heap, m->inputs, m->n_inputs, threads, err);
    }
    return status ? status : pgk_heap_name_runs(*heap, m->shared.run_names, err);
}

/* Parts may wait for their binaries. */
static int symbolise(struct merge *m, struct pgk_heap **heap, struct pgk_err *err)
{
    if (m->partial && !cli_has_binaries(&m->common))
        return 0;
    enum cli_heap_for wanted = m->partial             ? CLI_HEAP_FOR_PGOKIT
                               : m->write.full_schema ? CLI_HEAP_FOR_LLVM
                                                      : CLI_HEAP_FOR_COMPILERS;
    return cli_symbolise_heap(&cmd_merge, &m->common, wanted, heap, &m->symbolised, err);
}

static int save(const struct merge *m, struct pgk_heap *heap, struct pgk_err *err)
{
    if (m->partial)
        return pgk_heap_write_partial(heap, m->output, err);
    if (m->indexed.other)
        return pgk_heap_write_yaml(heap, m->output, err);
    struct pgk_indexed_write_opts opts = m->write;
    opts.consumed = heap;
    return pgk_indexed_write(heap, NULL, m->output, &opts, err);
}

/* Data of the input that the output lacks; printed only once the output exists, because a failure
 * must be the only message. */
static int report(const struct merge *m, const struct cli_heap_content *c)
{
    if (!m->common.quiet)
        cli_note_symbolised(&m->symbolised);
    if (m->partial)
        return EXIT_DONE;
    cli_warn_cold_by_default(c->cold_by_default);
    bool lost = !m->indexed.other && cli_warn_heap_lost(c, m->write.target.memprof_version);
    return lost ? EXIT_INCOMPLETE : EXIT_DONE;
}

/* The notes about the content are made before writing, which consumes the profile. */
static int run(int argc, char **argv)
{
    struct merge m = {0};
    struct pgk_heap *heap = NULL;
    struct pgk_err err = {0};
    struct cli_heap_content content = {0};
    struct cli_cut cut = {0};
    parse(&m, argc, argv);
    int status = read_inputs(&m, &heap, &err);
    if (!status)
        status = symbolise(&m, &heap, &err);
    if (!status)
        status = cli_prune(&m.prune, &m.common, &heap, &err);
    if (!status) {
        content = cli_heap_content(heap);
        cut = cli_cut_stacks(heap);
        status = save(&m, heap, &err);
    }
    if (!status && !m.common.quiet) {
        cli_note_unnamed(heap);
        cli_note_cut(&cut);
    }
    if (!status && !m.partial && !m.common.quiet)
        cli_note_same_named(heap);
    pgk_heap_close(&heap);
    int exit_code = status ? merge_inputs_fail(&m.shared, &err) : report(&m, &content);
    exit_code = merge_inputs_exit(&m.shared, exit_code);
    free(m.inputs);
    cli_common_free(&m.common);
    return exit_code;
}

const struct cli_action merge_heap = {
    PGK_KIND_HEAP, help, .run = run, .groups = groups, .examples = examples};
