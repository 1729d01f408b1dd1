/* Records in the hardware's own formats: AMD's IBS and ARM's SPE. docs/formats/perf-data.md
 * sections 6 and 7 */
#ifndef PGK_PERF_HARDWARE_H
#define PGK_PERF_HARDWARE_H

#include "cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An operation that the processor picked. What is not known is 0. */
struct pgk_hw_op {
    uint64_t pc;
    uint64_t addr;   /* data address of a load or store */
    uint64_t target; /* of a branch that was taken */
    uint64_t earlier_target; /* of the taken branch before: from there to `pc` the code ran
                              * straight on */
    uint32_t context; /* SPE: number of the process, if recorded */
    bool is_load, is_store, is_branch, mispredicted, in_kernel;
};

/* Raw data of a sample of ibs_op; false if it is too short, or says that the instruction is not
 * known. */
bool pgk_hw_ibs_op(const uint8_t *raw, size_t size, struct pgk_hw_op *op);

/* Calls `fn` for each operation of a piece of SPE trace. PGK_E_CORRUPT for a packet that is none.
 * Buffers end anywhere: an operation that is cut short at the end of the piece is left out. */
typedef int pgk_hw_op_fn(void *ctx, const struct pgk_hw_op *op);
int pgk_hw_spe(const uint8_t *bytes, size_t size, const struct pgk_source *src, pgk_hw_op_fn *fn,
               void *ctx, struct pgk_err *err);

#endif
