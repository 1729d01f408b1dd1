/* The counts in views of pseudo probes. */
#ifndef PGK_PROBE_STATS_H
#define PGK_PROBE_STATS_H

#include "fail.h"
#include "pgokit/report.h"
#include "probes.h"

enum { PGK_PROBE_DEPTHS = 16 }; /* the last one stands for all that are deeper, too */

struct pgk_probe_stats {
    struct pgk_probes_totals totals;
    uint64_t described;                   /* functions with a descriptor */
    uint64_t functions;                   /* of them, with code of their own or inlined */
    uint64_t by_type[PGK_PROBE_TYPES];
    uint64_t by_depth[PGK_PROBE_DEPTHS];  /* probes under so many callers */
    uint32_t deepest;
    uint64_t duplicated;                  /* probes whose code was copied within its function */
};

int pgk_probe_stats(const struct pgk_probes *probes, const struct pgk_probe_index *index,
                    struct pgk_probe_stats *stats, struct pgk_err *err);

/* Descends the trees in order. `child` is called for each node with its depth, below which
 * `pgk_probe` numbers first .. first+count-1 are its own. */
typedef void pgk_probe_visit(void *ctx, uint32_t node, uint32_t depth, uint32_t first,
                             uint32_t count);
int pgk_probe_walk_nodes(const struct pgk_probe_index *index, pgk_probe_visit *visit, void *ctx,
                         struct pgk_err *err);

#endif
