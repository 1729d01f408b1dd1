/* pgokit merge for instrumentation profiles, and for these together with heap profiles. */
#include "cli_heap.h"
#include "merge_inputs.h"
#include "output_indexed.h"
#include "rebase.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char convert_help[] =
    "A raw profile, an indexed one or a text becomes any of these, of another\n"
    "version. Heap data in an indexed profile goes along to an indexed one.\n\n";

static const char convert_examples[] =
    "  pgokit convert app.profdata --to llvm16 -o app-16.profdata\n"
    "  pgokit convert app.profdata --to text -o app.proftext\n"
    "  pgokit convert default.profraw --to raw --format-version 8 -o for-16.profraw\n"
    "  pgokit convert app.profdata --rebase-to ./app.instrumented -o new.profdata\n";

static const char help[] =
    "Raw profiles (*.profraw), indexed ones (*.profdata) and texts (*.proftext)\n"
    "become one indexed profile for -fprofile-use=. An input FILE@N counts N times.\n"
    "Heap profiles among the inputs go into the same file, for -fmemory-profile-use=;\n"
    "raw ones need the binaries with -b. Options that prune heap profiles work on the\n"
    "heap data.\n\n";

static const char examples[] =
    "  pgokit merge default_*.profraw -o app.profdata\n"
    "  pgokit merge nightly.profdata@10 today.profraw --sparse -o app.profdata\n"
    "  pgokit merge default_*.profraw --supplement fleet.afdo -o app.profdata\n"
    "  pgokit merge default_*.profraw memprof.profraw.* -b ./app -o both.profdata\n";

#define RAW_NAME "raw counters"

struct merge {
    const struct cli_verb *verb; /* merge or convert */
    struct cli_common common;
    const char *output;
    const char *forms[PGK_INSTR_FORMS]; /* names of those that are not indexed; the last is NULL */
    struct indexed_output indexed;      /* unless it is one of `forms` */
    enum pgk_instr_form form;
    uint32_t raw_version; /* 0: the newest */
    struct pgk_indexed_write_opts write;
    bool partial, sparse, keep_going, keep_first;
    const char *function, *no_function; /* patterns */
    const char *remap;                  /* file with pairs of names */
    const char *samples;                /* file to supplement the counters with */
    struct pgk_supplement_opts supplement;
    struct cli_prune prune;
    char **inputs;
    size_t n_inputs, empty; /* without any bytes */
    struct merge_inputs shared;
    struct rebase_options rebase;
    bool lost_in_rebase;
    struct inputs {
        struct pgk_input *v;
        size_t n;
    } counted, heaps; /* those with counters, those with heap data; of both: in both */
    struct pgk_instr *instr;
    struct pgk_heap *heap;
    struct pgk_heap_symbolised symbolised;
    size_t most_traces, longest_trace;
    bool limits_traces, shortens_traces;
};

static void take_version(const struct option_given *given)
{
    *(uint32_t *)given->into =
        (uint32_t)cli_version("--format-version", given->value, RAW_NAME, PGK_KIND_INSTR);
}

static void take_zeros(const struct option_given *given)
{
    *(double *)given->into = (double)cli_number("--supplement-zeros", given->value, 1, 100) / 100;
}

static const char *to_word(size_t i)
{
    static const char *others[PGK_INSTR_FORMS + 1];
    size_t n = 0;
    for (enum pgk_instr_form form = 0; form < PGK_INSTR_FORMS; form++)
        if (form != PGK_INSTR_INDEXED)
            others[n++] = pgk_instr_form_name(form);
    return indexed_output_word(PGK_KIND_INSTR, others, i);
}

