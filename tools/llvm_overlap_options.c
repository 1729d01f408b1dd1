/* --llvm of pgokit diff. */
#include "llvm_overlap_options.h"

static const struct option_row rows[] = {
    {"llvm", 0, NULL, "the output of llvm-profdata overlap, for scripts that read it",
     OPTION_FLAG(struct llvm_overlap_options, wanted), .page = "as LLVM 22 prints it"},
    {"function", 0, "TEXT", "with --llvm: one by one the functions whose names contain it",
     OPTION_TEXT(struct llvm_overlap_options, opts.function)},
    {"value-cutoff", 0, "N", "with --llvm: and those with a count of N or more",
     OPTION_NUMBER(struct llvm_overlap_options, opts.value_cutoff, 0, UINT64_MAX),
     OPTION_GIVEN(struct llvm_overlap_options, opts.has_value_cutoff)},
    {"similarity-cutoff", 0, "N",
     "with --llvm: and, of samples, those that are less similar, in millionths",
     OPTION_NUMBER(struct llvm_overlap_options, opts.similarity_cutoff, 0, 1000000)},
    {"llvm-release", 0, "N", "with --llvm: the release of LLVM whose words it has",
     OPTION_NUMBER(struct llvm_overlap_options, opts.release, 1, 99)},
    {0},
};
const struct option_table llvm_overlap_table = {"diff llvm", NULL, rows};

void llvm_overlap_ready(struct llvm_overlap_options *o, char **operands, bool contextual)
{
    o->opts.struct_size = sizeof o->opts;
    if (!o->wanted && (o->opts.function || o->opts.has_value_cutoff || o->opts.similarity_cutoff))
        cli_usage(&cmd_diff, "--function and the cutoffs are of --llvm");
    o->opts.base_title = operands[0];
    o->opts.test_title = operands[1];
    o->opts.contextual = contextual;
    if (o->wanted)
        cli_for_data("-");
}
