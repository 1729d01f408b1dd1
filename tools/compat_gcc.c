/* Command lines of AutoFDO's tools, of those that gcc 17 is to have instead, and of gcov-tool. */
#include "compat.h"

#include <stdlib.h>
#include <string.h>

/* ---- AutoFDO ---- */

/* Logging of glog and the parts of gflags. */
#define LOGGING "no effect: is about messages only"
#define GROUPING "no effect: modules are not grouped for any compiler"
#define GFLAGS_ROWS                                                                         \
    {"v", COMPAT_VALUE, .note = LOGGING},                                                   \
    {"vmodule", COMPAT_VALUE, .note = LOGGING},                                             \
    {"logtostderr", COMPAT_FLAG, .note = LOGGING},                                          \
    {"alsologtostderr", COMPAT_FLAG, .note = LOGGING},                                      \
    {"stderrthreshold", COMPAT_VALUE, .note = LOGGING},                                     \
    {"minloglevel", COMPAT_VALUE, .note = LOGGING},                                         \
    {"log_dir", COMPAT_VALUE, .note = LOGGING},                                             \
    {"debug_dump", COMPAT_FLAG, .note = LOGGING},                                           \
    {"flagfile", COMPAT_VALUE, "!files of flags are not read; write the flags out"},        \
    {"sample_threshold_frac", COMPAT_VALUE, "!no function is left out for few samples"},    \
    {"max_ggc_memory", COMPAT_VALUE, .note = GROUPING},                                     \
    {"cutoff_percent", COMPAT_VALUE, .note = GROUPING}

#define USE_LBR                                                                             \
    {"use_lbr", COMPAT_FLAG,                                                                \
     .note = "no effect: the recording says whether it has branch stacks; without them, "   \
             "counts are inferred"}

static const struct compat_choice profilers[] = {
    {"perf", NULL},
    {"text", "!counts of addresses are an input of `pgokit gen` in llvm-profgen's form only"},
    {"prefetch", "!no compiler of a release reads profiles for prefetching"},
    {0},
};

#define GCOV_VERSION                                                                        \
    {"gcov_version", COMPAT_VALUE,                                                          \
     .note = "--to=gcc11 for 1, --to=gcc15 for 2 and if it is not given, --to=gcc16 for 3; " \
             "PGOKIT_TO_GCC decides alone, if it is set"}
/* Where what is written is for LLVM, or is text. */
#define GCOV_VERSION_UNUSED \
    {"gcov_version", COMPAT_VALUE, .note = "no effect: the version of an input is in its header"}

/* The environment decides, as scripts of old name a version that their compiler no longer takes.
 * What create_gcov writes without a version no compiler takes. */
static void choose_gcc_or(struct compat_call *call, const char *default_release)
{
    const char *const releases[] = {default_release, "gcc11", "gcc15", "gcc16"};
    const char *to = getenv("PGOKIT_TO_GCC"), *version = compat_value(call, "gcov_version");
    char *end = NULL;
    unsigned long number = version ? strtoul(version, &end, 0) : 0;
    bool is_known = !version || (!*end && number && number < sizeof releases / sizeof *releases);
    if (to && *to) {
        call->to = compat_text("--to=%s", to);
        return;
    }
    if (!is_known)
        compat_refuse(call, compat_text("-gcov_version=%s", version),
                      "is not supported: gcc 5 to 11 take version 1, gcc 12 to 15 version 2, and "
                      "gcc 16 version 3");
    call->to = compat_text("--to=%s", releases[number]);
}

static void choose_gcc(struct compat_call *call)
{
    choose_gcc_or(call, "gcc15");
}

static const struct compat_option create_gcov_options[] = {
    {"binary", COMPAT_VALUE, "--binary=%s", .absent = "data.binary"},
    {"profile", COMPAT_OPERAND, .absent = "perf.data"},
    {"gcov", COMPAT_VALUE, "--output=%s", .absent = "fbdata.afdo"},
    GCOV_VERSION,
    {"profiler", COMPAT_CHOICE, .choices = profilers},
    USE_LBR,
    GFLAGS_ROWS,
    {0},
};

