/* How the notes of a raw heap profile lie in the file: what the runtime writes and the library
 * reads. docs/formats/interrupted-heap.md */
#ifndef PGK_RECORDS_HEAP_NOTES_H
#define PGK_RECORDS_HEAP_NOTES_H

#include <stdint.h>

#include "heap_notes.def"

/* A part: `records` of `size` bytes each, from `off` of the dump on. */
struct pgk_notes_part {
    uint16_t tag, needed;
    uint32_t version;
    uint64_t off, size, records;
};

/* The last bytes in front of the MIB section. In front of them stands the list of parts. */
struct pgk_notes_end {
    uint64_t parts, version, magic;
};

enum pgk_notes_parts {
#define PGK_NOTES_PART(name, tag, needed, least, record, meaning) PGK_NOTES_##name,
#include "heap_notes.def"
#undef PGK_NOTES_PART
    PGK_NOTES_PARTS
};

#endif
