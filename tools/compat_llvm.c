/* Command lines of llvm-profdata and llvm-profgen. */
#include "compat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define INSTR COMPAT_KIND(PGK_KIND_INSTR)
#define HEAP COMPAT_KIND(PGK_KIND_HEAP)
#define SAMPLE COMPAT_KIND(PGK_KIND_SAMPLE)

enum { FIRST_WITH_TYPES = 22 }; /* in texts */

#define KIND_NOTE "no effect: the kind is that of the files; one that contradicts it is refused"
#define CORRELATE \
    "!profiles without their own data (-profile-correlate) are not read; build without it"

/* Options of the kind, which every subcommand but order has. */
#define KIND_ROWS                                                  \
    {"instr", COMPAT_FLAG, .note = KIND_NOTE},                     \
    {"sample", COMPAT_FLAG, .note = KIND_NOTE}

static void check_kind(const struct compat_call *call)
{
    if (!call->has_kind)
        return;
    if (call->kind == PGK_KIND_GCOV)
        compat_refuse(call, call->operands.v[0], "has counters of gcc, which gcov-tool takes");
    if (compat_is_true(call, "sample") && call->kind != PGK_KIND_SAMPLE) {
        compat_say_llvm_words(compat_text("%s: Unrecognized sample profile encoding format",
                                          call->operands.v[0]));
        compat_refuse(call, "--sample", "contradicts the input, which is no sample profile");
    }
    if (compat_is_true(call, "instr") && call->kind == PGK_KIND_SAMPLE)
        compat_refuse(call, "--instr", "contradicts the input, which is a sample profile");
    if (compat_is_true(call, "memory") && call->kind == PGK_KIND_SAMPLE)
        compat_refuse(call, "--memory", "contradicts the input, which is a sample profile");
}

/* ---- llvm-profdata merge ---- */

/* The oldest release that reads the first file of the kind; 0: it is not known. */
static unsigned oldest_reader(const struct compat_call *call)
{
    struct pgk_err err = {0};
    struct pgk_instr *instr = NULL;
    struct pgk_heap *heap = NULL;
    struct pgk_file *file = NULL;
    char readers[256];
    unsigned release = 0;
    for (size_t i = 0; i < call->operands.n && !file; i++)
        if (!cli_open(&file, cli_input(&cmd_merge, call->operands.v[i]).path, &err) &&
            pgk_file_info_format(pgk_file_info(file))->kind != call->kind)
            file = NULL;
    int status = call->kind == PGK_KIND_HEAP ? pgk_heap_new(&heap, &err)
                                             : pgk_instr_new(&instr, &err);
    if (!status && file)
        status = heap ? pgk_heap_read_file(heap, file, 1, &err)
                      : pgk_instr_read_file(instr, file, 1, &err);
    if (!status && file)
        sscanf(pgk_file_info_readers(pgk_file_info(file), readers, sizeof readers), "LLVM %u",
               &release);
    pgk_instr_close(&instr);
    pgk_heap_close(&heap);
    return release;
}

/* For whom indexed profiles are: the environment says it, or the release in the tool's name. Else
 * the compiler is that which made the inputs, of which old ones do not read what suits all new. */
static const char *indexed_target(const struct compat_call *call)
{
    enum { FIRST_OF_ANY = 19, FIRST_WITH_HEAP = 15 };
    const char *to = getenv("PGOKIT_TO_LLVM");
    if (to && *to)
        return to;
    if (call->release)
        return compat_text("llvm%u", call->release);
    unsigned release = call->has_kind ? oldest_reader(call) : 0;
    bool is_old = release && release < FIRST_OF_ANY &&
                  (call->kind == PGK_KIND_INSTR || release >= FIRST_WITH_HEAP);
    return is_old ? compat_text("llvm%u", release) : "any";
}