static const struct option_row output_rows[] = {
    {"to", 0, "NAME",
     "the reader it is for: any (default), llvm14 to llvm" CLI_LLVM_NEWEST
     "; or text, the counters as llvm-profdata prints them; or raw, as the program itself writes "
     "them",
     OPTION_CALL_FOR(struct merge, indexed, indexed_output_to), OPTION_WORDS(to_word),
     .page = "see [what each of them reads](pgokit-merge.md#options)"},
    {"format-version", 0, "N", "of raw: one that pgokit formats lists (default: the newest)",
     OPTION_CALL_FOR(struct merge, raw_version, take_version),
     .page = "the versions are 8 (LLVM 14 and 16), 9 (17 and 18), 10 (19 to 22) and 11 (23)"},
    {"sparse", 0, NULL, "leave out functions that never ran", OPTION_FLAG(struct merge, sparse)},
    {"keep-going", 0, NULL, "leave out functions whose inputs contradict each other",
     OPTION_FLAG(struct merge, keep_going)},
    {"keep-first", 0, NULL, "or keep such functions as the first input that has them",
     OPTION_FLAG(struct merge, keep_first),
     .page = "what other inputs counted of them is lost; each is named"},
    {"function", 0, "REGEX", "only functions that match; extended syntax",
     OPTION_TEXT(struct merge, function),
     .page = "a match may be anywhere in the name; heap data is kept"},
    {"no-function", 0, "REGEX", "none that match", OPTION_TEXT(struct merge, no_function)},
    {"remap", 0, "FILE", "rename functions: lines 'OLD NEW'", OPTION_TEXT(struct merge, remap),
     .page = "call targets, virtual tables and traces are renamed, too, and functions that get one "
             "name are added up. `llvm-cxxmap` makes such a list of mangled names"},
    {0},
};
static const struct option_table output_table = {"counters output", NULL, output_rows};

static const struct option_row convert_rows[] = {INDEXED_FIELDS_ROW(struct merge, indexed), {0}};
static const struct option_table convert_table = {"convert counters", NULL, convert_rows};

static const struct option_row merge_rows[] = {
    INDEXED_FULL_ROW(struct merge, indexed),
    {"partial", 0, NULL,
     "keep all there is: merging partial profiles of some inputs each gives the same as merging "
     "all inputs", OPTION_FLAG(struct merge, partial)},
    {"max-traces", 0, "N", "orders of first calls that are kept (all)",
     OPTION_NUMBER(struct merge, most_traces, 0, UINT32_MAX),
     OPTION_GIVEN(struct merge, limits_traces),
     .page = "which ones does not depend on the order of inputs"},
    {"max-trace-length", 0, "N", "functions that each of them keeps, the first ones (all)",
     OPTION_NUMBER(struct merge, longest_trace, 0, UINT32_MAX),
     OPTION_GIVEN(struct merge, shortens_traces)},
    {"supplement", 0, "FILE",
     "make functions hot or warm that are so in a sample profile, but cold in the counters",
     OPTION_TEXT(struct merge, samples),
     .page = "see [Correcting counters by samples](#correcting-counters-by-samples)"},
    {"supplement-zeros", 0, "PERCENT",
     "counters of 0 above which a function is marked as hot or warm instead of being scaled "
     "(default 70)", OPTION_CALL_FOR(struct merge, supplement.zero_share, take_zeros)},
    {"supplement-size", 0, "N", "functions of fewer counters stay (default 10)",
     OPTION_NUMBER(struct merge, supplement.min_counters, 0, 1000000000),
     OPTION_GIVEN(struct merge, supplement.any_size)},
    {"supplement-cold", 0, "N", "functions with a larger counter stay (default: LLVM's rule)",
     OPTION_NUMBER(struct merge, supplement.cold_count, 1, UINT64_MAX)},
    {0},
};
static const struct option_table merge_table = {"merge counters", NULL, merge_rows};

#define OUTPUT_GROUPS                                    \
    OPTION_GROUP(cli_output_option, struct merge, output), {&output_table, 0, 0}, \
    OPTION_GROUP(indexed_version_options, struct merge, indexed)

static const struct option_group convert_groups[] = {
    OUTPUT_GROUPS,
    {&convert_table, 0, 0},
    OPTION_GROUP(rebase_option_table, struct merge, rebase),
    CLI_COMMON(struct merge),
    {0},
};
static const struct option_group merge_groups[] = {
    OUTPUT_GROUPS,
    OPTION_GROUP(merge_files_option, struct merge, shared),
    {&merge_table, 0, 0},
    OPTION_GROUP(merge_inputs_options, struct merge, shared),
    CLI_PRUNE(struct merge),
    CLI_COMMON(struct merge),
    {0},
};

static void list_forms(struct merge *m)
{
    size_t n = 0;
    for (enum pgk_instr_form form = 0; form < PGK_INSTR_FORMS; form++)
        if (form != PGK_INSTR_INDEXED)
            m->forms[n++] = pgk_instr_form_name(form);
}

