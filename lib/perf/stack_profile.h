/* Profiles of other profilers, whose samples have call stacks: what is common to their forms.
 *
 * A file may hold samples of many processes, each with its own mappings at the same addresses. So
 * each distinct mapping gets a region of addresses of its own, and samples are passed to the
 * handler as if all had been taken in one process that has these regions mapped. */
#ifndef PGK_STACK_PROFILE_H
#define PGK_STACK_PROFILE_H

#include "cursor.h"
#include "filemap.h"
#include "intern.h"
#include "perf_event.h"
#include "vec.h"

/* Where a process had a file; path and build id live as long as the call. */
struct pgk_stack_mapping {
    uint64_t start, limit, offset; /* limit 0: unknown */
    struct pgk_perf_name path;
    uint8_t build_id[PGK_BUILD_ID_MAX];
    uint32_t build_id_size;
    bool linked;    /* addresses are the linker's, not those of a process */
    bool from_base; /* they begin where the file was loaded */
};

struct pgk_stack_region {
    uint64_t start, size; /* of the addresses that belong to it */
    bool kernel;
};

/* No place in any file. */
#define PGK_STACK_NOWHERE UINT32_MAX

enum { PGK_STACK_FRAMES_MAX = 16384 };

struct pgk_stack_reader {
    const struct pgk_source *src;
    const struct pgk_perf_handler *handler;
    struct pgk_perf_info *info;
    struct pgk_err *err;
    PGK_VEC(struct pgk_stack_region) regions;
    struct pgk_intern known; /* mappings: string ids are regions + 1 */
    /* Of the sample in hand: */
    PGK_VEC(uint64_t) chain; /* innermost first */
    bool in_kernel;
    int32_t pid;
    PGK_VEC(struct pgk_perf_label) labels;
};

/* A form that such profiles have. */
struct pgk_stack_form {
    const char *name;
    bool (*sniff)(const uint8_t *bytes, size_t size);
    /* Passes all mappings and samples. */
    int (*read)(struct pgk_stack_reader *reader, const uint8_t *bytes, size_t size);
};

/* The form of a file; NULL if it is none of them. */
const struct pgk_stack_form *pgk_stacks_in_form(const uint8_t *bytes, size_t size);
PGK_MUST_USE int pgk_stacks_in_read(const struct pgk_stack_form *form,
                                    const struct pgk_filemap *map, const struct pgk_source *src,
                                    const struct pgk_perf_handler *handler,
                                    struct pgk_perf_info *info, struct pgk_err *err);

/* Forms of profiles. */
extern const struct pgk_stack_form pgk_stack_pprof, pgk_stack_otlp, pgk_stack_json,
    pgk_stack_folded;

/* ---- for those ---- */

/* The region of a mapping, which is passed on if it is new; PGK_STACK_NOWHERE if it has no name. */
PGK_MUST_USE int pgk_stacks_in_map(struct pgk_stack_reader *reader,
                                   const struct pgk_stack_mapping *mapping, uint32_t *region);
/* Whether an address as the file has it is outside of its mapping, as those of the linker are. */
static inline bool pgk_stacks_in_is_linked(const struct pgk_stack_mapping *m, uint64_t address)
{
    return (!m->start && !m->offset) || address < m->start || (m->limit && address >= m->limit);
}
/* Hexadecimal digits as a build id; a longer one, or none, is size 0. */
void pgk_stacks_in_build_id(struct pgk_stack_mapping *mapping, struct pgk_perf_name digits);
/* The place that a text names: a file, and how far from where that was loaded. PGK_STACK_NOWHERE if
 * it names none. */
PGK_MUST_USE int pgk_stacks_in_named(struct pgk_stack_reader *reader, struct pgk_perf_name text,
                                     uint32_t *region, uint64_t *address);
/* Begins a sample. */
void pgk_stacks_in_begin(struct pgk_stack_reader *reader);
/* Its next frame, a caller of those before. */
PGK_MUST_USE int pgk_stacks_in_push(struct pgk_stack_reader *reader, uint32_t region,
                                    uint64_t address, uint64_t off);
/* A label of it; the one of the process also sets its number. */
PGK_MUST_USE int pgk_stacks_in_label(struct pgk_stack_reader *reader, struct pgk_perf_name key,
                                     struct pgk_perf_name value);
void pgk_stacks_in_number_label(struct pgk_stack_reader *reader, struct pgk_perf_name key,
                                uint64_t value);
/* Passes it. Samples without a frame, and those that stand for none, are left out. */
PGK_MUST_USE int pgk_stacks_in_pass(struct pgk_stack_reader *reader, uint64_t count,
                                    uint64_t unix_ns);

/* What a value counts. */
struct pgk_stack_value {
    struct pgk_perf_name type, unit;
};
/* How good a measure of time on a processor it is, from 1 for the best on; 0: none. */
unsigned pgk_stacks_in_rank(const struct pgk_stack_value *value);
/* How many samples a value stands for. */
uint64_t pgk_stacks_in_count(const struct pgk_stack_value *value, uint64_t n,
                             const struct pgk_stack_value *period_type, uint64_t period);
/* PGK_E_MISMATCH: nothing in the file is time on a processor; `found` is what it has. */
PGK_MUST_USE int pgk_stacks_in_no_cpu(const struct pgk_stack_reader *reader, const char *found);

static inline bool pgk_name_is(struct pgk_perf_name name, const char *text)
{
    return strlen(text) == name.n && !memcmp(name.s, text, name.n);
}

#endif