/* A part of 1 is percent in pgokit. */
static void add_zero_share(struct compat_call *call)
{
    const char *share = compat_value(call, "zero-counter-threshold");
    char *end;
    if (!share)
        return;
    double percent = 100 * strtod(share, &end);
    long whole = percent >= 1 && percent <= 100 ? (long)(percent + 0.5) : 0;
    if (end == share || *end || !whole || percent - (double)whole > 1e-9 ||
        (double)whole - percent > 1e-9)
        compat_refuse(call, "--zero-counter-threshold", "takes 0.01 to 1, in steps of 0.01");
    compat_add_words(call, compat_text("--supplement-zeros=%ld", whole), NULL);
}

/* Nested contexts, with or without the functions' own profiles. Types are in texts of the releases
 * that read them. */
static void choose_samples(struct compat_call *call)
{
    const char *layout = compat_value(call, "convert-sample-profile-layout");
    if ((layout && !strcmp(layout, "nest")) || compat_is_true(call, "gen-cs-nested-profile"))
        compat_add_words(call, compat_is_true(call, "generate-merged-base-profiles")
                                   ? "--layout=nested-base" : "--layout=nested", NULL);
    if (compat_is_true(call, "text") && call->release >= FIRST_WITH_TYPES)
        compat_add_words(call, "--vtables", NULL);
}

static void choose_merge(struct compat_call *call)
{
    if (compat_is_true(call, "dump-input-file-list"))
        compat_list_inputs(call);
    compat_find_kind(call, &cmd_merge);
    check_kind(call);
    if (!call->operands.n)
        compat_say_llvm_words("no input files specified. See llvm-profdata merge -help");
    bool samples = call->has_kind ? call->kind == PGK_KIND_SAMPLE : compat_is_true(call, "sample");
    if (samples)
        choose_samples(call);
    else
        compat_add_words(call, "--to=%s", indexed_target(call));
    if (call->has_kind && call->kind == PGK_KIND_INSTR) {
        compat_add_words(call, "--keep-first", NULL);
        add_zero_share(call);
    }
}

static const struct compat_choice layouts[] = {{"nest", NULL}, {"flat", "--layout=flat"}, {0}};
/* Passes by which discriminators are seen. */
static const struct compat_choice passes[] = {
    {"Base", "--fs-pass=base"},   {"Pass0", "--fs-pass=base"},  {"Pass1", "--fs-pass=pass1"},
    {"Pass2", "--fs-pass=pass2"}, {"Pass3", "--fs-pass=pass3"}, {"Pass4", NULL},
    {"PassLast", NULL},           {0}};
#define FLOW_ROWS                                                                      \
    {"profile-isfs", COMPAT_FLAG, "--fs", .kinds = SAMPLE},                            \
    {"fs-discriminator-pass", COMPAT_CHOICE, .choices = passes, .kinds = SAMPLE}