static enum pgk_instr_form chosen_form(const struct merge *m)
{
    enum pgk_instr_form form = 0;
    if (!m->indexed.other)
        return PGK_INSTR_INDEXED;
    while (strcmp(m->indexed.other, pgk_instr_form_name(form)))
        form++;
    return form;
}

static void check_options(const struct merge *m)
{
    indexed_output_check_partial(&m->indexed, m->partial, m->sparse);
    if (m->partial && m->samples)
        cli_usage(m->verb,
                  "--supplement needs all counts; give it when the partial profiles are merged");
    if (m->raw_version && m->form != PGK_INSTR_RAW)
        cli_usage(m->verb, "--format-version is of raw profiles: --to raw");
    if (!m->output)
        cli_usage(m->verb, "no output: name it with -o");
    if (m->verb == &cmd_convert && m->n_inputs != 1)
        cli_usage(m->verb, "convert takes one file; pgokit merge adds up several");
    rebase_check_options(&m->rebase, m->output);
    if (m->prune.unknown_leaf && !cli_has_binaries(&m->common))
        cli_usage(m->verb, "--drop-unknown-leaf needs the binaries: give them with -b");
}

static void parse(struct merge *m, int argc, char **argv)
{
    bool converts = m->verb == &cmd_convert;
    list_forms(m);
    m->indexed = (struct indexed_output){
        INDEXED_OUTPUT_INIT, .verb = m->verb, .kind = PGK_KIND_INSTR, .others = m->forms,
        .takes = "any, llvm14 to llvm" CLI_LLVM_NEWEST ", text or raw",
        .full_schema = converts, /* which keeps all that the output can hold */
    };
    option_parse(m->verb, converts ? convert_groups : merge_groups, argc, argv, m);
    merge_inputs_check(&m->shared);
    m->keep_going |= m->keep_first;
    m->inputs = argv + optind;
    m->n_inputs = (size_t)(argc - optind);
    m->form = chosen_form(m);
    check_options(m);
    m->write = indexed_output_opts(&m->indexed, m->common.threads);
    m->counted.v = calloc(m->n_inputs, sizeof *m->counted.v);
    m->heaps.v = calloc(m->n_inputs, sizeof *m->heaps.v);
    if (!m->counted.v || !m->heaps.v)
        cli_usage(m->verb, "out of memory");
}

/* Which kind of file an operand names. */
static int sort_input(struct merge *m, const char *operand, struct pgk_err *err)
{
    struct pgk_input input = {operand, 1, NULL};
    if (m->verb == &cmd_merge)
        input = cli_input(m->verb, operand);
    if (cli_is_empty(input.path) && !m->shared.skips) {
        char safe[256];
        fprintf(stderr,
                "pgokit: warning: %s is empty and left out: did the program end normally?\n",
                pgk_human_text(safe, sizeof safe, input.path));
        m->empty++;
        return 0;
    }
    int status = cli_open(&input.file, input.path, err);
    if (status && merge_inputs_pass_over(&m->shared, &input, err)) {
        *err = (struct pgk_err){0};
        return 0;
    }
    if (status)
        return status;
    bool is_heap = pgk_file_info_format(pgk_file_info(input.file))->kind == PGK_KIND_HEAP;
    struct inputs *list = is_heap ? &m->heaps : &m->counted;
    list->v[list->n++] = input;
    return 0;
}

static int read_counted(struct merge *m, struct pgk_err *err)
{
    struct inputs *in = &m->counted;
    int status = pgk_instr_read_all(&m->instr, in->v, in->n, m->common.threads, err);
    if (status)
        merge_inputs_say_all(PGK_KIND_INSTR, in->v, in->n);
    if (!status || !merge_inputs_skip(&m->shared, PGK_KIND_INSTR, in->v, &in->n, err))
        return status;
    merge_inputs_need_some(&m->shared, in->n);
    return pgk_instr_read_all(&m->instr, in->v, in->n, m->common.threads, err);
}

static int read_heaps(struct merge *m, struct pgk_err *err)
{
    struct inputs *in = &m->heaps;
    int status = pgk_heap_read_all(&m->heap, in->v, in->n, m->common.threads, err);
    if (!status || !merge_inputs_skip(&m->shared, PGK_KIND_HEAP, in->v, &in->n, err))
        return status;
    return pgk_heap_read_all(&m->heap, in->v, in->n, m->common.threads, err);
}

