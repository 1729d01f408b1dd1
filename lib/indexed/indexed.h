/* Indexed profiles (.profdata): the container, its counters and its MemProf section.
 * docs/formats/indexed-heap.md, docs/formats/instr-indexed.md */
#ifndef PGK_INDEXED_H
#define PGK_INDEXED_H

#include "cursor.h"
#include "heap_model.h"
#include "instr_model.h"
#include "memprof_version.h"
#include "pgokit/format.h"
#include "sink.h"
#include "variant.h"

#define PGK_INDEXED_MAGIC UINT64_C(0x8169666f72706cff)

#include "indexed.def"

#define PGK_INDEX_OLDEST 1 /* that is read */
#define PGK_INDEX_FIRST 5  /* that is written */
#define PGK_INDEX_FIRST_HEAP 8
/* First release of LLVM that reads the index version; 0: no such version. */
uint32_t pgk_index_since(uint32_t version);

struct pgk_indexed_header {
    uint32_t index_version;
    uint64_t flags; /* the version word above bit 31 */
#define PGK_INDEXED_HEADER(name, first, meaning) uint64_t name;
#include "indexed.def"
#undef PGK_INDEXED_HEADER
};

struct pgk_indexed_info {
    uint32_t index_version, memprof_version;
    bool has_heap;         /* there is heap data; else memprof_version means nothing */
    uint32_t schema_tag_max; /* highest field tag stored */
    bool has_counters;     /* there are functions */
    bool has_data_access;  /* a data access profile */
    bool full_schema;      /* more than the fields the compiler uses */
};

/* Adds the heap data of an indexed profile to `h`. A file without any is fine and adds
 * nothing. Nothing points into `bytes` afterwards; on failure `h` is only good for
 * closing. */
PGK_MUST_USE int pgk_indexed_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                  const struct pgk_source *src, struct pgk_indexed_info *info,
                                  struct pgk_err *err);
/* The same of the contexts that concern functions, whose GUIDs are rising, into a new profile;
 * PGK_E_ARG if the file has to be read as a whole. */
PGK_MUST_USE int pgk_indexed_read_functions(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                            const struct pgk_source *src,
                                            const uint64_t *functions, size_t n,
                                            struct pgk_indexed_info *info, struct pgk_err *err);
/* Adds all but the heap data, to the adder's profile. */
PGK_MUST_USE int pgk_indexed_read_instr(struct pgk_instr_adder *a, const uint8_t *bytes,
                                        size_t size, const struct pgk_source *src,
                                        struct pgk_indexed_info *info, struct pgk_err *err);
/* The build ids, as pgk_file_build_ids gives them. */
PGK_MUST_USE int pgk_indexed_build_ids(const uint8_t *bytes, size_t size,
                                       const struct pgk_source *src, pgk_build_id_fn *fn,
                                       void *ctx, struct pgk_err *err);
/* True if the header says that there is heap data. */
bool pgk_indexed_has_heap(const uint8_t *bytes, size_t size);
/* True if the bytes are an indexed profile of which the heap data is the only content. */
bool pgk_indexed_is_heap_only(const uint8_t *bytes, size_t size);

/* instr_table.c: the parts of counters. `c` is at the end of the file's header. */
PGK_MUST_USE int pgk_instr_parts_read(struct pgk_instr_adder *a, const struct pgk_cursor *c,
                                      const struct pgk_indexed_header *header,
                                      struct pgk_err *err);
/* The build ids in the part at `off` of the file under the cursor; at 0 there is none. */
PGK_MUST_USE int pgk_instr_part_ids(const struct pgk_cursor *file, uint64_t off,
                                    pgk_build_id_fn *fn, void *ctx, struct pgk_err *err);
/* The summaries, which stand in front, and the table of functions; `p` may be NULL. */
PGK_MUST_USE int pgk_instr_table_write(const struct pgk_instr *p, struct pgk_sink *out,
                                       uint32_t index_version, uint64_t *table_off,
                                       struct pgk_err *err);
/* The parts after the heap data; stores their offsets in the header. */
PGK_MUST_USE int pgk_instr_rest_write(const struct pgk_instr *p, struct pgk_sink *out,
                                      struct pgk_indexed_header *header, struct pgk_err *err);
/* Counts the data of counters that a file of the version cannot hold, in a struct of zeros; returns
 * 0. */
int pgk_instr_parts_loss(const struct pgk_instr *p, uint32_t index_version,
                         struct pgk_instr_loss *loss, struct pgk_err *err);
/* A file of counters alone, which can be written, in this version. */
PGK_MUST_USE int pgk_indexed_write_instr(const struct pgk_instr *p, uint32_t index_version,
                                         struct pgk_sink *out, struct pgk_err *err);
/* The variant bits that a file of the version has. */
uint64_t pgk_instr_variant_bits(const struct pgk_instr *p, uint32_t index_version);

/* As pgk_indexed_read for a damaged file: function records that are not whole are reported to
 * `salvage` and left out. Fails where nothing can be read at all. */
struct pgk_salvage;
PGK_MUST_USE int pgk_indexed_salvage(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                     const struct pgk_source *src, struct pgk_salvage *salvage,
                                     struct pgk_indexed_info *info, struct pgk_err *err);

/* memprof_read.c: the section at `off` of the file under `c`. */
PGK_MUST_USE int pgk_memprof_read(struct pgk_heap *h, const struct pgk_cursor *c, uint64_t off,
                                  struct pgk_salvage *salvage, struct pgk_indexed_info *info,
                                  struct pgk_err *err);
/* The same of contexts that concern functions, whose GUIDs are rising, into a new model; the totals
 * of all are in `whole` of it. PGK_E_ARG for a version whose stacks are read as a whole. */
PGK_MUST_USE int pgk_memprof_read_functions(struct pgk_heap *h, const struct pgk_cursor *c,
                                            uint64_t off, const uint64_t *functions, size_t n,
                                            struct pgk_indexed_info *info, struct pgk_err *err);
/* data_access_part.c: under the cursor; after what is written so far. */
PGK_MUST_USE int pgk_data_access_read(struct pgk_heap *h, struct pgk_cursor *c,
                                      struct pgk_err *err);
PGK_MUST_USE int pgk_data_access_write(const struct pgk_heap *h, struct pgk_sink *out,
                                       struct pgk_err *err);
/* memprof_write.c */
PGK_MUST_USE int pgk_memprof_write(const struct pgk_heap *h, struct pgk_heap *taken,
                                   struct pgk_sink *out,
                                   const struct pgk_indexed_write_opts *opts, struct pgk_err *err);

#endif