static const struct compat_option merge_options[] = {
    {"output o", COMPAT_VALUE, "--output=%s", .absent = "-"},
    KIND_ROWS,
    {"memory", COMPAT_FLAG, .note = KIND_NOTE},
    {"weighted-input", COMPAT_WEIGHTED},
    {"input-files f", COMPAT_LIST},
    {"num-threads j", COMPAT_VALUE, "--jobs=%s", .nothing = "0"},
    {"failure-mode", COMPAT_VALUE, "--failure-mode=%s"},
    {"text", COMPAT_FLAG, "--to=text"},
    {"binary", COMPAT_FLAG, "--to=binary", .kinds = SAMPLE},
    {"extbinary", COMPAT_FLAG, "--to=extbinary", .kinds = SAMPLE},
    {"gcc", COMPAT_FLAG,
     "!unknown format is specified: llvm-profdata itself writes none; `pgokit merge --to gcc15` "
     "does, for gcc11 to gcc16"},
    {"sparse", COMPAT_FLAG, "--sparse", .kinds = INSTR},
    {"function", COMPAT_VALUE, "--function=%s", .kinds = INSTR | SAMPLE},
    {"no-function", COMPAT_VALUE, "--no-function=%s", .kinds = INSTR | SAMPLE},
    {"remapping-file r", COMPAT_VALUE, "--remap=%s", .kinds = INSTR | SAMPLE},
    {"profiled-binary", COMPAT_VALUE, "--binary=%s", .kinds = HEAP | INSTR},
    {"memprof-version", COMPAT_VALUE, "--memprof-version=%s", .kinds = HEAP | INSTR},
    {"memprof-full-schema", COMPAT_FLAG, "--full-schema", .kinds = HEAP | INSTR},
    {"memprof-random-hotness", COMPAT_FLAG, "!invents data; nothing in pgokit does"},
    {"memprof-random-hotness-seed", COMPAT_VALUE, "!invents data; nothing in pgokit does"},
    {"write-prev-version", COMPAT_FLAG, "--index-version=11", .kinds = HEAP | INSTR},
    {"keep-vtable-symbols", COMPAT_FLAG, .note = "no effect: such names are always kept"},
    {"supplement-instr-with-sample", COMPAT_VALUE, "--supplement=%s", .kinds = INSTR},
    {"zero-counter-threshold", COMPAT_VALUE,
     .note = "--supplement-zeros=100*VALUE, for instrumentation profiles"},
    {"suppl-min-size-threshold", COMPAT_VALUE, "--supplement-size=%s", .kinds = INSTR},
    {"instr-prof-cold-threshold", COMPAT_VALUE, "--supplement-cold=%s", .kinds = INSTR},
    {"prof-sym-list", COMPAT_VALUE, "--symbols=%s", .kinds = SAMPLE},
    {"drop-profile-symbol-list", COMPAT_FLAG, "--drop-symbols", .kinds = SAMPLE},
    {"compress-all-sections", COMPAT_FLAG, "--compress", .kinds = SAMPLE},
    {"use-md5", COMPAT_FLAG, "--md5", .kinds = SAMPLE},
    {"md5-indexed-tables", COMPAT_FLAG, "--indexed-tables", .kinds = SAMPLE},
    {"md5-prof-sym-list", COMPAT_FLAG, "--symbol-guids", .kinds = SAMPLE},
    {"extbinary-composite-prof", COMPAT_FLAG, "--composite", .kinds = SAMPLE},
    {"gen-partial-profile", COMPAT_FLAG, "--gen-partial", .kinds = SAMPLE},
    {"split-layout", COMPAT_FLAG, "--split-layout", .kinds = SAMPLE},
    {"output-size-limit", COMPAT_VALUE, "--size-limit=%s", .nothing = "0", .kinds = SAMPLE},
    {"convert-sample-profile-layout", COMPAT_CHOICE, .choices = layouts, .kinds = SAMPLE},
    {"gen-cs-nested-profile", COMPAT_FLAG, .note = "as --convert-sample-profile-layout=nest"},
    {"generate-merged-base-profiles", COMPAT_FLAG, .note = "then the layout is nested-base"},
    FLOW_ROWS,
    {"profile-summary-cold-count", COMPAT_VALUE, "--cold-below=%s", .kinds = SAMPLE},
    {"profile-summary-cutoff-cold", COMPAT_VALUE, "--cold-share=%s", .kinds = SAMPLE},
    {"sample-merge-cold-context", COMPAT_FLAG, "--merge-cold", .kinds = SAMPLE},
    {"sample-trim-cold-context", COMPAT_FLAG, "--trim-cold", .kinds = SAMPLE},
    {"sample-frame-depth-for-cold-context", COMPAT_VALUE, "--cold-depth=%s", .kinds = SAMPLE},
    {"extbinary-write-vtable-type-prof", COMPAT_FLAG, "--vtables", .kinds = SAMPLE},
    {"sample-profile-format-version", COMPAT_VALUE, "--format-version=%s", .kinds = SAMPLE},
    {"temporal-profile-trace-reservoir-size", COMPAT_VALUE, "--max-traces=%s", .kinds = INSTR},
    {"temporal-profile-max-trace-length", COMPAT_VALUE, "--max-trace-length=%s", .kinds = INSTR},
    {"dump-input-file-list", COMPAT_FLAG, .note = "prints the inputs and does nothing else"},
    {"debug-info", COMPAT_VALUE, CORRELATE},
    {"binary-file", COMPAT_VALUE, CORRELATE},
    {"debuginfod", COMPAT_FLAG, CORRELATE},
    {"max-debug-info-correlation-warnings", COMPAT_VALUE, .note = "no effect: there are none"},
    {0},
};

