/* The places of the fields of a raw instrumentation profile. */
#include "instr_raw_layout.h"

/* Types of the rows, as sizes in bytes. */
enum { u32 = 4, u64 = 8, u16 = 2, ptr = 0 };

static struct pgk_raw_place place_field(size_t *at, unsigned size)
{
    *at = (*at + size - 1) & ~(size_t)(size - 1);
    struct pgk_raw_place p = {(uint8_t)*at, (uint8_t)size};
    *at += size;
    return p;
}

uint64_t pgk_raw_count_max(uint32_t version)
{
    switch (version) {
#define PGK_INSTR_RAW_VERSION(number, hashes, counts, since, until) \
    case number:                                                    \
        return counts;
#include "instr_raw.def"
#undef PGK_INSTR_RAW_VERSION
    }
    return UINT64_MAX;
}

struct pgk_raw_record_layout pgk_raw_record_layout(uint32_t version, unsigned pointer)
{
    struct pgk_raw_record_layout l = {0};
#define PGK_INSTR_RECORD(name, type, first, meaning) \
    if (version >= (first))                          \
        l.name = place_field(&l.bytes, (type) ? (unsigned)(type) : pointer);
#include "instr_raw.def"
#undef PGK_INSTR_RECORD
    l.bytes = (l.bytes + 7) & ~(size_t)7;
    return l;
}

struct pgk_raw_vtable_layout pgk_raw_vtable_layout(unsigned pointer)
{
    struct pgk_raw_vtable_layout l = {0};
#define PGK_INSTR_VTABLE(name, type, meaning) \
    l.name = place_field(&l.bytes, (type) ? (unsigned)(type) : pointer);
#include "instr_raw.def"
#undef PGK_INSTR_VTABLE
    l.bytes = (l.bytes + 7) & ~(size_t)7;
    return l;
}