/* ---- gcc's own ---- */

/* gcc's Makefiles and test suite call these tools, which take what create_gcov and profile_merger
 * do, with the version that the compiler reads. They write none below 3. */
static void choose_gcc_17(struct compat_call *call)
{
    choose_gcc_or(call, "gcc16");
}

#define AFDO_GCOV_VERSION                                                                      \
    {"gcov_version", COMPAT_VALUE,                                                             \
     .note = "--to=gcc16 for 3 and if it is not given, --to=gcc11 for 1, --to=gcc15 for 2; "   \
             "PGOKIT_TO_GCC decides alone, if it is set. Version 4 is a draft, and refused"}

static const struct compat_option afdo_create_options[] = {
    {"binary", COMPAT_VALUE, "--binary=%s", .absent = "data.binary"},
    {"profile", COMPAT_OPERAND, .absent = "perf.data"},
    {"gcov", COMPAT_VALUE, "--output=%s", .absent = "fbdata.afdo"},
    AFDO_GCOV_VERSION,
    {"profiler", COMPAT_CHOICE, .choices = profilers},
    USE_LBR,
    GFLAGS_ROWS,
    {0},
};

static const struct compat_option afdo_merge_options[] = {
    {"output_file o", COMPAT_VALUE, "--output=%s", .absent = "fbdata.afdo"},
    AFDO_GCOV_VERSION,
    GFLAGS_ROWS,
    {0},
};

static const struct compat_choice llvm_formats[] = {
    {"text", "--to=text"},
    {"binary", "--to=binary"},
    {"extbinary", "--to=extbinary"},
    {"compactbinary", "!LLVM 17 and later cannot read it; give --format=extbinary"},
    {"propeller", "--format=propeller"},
    {0},
};

/* Either of two names of the output has to be given. */
static void choose_llvm_prof(struct compat_call *call)
{
    const char *out = compat_value(call, "out"), *gcov = compat_value(call, "gcov");
    if (!out && !gcov)
        compat_refuse(call, "--out", "is missing; it names the output");
    if (out && gcov && strcmp(out, gcov))
        compat_refuse(call, "--gcov", "is another name of --out, which says something else");
    const char *format = compat_value(call, "format");
    const char *symbols = compat_value(call, "propeller_symorder");
    if (format && !strcmp(format, "propeller")) /* without the option, there is no such file */
        compat_add_words(call, "--symbol-order=%s", symbols ? symbols : "");
    else if (symbols)
        compat_refuse(call, "--propeller_symorder", "is of --format=propeller");
}

static const struct compat_option create_llvm_prof_options[] = {
    {"binary", COMPAT_VALUE, "--binary=%s", .absent = "a.out"},
    {"profile", COMPAT_OPERAND, .absent = "perf.data"},
    {"out", COMPAT_VALUE, "--output=%s"},
    {"gcov", COMPAT_VALUE, "--output=%s"},
    {"format", COMPAT_CHOICE, .choices = llvm_formats, .absent = "text"},
    {"prof_sym_list", COMPAT_FLAG, "--symbols"},
    {"profiler", COMPAT_CHOICE, .choices = profilers},
    {"prefetch_hints", COMPAT_VALUE, "!no compiler of a release reads profiles for prefetching",
     .nothing = ""},
    {"profiled_binary_name", COMPAT_VALUE,
     "!`pgokit gen --map RECORDED=FILE` says under which name a program was recorded",
     .nothing = ""},
    {"propeller_symorder", COMPAT_VALUE, .note = "--symbol-order=VALUE, with --format=propeller"},
    {"ignore_build_id", COMPAT_FLAG,
     "!numbers of blocks in another build are others; give the program that was recorded"},
    {"use_discriminator_encoding", COMPAT_FLAG, NULL,
     "!discriminators of programs by clang are always encoded"},
    GCOV_VERSION_UNUSED,
    USE_LBR,
    GFLAGS_ROWS,
    {0},
};