/* Notes which files of counters hold heap data, too. */
static int read_counters(struct merge *m, struct pgk_err *err)
{
    int status = read_counted(m, err);
    for (size_t i = 0; i < m->counted.n && !status; i++)
        if (pgk_file_holds(m->counted.v[i].file, PGK_KIND_HEAP))
            m->heaps.v[m->heaps.n++] = m->counted.v[i];
    if (!status && m->remap)
        status = pgk_instr_remap(&m->instr, m->remap, err);
    if (!status && m->instr && (m->limits_traces || m->shortens_traces))
        pgk_instr_limit_traces(m->instr, m->limits_traces ? m->most_traces : SIZE_MAX,
                               m->shortens_traces ? m->longest_trace : SIZE_MAX);
    return status;
}

static int read_inputs(struct merge *m, struct pgk_err *err)
{
    int status = 0;
    for (size_t i = 0; i < m->n_inputs && !status; i++)
        status = sort_input(m, m->inputs[i], err);
    if (!status) {
        merge_inputs_sift(&m->shared, PGK_KIND_INSTR, m->counted.v, &m->counted.n);
        merge_inputs_sift(&m->shared, PGK_KIND_HEAP, m->heaps.v, &m->heaps.n);
        merge_inputs_need_some(&m->shared, m->counted.n + m->heaps.n);
    }
    if (!status)
        status = read_counters(m, err);
    if (!status && m->prune.wanted && !m->heaps.n)
        cli_usage(m->verb, "there is no heap data to prune among the inputs");
    if (!status && m->partial && m->heaps.n)
        cli_usage(m->verb, "make partial profiles of counters and of heap data apart; merge "
                           "takes both kinds at the end");
    if (!status && m->heaps.n)
        status = read_heaps(m, err);
    return status;
}

/* Gives names to heap data and prunes it. */
static int prepare_heap(struct merge *m, struct pgk_err *err)
{
    if (!m->heap)
        return 0;
    int status = cli_symbolise_heap(m->verb, &m->common, CLI_HEAP_FOR_COMPILERS, &m->heap,
                                    &m->symbolised, err);
    return status ? status : cli_prune(&m->prune, &m->common, &m->heap, err);
}

/* What came of merging, for names of other tools. */
static void say_merged(const char *file, const char *format, int status, const char *field,
                       const char *found)
{
    struct pgk_err err = {.status = status, .record = "merged"};
    snprintf(err.file, sizeof err.file, "%s", file);
    snprintf(err.format, sizeof err.format, "%s", format);
    snprintf(err.field, sizeof err.field, "%s", field);
    snprintf(err.found, sizeof err.found, "%s", found);
    cli_said(&err, true);
}

/* Whether a site of sizes has a value twice, which no runtime writes. */
static bool has_value_twice(const struct pgk_instr *p, size_t i)
{
    enum { MOST = 255 };
    struct pgk_instr_value v[MOST];
    size_t sites = pgk_instr_sites(p, i, PGK_VALUE_SIZE);
    for (size_t s = 0; s < sites; s++) {
        size_t n = pgk_instr_site(p, i, PGK_VALUE_SIZE, s, v, MOST);
        for (size_t a = 0; a < n && a < MOST; a++)
            for (size_t b = 0; b < a; b++)
                if (v[a].value == v[b].value)
                    return true;
    }
    return false;
}

/* Sums that reached the largest count that there is, and sizes that a site has twice. */
static void warn_of_sums(const struct merge *m)
{
    const uint64_t largest = UINT64_MAX - 2;
    const char *file = m->counted.v[m->counted.n - 1].path;
    char safe[256];
    for (size_t i = 0; i < pgk_instr_functions(m->instr); i++) {
        struct pgk_instr_function f = {.struct_size = sizeof f};
        pgk_instr_function(m->instr, i, &f);
        bool full = false;
        for (size_t k = 0; k < f.n_counts; k++)
            full |= f.counts[k] == largest;
        if (full && m->counted.n > 1) {
            fprintf(stderr, "pgokit: warning: %s: a counter reached the largest count that files "
                    "hold, 2^64 - 3, and stays there\n", pgk_human_text(safe, sizeof safe, f.name));
            say_merged(file, "counters", PGK_E_LIMIT, "counter", f.name);
        }
        if (pgk_instr_mixed(m->instr, i)) {
            fprintf(stderr, "pgokit: note: %s: counted in one input, and only known to be hot or "
                    "warm in another; the counts are kept\n",
                    pgk_human_text(safe, sizeof safe, f.name));
            say_merged(file, "counters", PGK_E_MISMATCH, "counters", f.name);
        }
        if (has_value_twice(m->instr, i)) {
            fprintf(stderr, "pgokit: warning: %s: a memory operation has one size twice, which "
                    "compilers may refuse\n", pgk_human_text(safe, sizeof safe, f.name));
            say_merged("", "counters", PGK_E_CORRUPT, "value", f.name);
        }
    }
}

