/* Counts one perf sample: a branch stack, a load, or a plain hit. */
#ifndef PGK_GEN_SAMPLES_H
#define PGK_GEN_SAMPLES_H

#include "gen_priv.h"

/* The place of an address of code; elsewhere, if no instruction starts there. */
int pgk_gen_code_place(struct pgk_gen *gen, const struct pgk_perf_sample *sample, uint64_t addr,
                       struct pgk_gen_place *place);
/* A load: of an object's type, if it is one from a vtable, or of data. */
int pgk_gen_count_load(struct pgk_gen *gen, const struct pgk_perf_sample *sample, uint64_t ip,
                       uint64_t addr);
/* With opts.stacks: a sample of any kind, by its call chain. */
int pgk_gen_count_stack(struct pgk_gen *gen, const struct pgk_perf_sample *sample);
void pgk_gen_stacks_free(struct pgk_gen_stacks *stacks);
/* The part of a call chain that is of the program, leaf first; its length. */
size_t pgk_gen_user_chain(const struct pgk_perf_sample *sample, const uint64_t **chain);
/* A sample with branches. */
int pgk_gen_count_taken(struct pgk_gen *gen, const struct pgk_perf_sample *sample);
/* A sample of an instruction alone. */
int pgk_gen_count_hit(struct pgk_gen *gen, const struct pgk_perf_sample *sample);
/* A label that was asked for and that the sample lacks; NULL: none. */
const struct pgk_gen_label *pgk_gen_missing_label(const struct pgk_gen_opts *opts,
                                                  const struct pgk_perf_sample *sample);
/* Whether it is not of the time that was asked for. */
bool pgk_gen_is_other_time(const struct pgk_gen_opts *opts, const struct pgk_perf_sample *sample);
/* A sample that is of no use without branches. */
void pgk_gen_without_branches(struct pgk_gen *gen, const struct pgk_perf_sample *sample);

#endif
