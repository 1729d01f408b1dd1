/* Inside of a generator. */
#ifndef PGK_GEN_PRIV_H
#define PGK_GEN_PRIV_H

#include "address_space.h"
#include "gen_binary.h"
#include "gen_stacks.h"
#include "intern.h"
#include "perf_input.h"

enum { PGK_GEN_WINDOWS = 4 };

/* State of a branch: a binary has it, and its step was not met before with the very addresses,
 * which those that are no instructions never are. */
enum { PGK_GEN_SEEN_IN_BINARY = 1, PGK_GEN_SEEN_FIRST = 2 };

/* A place in one of the binaries. */
struct pgk_gen_place {
    uint32_t binary; /* PGK_NO_BINARY: elsewhere */
    uint64_t addr;
};

/* A place in the code of one. */
struct pgk_gen_offset {
    uint32_t binary, off; /* off: from the base of the code, PGK_STEP_OUT elsewhere */
};

struct pgk_gen {
    struct pgk_binaries *binaries;
    struct pgk_gen_opts opts;
    struct pgk_gen_stats stats;
    char examples[PGK_GEN_DROPS][PGK_GEN_EXAMPLE_SIZE]; /* of `stats` */
    uint64_t hits, hits_outside; /* samples of instructions alone, in a binary or not */
    uint64_t hits_unfit;         /* of the latter, in code, but at no instruction */
    char hit_outside[PGK_GEN_EXAMPLE_SIZE]; /* the first of the latter */
    uint64_t hits_nowhere; /* of those outside: without an address, as in profiles of names */
    enum pgk_gen_input { PGK_GEN_NOTHING, PGK_GEN_RECORDING, PGK_GEN_PROFILE } inputs; /* so far */
    struct pgk_windows { double scaled, seen; } ranges, loaded; /* of counts of the branch
                                             * recorder: as they are, and as windows saw them */
    double unit, load_unit; /* what a seen one adds to counts of code and of loads, on average over
                             * all inputs; known when all have been read */
    bool settled; /* nothing may be added any more */
    bool decided, contexts; /* counters are kept by calling context */
    struct pgk_sample *profile;       /* names of vtables go there as they are met */
    PGK_VEC(struct pgk_gen_binary) images; /* parallel to the set of binaries */
    pgk_known_vec known;
    bool has_mappings; /* some recording says which files were where */
    char elsewhere[200]; /* files of the recording that most samples of no use were in */

    struct pgk_gen_stacks stacks_seen; /* with opts.stacks, instead of all other counts */
    struct {
        bool wanted;
        struct pgk_pairs *in; /* by binary: instructions at which ticks or samples came, `from` */
        struct pgk_intern files;  /* others in which they came */
        PGK_VEC(uint64_t) outside; /* by number in `files`; 0: not known where */
    } ticks;

    struct pgk_intern hit_events; /* names of the events of `hits` of binaries, for llvm-bolt */

    uint64_t stacks, stack_branches, stack_period; /* of samples with branches: how many, their
                                                     * branches, their periods */
    uint64_t loads, load_period;                     /* of loads from vtables */
    bool any_operations; /* ARM's unit took others than loads, stores and branches, too */

    /* Of the input that is being read: */
    struct pgk_address_space space;
    struct pgk_address_window windows[PGK_GEN_WINDOWS]; /* in which addresses were found lately */
    uint64_t window_size[PGK_GEN_WINDOWS]; /* for the sample in hand; 0: not for this one */
    unsigned next_window;
    unsigned last_of[2]; /* the window that was used last: [true] of a binary, [false] elsewhere */
    uint64_t start; /* least time of a sample */
    PGK_VEC(uint64_t) outside_of; /* samples of no use, by recorded file */
    struct pgk_err *err;
    struct pgk_perf_input *input;

    /* Of the sample that is being counted: */
    PGK_VEC(struct pgk_gen_offset) branches; /* source, target, source, ... */
    PGK_VEC(struct pgk_gen_place) chain;
    PGK_VEC(uint8_t) seen; /* by branch: PGK_GEN_SEEN_... */
    struct pgk_call_sample sample; /* as one binary sees it */
};

/* A tick, or a sample where there are no ticks, if they are wanted: in a binary, or else in `file`,
 * "" if that is not known. */
int pgk_gen_tick(struct pgk_gen *gen, struct pgk_gen_place place, const char *file,
                 uint64_t count);
int pgk_gen_tick_sample(struct pgk_gen *gen, const struct pgk_perf_sample *sample);
void pgk_gen_ticks_free(struct pgk_gen *gen);

/* A recording, of which `found` says that it is of another build: skipped, or refused. */
int pgk_gen_other_build(struct pgk_gen *gen, const char *path, const char *found,
                        struct pgk_err *err);
/* Opens the code of a binary on first use. */
int pgk_gen_need_code(struct pgk_gen *gen, struct pgk_gen_binary *binary);

/* PGK_E_ARG if the input was a sample profile. */
int pgk_gen_need_counters(const struct pgk_gen *gen, struct pgk_err *err);
/* Makes the counters of a binary ready to be written: inferred if there are samples of instructions
 * alone, sorted, without impossible ones. Nothing may be added any more. */
int pgk_gen_settle_counters(struct pgk_gen *gen, uint32_t binary, struct pgk_err *err);

/* Handles the records of an input. `gen` is a struct pgk_gen. */
int pgk_gen_on_mapping(void *gen, const struct pgk_perf_mapping *mapping);
int pgk_gen_on_task(void *gen, const struct pgk_perf_task *task);
int pgk_gen_on_sample(void *gen, const struct pgk_perf_sample *sample);
int pgk_gen_on_trace(void *gen, const struct pgk_perf_trace *trace);

#endif