/* ---- llvm-profdata show ---- */

/* Options that say which parts are printed. */
static const struct show_part {
    const char *option, *part;
} show_parts[] = {
    {"all-functions", "all"}, {"counts", "counts"}, {"ic-targets", "targets"},
    {"show-vtables", "vtables"}, {"memop-sizes", "memops"}, {"covered", "covered"},
    {"hot-func-list", "hot"}, {"binary-ids", "ids"}, {"profile-version", "version"},
    {"temporal-profile-traces", "traces"}, {"detailed-summary", "summary"},
    {"show-prof-sym-list", "symbols"}, {"show-sec-info-only", "sections"}, {"json", "json"},
    {"text", "text"},
};

static const char *wanted_parts(const struct compat_call *call)
{
    const char *all = "totals", *format = compat_value(call, "show-format");
    for (size_t i = 0; i < sizeof show_parts / sizeof *show_parts; i++)
        if (compat_is_true(call, show_parts[i].option))
            all = compat_text("%s,%s", all, show_parts[i].part);
    return format && !strcmp(format, "json") ? compat_text("%s,json", all) : all;
}

static int say_build_id(void *ctx, const uint8_t *id, size_t size)
{
    char *text = compat_text("%s", "");
    (void)ctx;
    for (size_t i = 0; i < size; i++)
        text = compat_text("%s%02x", text, id[i]);
    compat_say_llvm_words(compat_text("BuildId: %s", text));
    return 0;
}

/* Those of a raw profile without binaries, which it cannot be shown without. They are said if it
 * fails. */
static void say_build_ids(const char *path)
{
    struct pgk_err err = {0};
    struct pgk_file *file;
    if (!cli_open(&file, path, &err))
        pgk_file_build_ids(file, say_build_id, NULL, &err);
}

/* Heap data are shown as YAML, and counters with --text as the text that merge writes. */
static void choose_show(struct compat_call *call)
{
    const char *output = compat_value(call, "output");
    if (!call->operands.n) {
        compat_say_llvm_words("the positional argument '<profdata-file>' is required unless "
                              "'--debug-info' is provided");
        compat_refuse(call, "an input", "is missing: name one file");
    }
    if (output && !strcmp(output, call->operands.v[0])) {
        fprintf(stderr, "%s: Input file name cannot be the same as the output file name!\n",
                call->called);
        compat_refuse(call, output, "is the input, which would be lost; name another output");
    }
    compat_find_kind(call, &cmd_show);
    check_kind(call);
    bool samples = call->has_kind && call->kind == PGK_KIND_SAMPLE;
    const char *format = compat_value(call, "show-format");
    if (compat_is_true(call, "memory") && call->kind == PGK_KIND_HEAP &&
        !compat_value(call, "profiled-binary"))
        say_build_ids(call->operands.v[0]);
    if (compat_is_true(call, "memory")) {
        call->verb = call->kind == PGK_KIND_HEAP ? "show --llvm"
                                                 : "convert --quiet --to=yaml --output=-";
        return;
    }
    if (format && !strcmp(format, "yaml"))
        compat_refuse(call, "--show-format=yaml", "is for heap data, with --memory");
    if (!call->has_kind || call->kind == PGK_KIND_HEAP)
        return;
    compat_add_words(call, "--llvm=%s", wanted_parts(call));
    if (call->release)
        compat_add_words(call, compat_text("--llvm-release=%u", call->release), NULL);
    const char *cutoffs = compat_value(call, "detailed-summary-cutoffs");
    if (!samples && cutoffs && compat_is_true(call, "detailed-summary"))
        compat_add_words(call, "--cutoffs=%s", cutoffs);
}

static const struct compat_choice show_formats[] = {
    {"text", NULL}, {"json", NULL}, {"yaml", NULL}, {0}};