/* Every function is named: what to do about it depends on which it is. */
static void print_conflicts(const struct merge *m)
{
    char safe[256], file[256];
    size_t n = pgk_instr_conflicts(m->instr);
    for (size_t i = 0; i < n; i++) {
        struct pgk_instr_conflict c = {.struct_size = sizeof c};
        pgk_instr_conflict(m->instr, i, &c);
        fprintf(stderr, "pgokit: %s: %s, hash 0x%016llx: %llu %s, %llu in the inputs before\n",
                pgk_human_text(file, sizeof file, c.file),
                pgk_human_text(safe, sizeof safe, c.name), (unsigned long long)c.hash,
                (unsigned long long)c.other, c.what, (unsigned long long)c.one);
        say_merged(c.file, "counters", PGK_E_MISMATCH, c.what, c.name);
    }
    fprintf(stderr, "pgokit: %zu function%s %s in shape from input to input%s\n", n,
            n == 1 ? "" : "s", n == 1 ? "differs" : "differ",
            m->keep_first   ? "; the first input that has it counts"
            : m->keep_going ? n == 1 ? " and is left out" : " and are left out"
                            : "; --keep-going leaves such functions out");
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names the functions that changed from input to input, each once. */
static void print_changed(const struct merge *m)
{
    enum { SHOWN = 10 };
    size_t all = pgk_instr_functions(m->instr), n = 0, names = 0;
    const char **changed = calloc(all + 1, sizeof *changed);
    for (size_t i = 0; changed && i < all; i++) {
        struct pgk_instr_function f = {.struct_size = sizeof f};
        pgk_instr_function(m->instr, i, &f);
        if (pgk_instr_changed(m->instr, i))
            changed[n++] = f.name;
    }
    if (n)
        qsort(changed, n, sizeof *changed, by_text);
    for (size_t i = 0; i < n; i++)
        if (!i || strcmp(changed[i - 1], changed[i]))
            changed[names++] = changed[i];
    if (names)
        fprintf(stderr,
                "pgokit: note: %zu function%s changed between the inputs; compilers use the "
                "counts that fit their source:\n",
                names, names == 1 ? "" : "s");
    for (size_t i = 0; i < names && i < SHOWN; i++) {
        char safe[256];
        fprintf(stderr, "pgokit:   %s\n", pgk_human_text(safe, sizeof safe, changed[i]));
    }
    if (names > SHOWN)
        fprintf(stderr, "pgokit:   and %zu more\n", names - SHOWN);
    free(changed);
}

/* On the merged counters, because what is hot or cold is a question of the whole. */
static int supplement(struct merge *m, struct pgk_err *err)
{
    struct pgk_sample *samples;
    struct pgk_supplemented done = {.struct_size = sizeof done};
    m->supplement.struct_size = sizeof m->supplement;
    int status = pgk_sample_new(&samples, err);
    if (!status)
        status = pgk_sample_read(samples, m->samples, 1, err);
    if (!status)
        status = pgk_sample_finish(samples, err);
    if (!status)
        status = pgk_instr_supplement(m->instr, samples, &m->supplement, &done, err);
    pgk_sample_close(&samples);
    if (!status && !m->common.quiet)
        fprintf(stderr,
                "pgokit: note: by the samples %zu functions were marked as hot, %zu as warm, and "
                "the counts of %zu raised\n",
                done.hot, done.warm, done.scaled);
    if (!status && done.ambiguous)
        fprintf(stderr,
                "pgokit: warning: %zu names in the sample profile belong to several static "
                "functions, which stay unchanged\n",
                done.ambiguous);
    return status;
}

/* Counters in terms of another build, and heap data that stands with them; EXIT_FAILED if it
 * failed, which has been said. */
static int rebase(struct merge *m)
{
    const char *input = m->inputs[0];
    if (!m->rebase.builds.n)
        return EXIT_DONE;
    int exit_code = rebase_instr(&m->rebase, &m->instr, input, m->output, &m->common);
    m->lost_in_rebase = exit_code == EXIT_INCOMPLETE;
    if (exit_code == EXIT_FAILED || !m->heap)
        return exit_code;
    exit_code = rebase_heap(&m->rebase, &m->heap, input, m->output, &m->common);
    m->lost_in_rebase |= exit_code == EXIT_INCOMPLETE;
    return exit_code;
}

/* The index version by which compilers find the functions. A release reads no newer one than its
 * own, but all older ones. */
static void choose_version(struct merge *m)
{
    uint32_t *version = &m->write.target.index_version, wanted = *version,
             suited = pgk_instr_index_version(m->instr, wanted);
    if (m->partial)
        *version = pgk_instr_lossless_version(m->instr);
    else if (m->indexed.index == INDEXED_NOT_GIVEN &&
             (suited < wanted || indexed_output_is_for_any(&m->indexed)))
        *version = suited;
    if (*version == wanted || m->form != PGK_INSTR_INDEXED || m->partial || m->common.quiet)
        return;
    if (suited < wanted)
        fprintf(stderr,
                "pgokit: note: written as index version %u, which LLVM 22 and later read, too, "
                "because its hashes look like those of clang up to 19, or of rustc\n",
                suited);
    else
        fprintf(stderr,
                "pgokit: note: written as index version %u, because its hashes look like those of "
                "the front end of LLVM 22 and later; --to llvm19 is for older ones\n",
                suited);
}

/* Makes ready for writing what was read. */
static int prepare(struct merge *m, struct pgk_err *err)
{
    int status = prepare_heap(m, err);
    if (!status && m->keep_first)
        pgk_instr_keep_conflicts(m->instr);
    else if (!status && m->keep_going)
        status = pgk_instr_drop_conflicts(m->instr, err);
    if (!status && m->samples)
        status = supplement(m, err);
    if (!status && (m->function || m->no_function))
        status = pgk_instr_filter(m->instr, m->function, m->no_function, err);
    if (!status && m->sparse)
        status = pgk_instr_drop_unused(m->instr, NULL, err);
    if (!status)
        choose_version(m);
    return status;
}

static struct pgk_instr_target target(const struct merge *m)
{
    return (struct pgk_instr_target){
        m->form,
        m->form == PGK_INSTR_INDEXED ? m->write.target.index_version : m->raw_version,
    };
}

static int write_output(const struct merge *m, struct pgk_err *err)
{
    const struct pgk_instr_target to = target(m);
    if (to.form != PGK_INSTR_INDEXED)
        return pgk_instr_write(m->instr, m->output, &to, err);
    const struct pgk_instr *instr = pgk_instr_origin(m->instr) == PGK_INSTR_NONE ? NULL : m->instr;
    return pgk_indexed_write(m->heap, instr, m->output, &m->write, err);
}

static bool warn_lost(size_t n, const char *what, const char *why)
{
    if (n)
        fprintf(stderr, "pgokit: warning: %zu %s not written, %s\n", n, what, why);
    return n > 0;
}

static bool warn_lost_counters(const struct pgk_instr_loss *loss, const char *why)
{
    static const char only_own[] = "because a raw profile has addresses of its own functions only";
    bool lost = warn_lost(loss->bitmap_functions, "bitmaps of functions are", why);
    lost |= warn_lost(loss->uniform_functions, "functions' marks of uniform counters are", why);
    lost |= warn_lost(loss->vtable_functions, "functions' virtual tables are", why);
    lost |= warn_lost(loss->traces, "temporal traces are", why);
    lost |= warn_lost(loss->traced_functions, "calls of the temporal trace are", only_own);
    lost |= warn_lost(loss->unknown_targets, "names of call targets are", only_own);
    lost |= warn_lost(loss->covered_twice, "counts above 1 are",
                      "because a raw profile of coverage says only that a place ran");
    lost |= warn_lost(loss->cut_sites, "value sites have values that are",
                      "because a site holds 255 values: the rarest are left out");
    lost |= warn_lost(loss->loop_entries, "mark that loop entries are counted is", why);
    if (loss->hashes)
        fputs("pgokit: warning: compilers miss some functions in a file of this version, because "
              "they look them up by other hashes; coverage reports find all. --to any takes the "
              "version that suits most functions\n",
              stderr);
    return lost;
}

/* Compilers and llvm-cov need none, so that a merge for a reader without them is complete. */
static bool report_lost_ids(const struct merge *m, size_t n, const char *why)
{
    if (m->verb == &cmd_convert)
        return warn_lost(n, "build ids of programs are", why);
    if (n && !m->common.quiet)
        fprintf(stderr, "pgokit: note: build ids of programs (%zu) are not written, %s\n", n, why);
    return false;
}

static bool warn_lost_heap(const struct merge *m)
{
    if (!m->heap)
        return false;
    if (m->indexed.other)
        return warn_lost(pgk_heap_contexts(m->heap), "heap contexts are",
                         "because only indexed profiles hold them");
    const struct cli_heap_content content = cli_heap_content(m->heap);
    cli_warn_cold_by_default(content.cold_by_default);
    return cli_warn_heap_lost(&content, m->write.target.memprof_version);
}

static bool warn_lost_in_form(const struct merge *m)
{
    static const char *const why[] = {
        [PGK_INSTR_INDEXED] = "because this index version cannot hold them",
        [PGK_INSTR_TEXT] = "because texts cannot hold them",
        [PGK_INSTR_RAW] = "because this version of raw profiles cannot hold them",
    };
    struct pgk_instr_loss loss = {.struct_size = sizeof loss};
    const struct pgk_instr_target to = target(m);
    if (pgk_instr_loss(m->instr, &to, &loss, NULL))
        return false; /* out of memory; it was written before */
    bool lost = report_lost_ids(m, loss.binary_ids, why[m->form]);
    return warn_lost_counters(&loss, why[m->form]) || lost;
}

/* Data of the input that the output lacks. */
static int report(const struct merge *m)
{
    bool lost = m->empty > 0 || m->lost_in_rebase;
    if (m->keep_going && pgk_instr_conflicts(m->instr)) {
        print_conflicts(m);
        lost = true;
    }
    if (m->verb == &cmd_merge && m->counted.n)
        warn_of_sums(m);
    lost |= warn_lost_in_form(m);
    lost |= warn_lost_heap(m);
    if (!m->common.quiet) {
        print_changed(m);
        cli_note_symbolised(&m->symbolised);
        if (m->heap)
            cli_note_unnamed(m->heap);
        if (m->heap && !m->indexed.other)
            cli_note_same_named(m->heap);
    }
    return lost ? EXIT_INCOMPLETE : EXIT_DONE;
}

/* Conflicts are an error of their own: they are named one by one instead of in one sentence. */
static int run_as(const struct cli_verb *verb, int argc, char **argv)
{
    struct merge m = {.verb = verb};
    struct pgk_err err = {0};
    parse(&m, argc, argv);
    int read = read_inputs(&m, &err), status = read;
    if (!status && rebase(&m) == EXIT_FAILED)
        status = PGK_E_ARG; /* said already */
    else if (!status && pgk_instr_conflicts(m.instr) && !m.keep_going) {
        print_conflicts(&m);
        status = PGK_E_MISMATCH;
    } else if (!status) {
        status = prepare(&m, &err);
        if (!status)
            status = write_output(&m, &err);
        if (status && m.keep_going && pgk_instr_conflicts(m.instr))
            print_conflicts(&m); /* by which nothing may be left */
        if (status)
            cli_fail(&err);
    }
    int exit_code = read ? merge_inputs_fail(&m.shared, &err) : status ? EXIT_FAILED : report(&m);
    exit_code = merge_inputs_exit(&m.shared, exit_code);
    pgk_instr_close(&m.instr);
    pgk_heap_close(&m.heap);
    free(m.counted.v);
    free(m.heaps.v);
    cli_list_free(&m.rebase.builds);
    cli_common_free(&m.common);
    return exit_code;
}

static int run_merge(int argc, char **argv)
{
    return run_as(&cmd_merge, argc, argv);
}

/* Converting is merging one file. */
static int run_convert(int argc, char **argv)
{
    return run_as(&cmd_convert, argc, argv);
}

const struct cli_action merge_instr = {
    PGK_KIND_INSTR, help, .run = run_merge, .groups = merge_groups, .examples = examples};
const struct cli_action convert_instr = {
    PGK_KIND_INSTR, convert_help, .run = run_convert, .groups = convert_groups,
    .examples = convert_examples};
