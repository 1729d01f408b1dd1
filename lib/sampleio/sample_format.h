/* Shared by readers and writers of the encodings: magic numbers, sections, flags.
 * docs/formats/sample-binary.md */
#ifndef PGK_SAMPLE_FORMAT_H
#define PGK_SAMPLE_FORMAT_H

#include "sample_versions.def"

#include <stdint.h>

/* The first nine bytes: "SPROF42" and one more byte as a ULEB128. */
enum { PGK_SAMPLE_MAGIC_BYTES = 9 };
#define PGK_SAMPLE_MAGIC(last) (UINT64_C(0x5350524f46343200) | (last))
#define PGK_SAMPLE_MAGIC_BINARY PGK_SAMPLE_MAGIC(0xff)
#define PGK_SAMPLE_MAGIC_EXT PGK_SAMPLE_MAGIC(0x04)
#define PGK_SAMPLE_MAGIC_COMPACT PGK_SAMPLE_MAGIC(0x02)
#define PGK_SAMPLE_GCC_MAGIC "adcg"

/* Sections of the extensible binary: name here, number in files, name for people. */
#define PGK_SAMPLE_SECTIONS(X)                        \
    X(SUMMARY, 1, "summary")                          \
    X(NAMES, 2, "name table")                         \
    X(SYMBOLS, 3, "symbol list")                      \
    X(OFFSETS, 4, "function offset table")            \
    X(METADATA, 5, "function metadata")               \
    X(CONTEXTS, 6, "context table")                   \
    X(COMPOSITE_OFFSETS, 7, "composite offset table") \
    X(PROFILES, 32, "profiles")                       \
    X(COMPOSITE, 33, "composite profiles")

enum pgk_sample_section {
#define X(name, number, text) PGK_SEC_##name = (number),
    PGK_SAMPLE_SECTIONS(X)
#undef X
};

/* Flags: the low half means the same in every section. */
#define PGK_SECF_COMPRESSED (UINT64_C(1) << 0)
#define PGK_SECF_FLAT (UINT64_C(1) << 1)
#define PGK_SECF_NAMES_MD5 (UINT64_C(1) << 32)
#define PGK_SECF_NAMES_FIXED (UINT64_C(1) << 33)
#define PGK_SECF_NAMES_UNIQ (UINT64_C(1) << 34)
#define PGK_SECF_NAMES_INDEXED (UINT64_C(1) << 35)
#define PGK_SECF_SYMBOLS_GUIDS (UINT64_C(1) << 32)
#define PGK_SECF_SUMMARY_PARTIAL (UINT64_C(1) << 32)
#define PGK_SECF_SUMMARY_CONTEXTS (UINT64_C(1) << 33)
#define PGK_SECF_SUMMARY_FS (UINT64_C(1) << 34)
#define PGK_SECF_SUMMARY_PREINLINED (UINT64_C(1) << 36)
#define PGK_SECF_SUMMARY_VTABLES (UINT64_C(1) << 37)
#define PGK_SECF_METADATA_CHECKSUMS (UINT64_C(1) << 32)
#define PGK_SECF_METADATA_ATTRIBUTES (UINT64_C(1) << 33)
#define PGK_SECF_OFFSETS_ORDERED (UINT64_C(1) << 32)
#define PGK_SECF_OFFSETS_INDEXED (UINT64_C(1) << 33)

/* Spans of an indexed name table: functions with a profile of their own, those of the flat half of
 * a split layout, and other names. */
enum { PGK_SPAN_TOP, PGK_SPAN_FLAT, PGK_SPAN_OTHER, PGK_SPANS };
/* In an indexed offset table: the function has no record. */
#define PGK_NO_RECORD UINT32_MAX
/* The one type of block of a composite profile that is known: lines and calls. */
enum { PGK_BLOCK_LINES = 0 };

#endif