#define PART(name) "part " name " of --llvm"

static const struct compat_option show_options[] = {
    {"output o", COMPAT_STDOUT},
    KIND_ROWS,
    {"memory", COMPAT_FLAG, .note = "decides about the output: YAML"},
    {"all-functions", COMPAT_FLAG, .note = PART("all")},
    {"counts", COMPAT_FLAG, .note = PART("counts")},
    {"ic-targets", COMPAT_FLAG, .note = PART("targets")},
    {"memop-sizes", COMPAT_FLAG, .note = PART("memops")},
    {"show-vtables", COMPAT_FLAG, .note = PART("vtables")},
    {"text", COMPAT_FLAG, .note = PART("text")},
    {"function", COMPAT_VALUE, "--function=%s", .kinds = INSTR | SAMPLE},
    {"topn", COMPAT_VALUE, "--top=%s", .nothing = "0", .kinds = INSTR | SAMPLE},
    {"covered", COMPAT_FLAG, .note = PART("covered")},
    {"value-cutoff", COMPAT_VALUE, "--value-cutoff=%s", .nothing = "0", .kinds = INSTR},
    {"list-below-cutoff", COMPAT_FLAG, "--list-below-cutoff", .kinds = INSTR},
    {"json", COMPAT_FLAG, .note = PART("json")},
    {"show-format", COMPAT_CHOICE, .choices = show_formats, .kinds = INSTR | SAMPLE},
    {"profiled-binary", COMPAT_VALUE, "--binary=%s"},
    FLOW_ROWS,
    {"show-sec-info-only", COMPAT_FLAG, .note = PART("sections")},
    {"profile-version", COMPAT_FLAG, .note = PART("version")},
    {"detailed-summary", COMPAT_FLAG, .note = PART("summary")},
    {"detailed-summary-cutoffs", COMPAT_VALUE,
     .note = "of --detailed-summary, for counters: --cutoffs=VALUE"},
    {"hot-func-list", COMPAT_FLAG, .note = PART("hot")},
    {"showcs", COMPAT_FLAG, "--contextual", .kinds = INSTR},
    {"binary-ids", COMPAT_FLAG, .note = PART("ids")},
    {"temporal-profile-traces", COMPAT_FLAG, .note = PART("traces")},
    {"show-prof-sym-list", COMPAT_FLAG, .note = PART("symbols")},
    {"debug-info", COMPAT_VALUE, CORRELATE},
    {"max-debug-info-correlation-warnings", COMPAT_VALUE, .note = "no effect: there are none"},
    {0},
};

/* ---- llvm-profdata overlap, order ---- */

static void choose_overlap(struct compat_call *call)
{
    compat_find_kind(call, &cmd_diff);
    check_kind(call);
    if (call->has_kind && call->kind == PGK_KIND_HEAP)
        return;
    compat_add_words(call, "--llvm", NULL);
    if (call->release)
        compat_add_words(call, compat_text("--llvm-release=%u", call->release), NULL);
}

static const struct compat_option overlap_options[] = {
    {"output o", COMPAT_STDOUT},
    KIND_ROWS,
    {"cs", COMPAT_FLAG, "--contextual", .kinds = INSTR},
    {"function", COMPAT_VALUE, "--function=%s"},
    {"value-cutoff", COMPAT_VALUE, "--value-cutoff=%s"},
    {"similarity-cutoff", COMPAT_VALUE, "--similarity-cutoff=%s"},
    {0},
};

static const struct compat_option order_options[] = {
    {"output o", COMPAT_VALUE, "--output=%s"},
    {"num-test-traces", COMPAT_VALUE, "--test-traces=%s", .nothing = "0"},
    {0},
};

/* ---- llvm-profgen ---- */

