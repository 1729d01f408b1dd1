/* Indexed profiles (.profdata): the container and its MemProf section.
 * docs/formats/indexed-heap.md */
#ifndef PGK_INDEXED_H
#define PGK_INDEXED_H

#include "cursor.h"
#include "heap_model.h"
#include "sink.h"

#define PGK_INDEXED_MAGIC UINT64_C(0x8169666f72706cff)

enum { PGK_INDEXED_FIRST = 8, PGK_INDEXED_LAST = 13 };
enum { PGK_MEMPROF_FIRST = 0, PGK_MEMPROF_LAST = 4 };

struct pgk_indexed_header {
    uint32_t index_version;
    uint64_t flags; /* the version word above bit 31 */
#define PGK_INDEXED_HEADER(name, first, meaning) uint64_t name;
#include "indexed.def"
#undef PGK_INDEXED_HEADER
};

enum pgk_indexed_flag {
#define PGK_INDEXED_FLAG(name, bit, meaning) PGK_INDEXED_##name = (bit),
#include "indexed.def"
#undef PGK_INDEXED_FLAG
};

struct pgk_indexed_info {
    uint32_t index_version, memprof_version;
    bool has_heap;         /* there is heap data; else memprof_version means nothing */
    uint32_t schema_tag_max; /* highest field tag stored */
    bool has_counters;     /* instrumentation counters, which are not carried yet */
    bool has_data_access;  /* a data access profile */
    bool full_schema;      /* more than the fields the compiler uses */
};

/* Adds the heap data of an indexed profile to `h`. A file without any is fine and adds
 * nothing. Nothing points into `bytes` afterwards; on failure `h` is only good for
 * closing. */
PGK_MUST_USE int pgk_indexed_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                  const struct pgk_source *src, struct pgk_indexed_info *info,
                                  struct pgk_err *err);

/* The same for a damaged file: function records that are not whole are told and passed over. Fails
 * where nothing can be read at all. */
struct pgk_salvage;
PGK_MUST_USE int pgk_indexed_salvage(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                     const struct pgk_source *src, struct pgk_salvage *salvage,
                                     struct pgk_indexed_info *info, struct pgk_err *err);

/* memprof_read.c: the section at `off` of the file under `c`. */
PGK_MUST_USE int pgk_memprof_read(struct pgk_heap *h, const struct pgk_cursor *c, uint64_t off,
                                  struct pgk_salvage *salvage, struct pgk_indexed_info *info,
                                  struct pgk_err *err);
/* data_access_part.c: under the cursor; after what is written so far. */
PGK_MUST_USE int pgk_data_access_read(struct pgk_heap *h, struct pgk_cursor *c,
                                      struct pgk_err *err);
PGK_MUST_USE int pgk_data_access_write(const struct pgk_heap *h, struct pgk_sink *out,
                                       struct pgk_err *err);
/* memprof_write.c */
PGK_MUST_USE int pgk_memprof_write(const struct pgk_heap *h, struct pgk_sink *out,
                                   const struct pgk_indexed_write_opts *opts, struct pgk_err *err);

#endif
