/* Lists of records of a sample profile; their memory comes from size classes in one arena. */
#ifndef PGK_SAMPLE_RECS_H
#define PGK_SAMPLE_RECS_H

#include "sample_model.h"

/* Each is false when out of memory, which leaves the list valid. */
bool pgk_recs_reserve(struct pgk_rec_heap *heap, struct pgk_sample_recs *recs, uint64_t n);
bool pgk_recs_add(struct pgk_rec_heap *heap, struct pgk_sample_recs *recs,
                  struct pgk_sample_rec rec);
/* `v` is sorted and has each key once; counts are multiplied by `weight`. */
bool pgk_recs_add_sorted(struct pgk_rec_heap *heap, struct pgk_sample_recs *recs,
                         const struct pgk_sample_rec *v, size_t n, uint64_t weight);
bool pgk_recs_settle(struct pgk_rec_heap *heap, struct pgk_sample_recs *recs);
void pgk_recs_clear(struct pgk_rec_heap *heap, struct pgk_sample_recs *recs);
void pgk_rec_heap_free(struct pgk_rec_heap *heap);

/* Sorts and sums up equal keys; returns how many are left. */
size_t pgk_recs_sort(struct pgk_sample_rec *v, size_t n);
/* In a settled list; NULL if there is none. */
const struct pgk_sample_rec *pgk_recs_find(const struct pgk_sample_recs *recs, uint64_t loc,
                                           uint32_t what);

#endif
