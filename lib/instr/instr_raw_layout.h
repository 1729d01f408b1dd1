/* The places of the fields of a raw instrumentation profile, by version and pointer size.
 * docs/formats/instr-raw.md */
#ifndef PGK_INSTR_RAW_LAYOUT_H
#define PGK_INSTR_RAW_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

/* The place of a field in its record; size 0: this version lacks it. */
struct pgk_raw_place {
    uint8_t off, size;
};

struct pgk_raw_record_layout {
#define PGK_INSTR_RECORD(name, type, first, meaning) struct pgk_raw_place name;
#include "instr_raw.def"
#undef PGK_INSTR_RECORD
    size_t bytes;
};

struct pgk_raw_vtable_layout {
#define PGK_INSTR_VTABLE(name, type, meaning) struct pgk_raw_place name;
#include "instr_raw.def"
#undef PGK_INSTR_VTABLE
    size_t bytes;
};

struct pgk_raw_header {
#define PGK_INSTR_HEADER(name, first, meaning) uint64_t name;
#include "instr_raw.def"
#undef PGK_INSTR_HEADER
};

/* The largest number that readers of a version take for a count of executions; most refuse a file
 * with a larger one. */
uint64_t pgk_raw_count_max(uint32_t version);

/* `pointer`: 4 or 8 bytes. */
struct pgk_raw_record_layout pgk_raw_record_layout(uint32_t version, unsigned pointer);
struct pgk_raw_vtable_layout pgk_raw_vtable_layout(unsigned pointer);

#endif
