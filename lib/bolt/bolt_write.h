/* Files that llvm-bolt and perf2bolt read. docs/formats/bolt.md */
#ifndef PGK_BOLT_WRITE_H
#define PGK_BOLT_WRITE_H

#include "code.h"
#include "counters.h"
#include "intern.h"
#include "sink.h"
#include "traces.h"

/* What was counted of one binary. */
struct pgk_bolt_counts {
    const struct pgk_elf *elf;
    struct pgk_code *code;
    const struct pgk_traces *traces; /* sorted */
    const struct pgk_pairs *samples; /* without branches: `from`, sorted; if there are no traces */
    const struct pgk_intern *events; /* names of the events of `samples` */
};

struct pgk_bolt_written {
    uint64_t functions;          /* that something is said of */
    uint64_t ranges, ranges_bad; /* code that ran between branches; of these, what cannot have */
    uint64_t bad_from, bad_to;   /* the first of the latter */
};

/* Branches by function, for `llvm-bolt -data`. */
int pgk_bolt_write_fdata(const struct pgk_bolt_counts *counts, struct pgk_sink *out,
                         struct pgk_bolt_written *written, struct pgk_err *err);
/* Branches by address, for `perf2bolt -pa`. */
int pgk_bolt_write_preaggregated(const struct pgk_bolt_counts *counts, struct pgk_sink *out,
                                 struct pgk_bolt_written *written, struct pgk_err *err);

#endif
