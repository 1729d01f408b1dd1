/* The calls of a binary: those that its debug information describes, and those that its
 * instructions are. */
#ifndef PGK_CODE_CALLS_H
#define PGK_CODE_CALLS_H

#include "binary_set.h"

/* Calls by address, of the last byte of the instruction. Debug information names most callees; it
 * leaves out calls that link-time optimisation imported, jumps in place of calls (clang), and all
 * of code that is not optimised. Owned by `arena`; strings live as long as the set. */
PGK_MUST_USE int pgk_code_calls(struct pgk_binaries *set, uint32_t binary, struct pgk_arena *arena,
                                struct pgk_sym_call **calls, size_t *n_calls,
                                struct pgk_err *err);

#endif
