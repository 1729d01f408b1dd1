/* An order of functions for the linker, from the order of their first calls.
 *
 * A program that was built with temporal instrumentation notes when each function was called
 * first. From these traces of its starts an order follows in which starting touches few pages of
 * code. The order is that of `llvm-profdata order` (LLVM 22) for the same traces. */
#ifndef PGOKIT_FUNCTION_ORDER_H
#define PGOKIT_FUNCTION_ORDER_H

#include "pgokit/err.h"
#include "pgokit/instr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pgk_function_order;
/* What an order is learnt from. */
struct pgk_function_order_opts {
    size_t struct_size;     /* sizeof(struct pgk_function_order_opts) */
    size_t test_traces;     /* the last so many traces are not learnt from but measured with */
    size_t max_traces;      /* learn from the first so many; 0: all */
    size_t max_trace_calls; /* of each trace take the first so many calls; 0: all */
    bool llvm_text;         /* pgk_function_order_write: comments as llvm-profdata writes them */
};

/* Orders the functions of the profile's traces. `opts` may be NULL. The profile, which may be read
 * by other threads meanwhile, must outlive the order and not be changed. PGK_E_EMPTY without
 * traces, PGK_E_ARG if no trace is left to learn from, PGK_E_NOMEM. */
int pgk_instr_order_functions(struct pgk_function_order **order, const struct pgk_instr *profile,
                              const struct pgk_function_order_opts *opts, struct pgk_err *err);
/* Nulls the pointer; accepts NULL in it. */
void pgk_function_order_close(struct pgk_function_order **order);

/* How many functions there are. */
size_t pgk_function_order_size(const struct pgk_function_order *order);
/* How many more were in the traces whose names the profile does not know. */
size_t pgk_function_order_unnamed(const struct pgk_function_order *order);
/* The `i`th name, i = 0 .. size - 1, which belongs to the profile. Of a local function a file name
 * of *file_len bytes and a semicolon stand before the symbol; else *file_len is 0. */
const char *pgk_function_order_at(const struct pgk_function_order *order, size_t i,
                                  size_t *file_len);
/* Writes the names, one a line, to `path` ("-": standard output), whole or not at all; the file of
 * a local function stands in a comment line before it. */
int pgk_function_order_write(const struct pgk_function_order *order, const char *path,
                             struct pgk_err *err);
/* With test traces: the sum, over their calls, of the pages of 32 functions that were touched up
 * to the call. The smaller, the fewer page faults. */
uint64_t pgk_function_order_fault_area(const struct pgk_function_order *order);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
