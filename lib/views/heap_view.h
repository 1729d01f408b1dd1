/* Shared by all views of a heap profile: order, totals, names. */
#ifndef PGK_HEAP_VIEW_H
#define PGK_HEAP_VIEW_H

#include "arena.h"
#include "estimate.h"
#include "fail.h"
#include "index.h"
#include "mib.h"
#include "pgokit/human.h"
#include "pgokit/report.h"
#include "vec.h"

struct pgk_heap_totals {
    size_t contexts;
    uint64_t known;       /* fields that all contexts have */
    uint64_t some_know;   /* fields that some contexts have */
    uint64_t v[PGK_MIB_FIELDS]; /* sums, of fields that add up; objects and bytes as processes of
                                   sampled profiles counted them, where they did */
    size_t no_accesses;   /* contexts whose accesses are not known */
    size_t no_touched;    /* contexts of which it is not known how much was touched */
    size_t no_times;      /* contexts of which it is not known how they were over time */
    size_t sampled;       /* contexts whose figures are estimates */
    size_t cut;           /* contexts with stacks that have more frames than were kept */
    size_t label_contexts[PGK_LABELS];
    uint64_t label_bytes[PGK_LABELS];
    struct pgk_heap_sampling sampling; /* where `sampled` is not 0 */
};
/* `info`, which may be NULL, is that of the profile's file, here and below. */
void pgk_heap_totals(const struct pgk_heap *heap, const struct pgk_file_info *info,
                     struct pgk_heap_totals *t);

/* Whether accesses are those of library functions only: what says that memory is not used, or
 * not much, is not said then. */
static inline bool pgk_view_some_accesses(const struct pgk_file_info *info)
{
    return info && pgk_file_info_fact(info, PGK_FACT_LIBRARY_ACCESSES);
}
/* When the heap was as it is last known. Of a process that was killed or runs on, that is the last
 * moment that is in the file, which is later than its last dump. */
static inline const char *pgk_view_last_moment(const struct pgk_file_info *info)
{
    const uint64_t interrupted = info ? pgk_file_info_fact(info, PGK_FACT_INTERRUPTED) : 0;
    return interrupted && interrupted == pgk_file_info_fact(info, PGK_FACT_PROCESSES)
               ? "last known" : "at exit";
}
struct pgk_json;
/* Numbers that contexts have elsewhere; those with `n` or more are not there. */
struct pgk_view_rows {
    const uint32_t *of; /* by context */
    size_t n;
};
/* The curve, the peak and the shares, as struct pgk_heap_times has them; with `rows`, which may be
 * NULL, shares have the rows of contexts. */
void pgk_view_put_times(struct pgk_json *j, const char *key, const struct pgk_heap *heap,
                        const struct pgk_heap_times *t, const struct pgk_view_rows *rows);

/* The facts that labels and advice may use: without counted accesses none about accesses, unless
 * several threads are known none about other CPUs, from an interrupted process none about objects
 * left. */
struct pgk_mib pgk_view_judged(const struct pgk_mib *m, const struct pgk_file_info *info);
enum pgk_mib_label pgk_view_label(const struct pgk_mib *m, const struct pgk_file_info *info);

/* " (0.9 MB to 1.6 MB)" of an estimate, by a function that writes a figure; "" of an exact one. */
enum { PGK_INTERVAL_TEXT = 2 * PGK_HUMAN_SIZE + 16 };
const char *pgk_view_interval(char buf[PGK_INTERVAL_TEXT], const struct pgk_heap_estimate *e,
                              const char *figure(char *buf, double v));
/* Such functions, beside pgk_human_bytes. */
const char *pgk_view_number(char *buf, double v);
const char *pgk_view_ratio(char *buf, double v);
/* An estimate in another unit, or for each of something. */
static inline struct pgk_heap_estimate pgk_view_each(struct pgk_heap_estimate e, double of)
{
    return (struct pgk_heap_estimate){e.value / of, e.low / of, e.high / of};
}

/* The value of a sort key; negative if the profile does not know it. */
double pgk_heap_sort_value(const struct pgk_mib *m, enum pgk_heap_sort sort);

/* Context numbers, highest value first; opts->top of them (0: all). Free with
 * pgk_mem_free. */
PGK_MUST_USE int pgk_heap_ranking(const struct pgk_heap *heap,
                                  const struct pgk_heap_print_opts *opts, size_t **order,
                                  size_t *count, struct pgk_err *err);

/* What the objects of a type cost. */
struct pgk_type_sum {
    uint64_t id;        /* 0: of contexts whose type is not known */
    const char *name;   /* belongs to the profile; "" unknown */
    size_t contexts;
    struct pgk_mib sum; /* of them; without histogram */
};
struct pgk_type_sums {
    PGK_VEC(struct pgk_type_sum) all;
    struct pgk_index index;
};
/* A sum for each type, highest value of the key first; what has no type comes last. */
PGK_MUST_USE int pgk_heap_sum_types(const struct pgk_heap *heap, enum pgk_heap_sort sort,
                                    struct pgk_type_sums *sums, struct pgk_err *err);
/* Position of the sum of a type, or PGK_INDEX_NONE. */
uint32_t pgk_type_sums_find(const struct pgk_type_sums *sums, uint64_t id);
void pgk_type_sums_free(struct pgk_type_sums *sums);
/* "type 0x…" for a type whose name is not known. */
enum { PGK_TYPE_NUMBER_SIZE = 32 };
const char *pgk_type_number(char buf[PGK_TYPE_NUMBER_SIZE], uint64_t id);

/* Frames of a context, in `arena`. */
PGK_MUST_USE int pgk_heap_view_stack(const struct pgk_heap *heap, size_t context,
                                     struct pgk_arena *arena, struct pgk_heap_frame **frames,
                                     size_t *count, struct pgk_err *err);

/* "[libx.so]+0x1234" of an address, or "0x1234" where the module's file is not known; and the
 * symbol nearest to it, " (near name)", if that is known. */
enum { PGK_ADDRESS_TEXT = 600 };
const char *pgk_view_address(char buf[PGK_ADDRESS_TEXT], const struct pgk_heap_frame *f);

/* Line of a frame in its function's file; 0 unknown. */
uint32_t pgk_heap_frame_line(const struct pgk_heap_frame *f);

#endif