static const struct compat_option dump_gcov_options[] = {
    GCOV_VERSION_UNUSED,
    {"dump_cutoff_percent", COMPAT_VALUE,
     "!all functions are printed; `pgokit show --top N` prints the hottest"},
    USE_LBR,
    GFLAGS_ROWS,
    {0},
};

/* As from a makefile that lists what recordings gave, which may be nothing. */
static void need_profiles(struct compat_call *call)
{
    if (!call->operands.n)
        compat_refuse(call, "FILE", "is missing: there is no profile to merge");
}

static void choose_afdo_merge(struct compat_call *call)
{
    need_profiles(call);
    choose_gcc_17(call);
}

/* gcc's profiles have a version, and LLVM's a format. */
static void choose_merger(struct compat_call *call)
{
    need_profiles(call);
    const char *format = compat_value(call, "format");
    if (!compat_is_true(call, "is_llvm")) {
        choose_gcc(call);
        return;
    }
    call->to = compat_text("--to=%s", format ? format : "binary");
    if (!compat_is_true(call, "include_symbol_list"))
        compat_add_words(call, "--drop-symbols", NULL);
}

#define NOT_MERGED "!`pgokit merge` has no such limit"
static const struct compat_option merger_options[] = {
    {"output_file o", COMPAT_VALUE, "--output=%s", .absent = "fbdata.afdo"},
    GCOV_VERSION,
    {"is_llvm", COMPAT_FLAG, .note = "decides about the output: --to=FORMAT"},
    {"format", COMPAT_VALUE, .note = "of --is_llvm: text, extbinary, or binary if it is not given"},
    {"use_md5", COMPAT_FLAG, "--md5"},
    {"compress", COMPAT_FLAG, "--compress"},
    {"partial_profile", COMPAT_FLAG, "--gen-partial"},
    {"split_layout", COMPAT_FLAG, "--split-layout"},
    {"include_symbol_list", COMPAT_FLAG, .note = "of --is_llvm: without it, --drop-symbols"},
    {"strip_symbols_regex", COMPAT_VALUE, "--no-function=%s", .nothing = ""},
    {"merge_special_syms", COMPAT_FLAG, NULL, NOT_MERGED},
    {"max_call_targets", COMPAT_VALUE, NOT_MERGED, .nothing = "0"},
    {"max_inline_callsite_nesting_level", COMPAT_VALUE, NOT_MERGED, .nothing = "0"},
    {"inline_instances_at_same_loc_cutoff", COMPAT_VALUE, NOT_MERGED, .nothing = "-1"},
    {"dump_cutoff_percent", COMPAT_VALUE, .note = "no effect: is about dump_gcov"},
    USE_LBR,
    GFLAGS_ROWS,
    {0},
};

/* ---- gcov-tool ---- */

/* Weights such as 0.5,0.25 become whole numbers, and the sum is divided. */
static void weigh_two(struct compat_call *call, const char *weights)
{
    const char *comma = strchr(weights, ',');
    if (!comma)
        compat_refuse(call, "--weight", "takes two numbers above 0, as in 1,2 or 0.5,0.5");
    struct cli_factor of[] = {cli_factor("--weight", weights, (size_t)(comma - weights)),
                              cli_factor("--weight", comma + 1, strlen(comma + 1))};
    unsigned long by = of[0].by > of[1].by ? of[0].by : of[1].by;
    while (by % of[0].by || by % of[1].by)
        by += of[0].by > of[1].by ? of[0].by : of[1].by;
    for (size_t i = 0; i < 2; i++)
        compat_weigh(call, i, of[i].times * (by / of[i].by));
    if (by > 1)
        compat_add_words(call, compat_text("--scale=1/%lu", by), NULL);
}