/* The program's code instead of a profile: of the other options it looks at the program's only. */
static void choose_profgen(struct compat_call *call)
{
    const char *format = compat_value(call, "format");
    if (format && !strcmp(format, "text") && call->release >= FIRST_WITH_TYPES)
        compat_add_words(call, "--vtables", NULL);
    if (compat_value(call, "unsymbolized-profile"))
        compat_add_words(call, "--any-ranges", NULL);
    if (!compat_is_true(call, "show-disassembly-only"))
        return;
    call->words.n = 0;
    static const char *const program[] = {"binary", "debug-binary", "dwp"};
    const char *names = compat_value(call, "disassemble-functions");
    call->verb = "disasm --format=llvm";
    for (size_t i = 0; i < sizeof program / sizeof *program; i++)
        if (compat_value(call, program[i]))
            compat_add_words(call, compat_text("--%s=%%s", program[i]),
                             compat_value(call, program[i]));
    if (compat_is_true(call, "show-pseudo-probe"))
        compat_add_words(call, "--probes", NULL);
    if (compat_is_true(call, "show-source-locations"))
        compat_add_words(call, "--source", NULL);
    for (char *rest = names ? compat_text("%s", names) : NULL, *name; (name = strsep(&rest, ","));)
        compat_add_words(call, "--function=%s", name);
    call->n_given = 0;
    call->operands.n = 0;
}

static const struct compat_choice profgen_formats[] = {
    {"text", "--to=text"},
    {"binary", "--to=binary"},
    {"extbinary", "--to=extbinary"},
    {"gcc", "!is what create_gcov makes, or `pgokit gen --to gcc11` to gcc16"},
    {0},
};
#define DISASSEMBLY "of --show-disassembly-only"

