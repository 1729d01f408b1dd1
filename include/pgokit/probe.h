/* Pseudo probes: the marks that -fpseudo-probe-for-profiling leaves in a binary.
 *
 * A probe is a place in the source (a block or a call of a function, by number) that the
 * compiler has put at an address of the code. It stands in a tree of inlined functions: a node
 * is one copy of a function's body, its parent the body that it was inlined into, its site the
 * call probe there. Opening a binary reads the descriptors and walks the probes once; an index is
 * then made from it and printed. Source: docs/formats/pseudo-probe.md. */
#ifndef PGOKIT_PROBE_H
#define PGOKIT_PROBE_H

#include "pgokit/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct pgk_probes;

/* Opens the ELF file at `path`. PGK_E_EMPTY without probe sections, PGK_E_TRUNCATED or
 * PGK_E_CORRUPT with section, offset and function for damaged ones. What was opened is
 * read-only: any number of threads may use it. */
int pgk_probes_open(struct pgk_probes **probes, const char *path, struct pgk_err *err);
/* Nulls the pointer; accepts NULL. Indexes made from it must be closed before. */
void pgk_probes_close(struct pgk_probes **probes);

/* What a binary has of probes. Does not grow. */
struct pgk_probes_totals {
    uint64_t desc_bytes, probe_bytes; /* sizes of the sections */
    uint64_t text_bytes;              /* of executable sections */
    uint64_t roots, nodes, probes;    /* located */
    uint64_t lost_roots, lost_probes; /* not located: removed by the linker, or no symbols */
    uint64_t outside;                 /* located probes with an address outside of the code */
};
/* Counts what the binary has. */
struct pgk_probes_totals pgk_probes_totals(const struct pgk_probes *probes);
/* 0, or PGK_E_MISMATCH and the first of what pgk_probes_totals counts as lost or outside. */
int pgk_probes_check(const struct pgk_probes *probes, struct pgk_err *err);

struct pgk_probe_index;

/* Decodes all probes: what pgk_probes_print_table() and pgk_probes_print_json() print. 16 bytes a
 * probe and 12 a node. PGK_E_CORRUPT for a function without descriptor. */
int pgk_probe_index_all(struct pgk_probe_index **index, const struct pgk_probes *probes,
                        struct pgk_err *err);
/* Nulls the pointer; accepts NULL. */
void pgk_probe_index_close(struct pgk_probe_index **index);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