static void choose_gcov_merge(struct compat_call *call)
{
    const char *weights = compat_value(call, "weight");
    if (call->operands.n != 2)
        compat_refuse(call, "this", "takes two folders; pgokit merge takes any number");
    if (weights)
        weigh_two(call, weights);
}

static void choose_gcov_rewrite(struct compat_call *call)
{
    if (call->operands.n != 1)
        compat_refuse(call, "this", "takes one folder");
}

#define TALK "no effect: it says more on the way"
static const struct compat_option gcov_merge_options[] = {
    {"output o", COMPAT_VALUE, "--output=%s", .absent = "merged_profile"},
    {"weight w", COMPAT_VALUE,
     .note = "counts each folder so often, as FOLDER@N does; of fractions --scale divides the sum"},
    {"verbose v", COMPAT_FLAG, .note = TALK},
    {0},
};

static const struct compat_option gcov_rewrite_options[] = {
    {"output o", COMPAT_VALUE, "--output=%s", .absent = "rewritten_profile"},
    {"scale s", COMPAT_VALUE, "--scale=%s"},
    {"normalize n", COMPAT_VALUE, "--normalize=%s"},
    {"verbose v", COMPAT_FLAG, .note = TALK},
    {0},
};

const struct compat_tool compat_tools_gcc[] = {
    {"create_gcov", NULL, "makes a profile for gcc -fauto-profile of a recording",
     .syntax = COMPAT_GFLAGS, .verb = "gen --no-next", .options = create_gcov_options,
     .choose = choose_gcc},
    {"create_llvm_prof", NULL,
     "makes a sample profile for clang of a recording, or lists for Propeller",
     .syntax = COMPAT_GFLAGS, .verb = "gen --no-next", .options = create_llvm_prof_options,
     .choose = choose_llvm_prof},
    {"profile_merger", NULL, "adds up sample profiles", .operands = "FILE...",
     .syntax = COMPAT_GFLAGS, .verb = "merge --quiet", .options = merger_options,
     .choose = choose_merger, .replaces = "create_gcov"},
    {"afdo_create", NULL, "makes a profile for gcc -fauto-profile of a recording",
     .syntax = COMPAT_GFLAGS, .verb = "gen --no-next", .options = afdo_create_options,
     .choose = choose_gcc_17},
    {"afdo_merge", NULL, "adds up profiles for gcc -fauto-profile", .operands = "FILE...",
     .syntax = COMPAT_GFLAGS, .verb = "merge --quiet", .options = afdo_merge_options,
     .choose = choose_afdo_merge, .replaces = "create_gcov"},
    {"dump_gcov", NULL, "prints a sample profile", .operands = "FILE", .syntax = COMPAT_GFLAGS,
     .verb = "convert --quiet --to=text --output=-", .options = dump_gcov_options},
    {"gcov-tool", "merge", "adds up counters of two runs", .operands = "FOLDER FOLDER",
     .syntax = COMPAT_GNU, .verb = "merge --quiet", .options = gcov_merge_options,
     .choose = choose_gcov_merge, .replaces = "gcov-tool"},
    {"gcov-tool", "rewrite", "multiplies counters", .operands = "FOLDER", .syntax = COMPAT_GNU,
     .verb = "merge --quiet", .options = gcov_rewrite_options, .choose = choose_gcov_rewrite},
    {"gcov-tool", "merge-stream", "adds up counters from a stream",
     .refusal = "gcc's own gcov-tool makes files of a stream, which gcov-tool merge takes"},
    {"gcov-tool", "overlap", "compares counters of two runs",
     .refusal = "`pgokit show` prints the counters of each file (gcov-tool 12 to 16 prints nan and "
                "inf for all shares, as files no longer hold the sums it divides by)"},
    {0},
};