static const struct compat_option profgen_options[] = {
    {"binary", COMPAT_VALUE, "--binary=%s"},
    {"perfdata pd", COMPAT_OPERAND},
    {"perfscript ps", COMPAT_OPERAND},
    {"unsymbolized-profile up", COMPAT_OPERAND},
    {"llvm-sample-profile", COMPAT_OPERAND},
    {"data-access-perftrace", COMPAT_OPERAND},
    {"output o", COMPAT_VALUE, "--output=%s"},
    {"format", COMPAT_CHOICE, .choices = profgen_formats},
    {"debug-binary", COMPAT_VALUE, "--debug-binary=%s"},
    {"dwp", COMPAT_VALUE, "--dwp=%s"},
    {"pid", COMPAT_VALUE, "--pid=%s", .nothing = "0"},
    {"kernel", COMPAT_FLAG, "--kernel"},
    {"perf-event", COMPAT_VALUE, "--perf-event=%s"},
    {"leading-ip-only", COMPAT_FLAG, "--leading-ip-only"},
    {"sample-period", COMPAT_VALUE,
     "!counts are those of the samples; --vtable-scale takes periods from recordings"},
    {"ignore-stack-samples", COMPAT_FLAG, "--ignore-stack --skip-frameless"},
    {"skip-symbolization", COMPAT_FLAG, "--raw"},
    {"use-offset", COMPAT_FLAG, NULL, "--raw-base=none"},
    {"use-first-loadable-segment-as-base", COMPAT_FLAG, "--raw-base=loadable"},
    {"trim-cold-profile", COMPAT_FLAG, "--trim-cold"},
    {"csprof-merge-cold-context", COMPAT_FLAG, NULL, "--keep-cold"},
    {"csprof-max-cold-context-depth", COMPAT_VALUE, "--cold-depth=%s"},
    {"csprof-max-context-depth", COMPAT_VALUE, "--context-depth=%+", .nothing = "-1"},
    {"csprof-max-unsymbolized-context-depth", COMPAT_VALUE, "--stack-depth=%+", .nothing = "-1"},
    {"compress-recursion", COMPAT_VALUE, "--recursion=%s", .nothing = "-1"},
    {"csspgo-preinliner", COMPAT_FLAG, NULL, "--no-preinline"},
    {"gen-cs-nested-profile", COMPAT_FLAG, NULL, "--contexts"},
    {"infer-missing-frames", COMPAT_FLAG, NULL, "--no-tail-calls"},
    {"profile-summary-hot-count", COMPAT_VALUE, "--hot-count=%s"},
    {"profile-summary-cold-count", COMPAT_VALUE, "--cold-count=%s"},
    {"profile-summary-cutoff-hot", COMPAT_VALUE, "--hot-share=%s"},
    {"profile-summary-cutoff-cold", COMPAT_VALUE, "--cold-share=%s"},
    {"profile-density-threshold", COMPAT_VALUE, "--min-density=%s"},
    {"profile-density-cutoff-hot", COMPAT_VALUE, "--density-share=%s"},
    {"use-md5", COMPAT_FLAG, "--md5"},
    {"compress-all-sections", COMPAT_FLAG, "--compress"},
    {"populate-profile-symbol-list", COMPAT_FLAG, "--symbols"},
    {"extbinary-write-vtable-type-prof", COMPAT_FLAG, "--vtables"},
    {"sample-profile-format-version", COMPAT_VALUE, "--format-version=%s"},
    {"use-dwarf-correlation", COMPAT_FLAG, "--no-probes"},
    {"update-total-samples", COMPAT_FLAG, "--sum-totals"},
    {"fill-zero-for-all-funcs", COMPAT_FLAG, "--all-functions"},
    {"mark-all-context-preinlined", COMPAT_FLAG, "--mark-inlined"},
    {"sample-profile-hot-inline-threshold", COMPAT_VALUE, "--inline-hot-size=%s"},
    {"sample-profile-cold-inline-threshold", COMPAT_VALUE, "--inline-cold-size=%s"},
    {"load-function-from-symbol", COMPAT_FLAG, NULL,
     "!functions are also found by symbols, as by llvm-profgen's default"},
    {"max-search-depth", COMPAT_VALUE, "!the search for callers of tail calls has its own limit"},
    {"show-density", COMPAT_FLAG, "--llvm-density"},
    {"show-detailed-warning", COMPAT_FLAG, "--verbose --llvm-warnings"},
    {"show-mmap-events", COMPAT_FLAG, "!`perf script --show-mmap-events` prints them"},
    {"show-canonical-fname", COMPAT_FLAG, "!`pgokit convert --canonical` changes names"},
    {"time-profgen", COMPAT_FLAG, .note = "no effect: times are not part of a profile"},
    {"etm", COMPAT_VALUE, "!traces of ETM are not decoded; `perf inject --itrace=i1000il` makes of "
     "them branch stacks for --perfdata"},
    {"etm-trace-id", COMPAT_VALUE, "!traces of ETM are not decoded"},
    {"target-triple", COMPAT_VALUE, "!the program's file says what it is for"},
    {"show-disassembly-only", COMPAT_FLAG, .note = "decides about the verb: pgokit disasm"},
    {"show-pseudo-probe", COMPAT_FLAG, .note = DISASSEMBLY},
    {"show-source-locations", COMPAT_FLAG, .note = DISASSEMBLY},
    {"disassemble-functions", COMPAT_VALUE, .note = DISASSEMBLY},
    {0},
};

const struct compat_tool compat_tools_llvm[] = {
    {"llvm-profdata", "merge", "adds up profiles", .operands = "FILE...", .verb = "merge --quiet",
     .options = merge_options, .choose = choose_merge, .replaces = "llvm-profdata",
     .say = compat_say_llvm},
    {"llvm-profdata", "show", "shows what a profile says", .operands = "FILE", .verb = "show",
     .options = show_options, .choose = choose_show,
     .say = compat_say_llvm},
    {"llvm-profdata", "overlap", "compares two profiles", .operands = "BASE TEST", .verb = "diff",
     .options = overlap_options, .choose = choose_overlap, .say = compat_say_llvm},
    {"llvm-profdata", "order", "orders functions for the linker", .operands = "FILE",
     .verb = "order --quiet --llvm", .options = order_options,
     .say = compat_say_llvm},
    {"llvm-profgen", NULL, "makes a sample profile of a recording", .verb = "gen --no-next",
     .overview = "llvm SPGO profile generator", .options = profgen_options,
     .choose = choose_profgen},
    {0},
};
