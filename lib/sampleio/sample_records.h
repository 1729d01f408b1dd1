/* Function records as the binary formats hold them.
 * docs/formats/sample-binary.md "Function records" */
#ifndef PGK_SAMPLE_RECORDS_H
#define PGK_SAMPLE_RECORDS_H

#include "cursor.h"
#include "sample_format.h"
#include "sample_stage.h"

/* Every number of these formats is a ULEB128, most of one byte and nearly all of four. After a
 * failure no bytes are left. */
static inline uint64_t pgk_sample_uleb(struct pgk_cursor *c, const char *field)
{
    const uint8_t *at = c->at;
    if (PGK_UNLIKELY(c->end - at < 4))
        return pgk_cur_uleb(c, field);
    if (at[0] < 0x80) {
        c->at = at + 1;
        return at[0];
    }
    if (at[1] < 0x80) {
        c->at = at + 2;
        return (at[0] & 0x7fu) | (uint64_t)at[1] << 7;
    }
    if (at[2] < 0x80) {
        c->at = at + 3;
        return (at[0] & 0x7fu) | (at[1] & 0x7fu) << 7 | (uint64_t)at[2] << 14;
    }
    if (at[3] < 0x80) {
        c->at = at + 4;
        return (at[0] & 0x7fu) | (at[1] & 0x7fu) << 7 | (at[2] & 0x7fu) << 14 |
               (uint64_t)at[3] << 21;
    }
    return pgk_cur_uleb(c, field);
}

/* The names of a file, by their index there: ids of the model. Where only few names will be
 * needed, ids are 0 until they are. */
enum pgk_lazy_names { PGK_LAZY_STRINGS, PGK_LAZY_GUIDS, PGK_LAZY_ULEB_GUIDS };
struct pgk_sample_name_table {
    PGK_VEC(uint32_t) ids;
    struct pgk_sample *lazy_into;  /* NULL: all ids are known */
    enum pgk_lazy_names lazy;      /* what stands at lazy_bytes + lazy_off.v[index]; GUIDS of eight
                                      bytes each stand at lazy_bytes without offsets */
    PGK_VEC(uint32_t) lazy_off;
    const uint8_t *lazy_bytes;
    bool indexed;             /* the names are spans, each in Eytzinger order */
    uint64_t span[PGK_SPANS]; /* names in each */
};

/* A lazy name: its GUID, or its `len` characters. */
uint64_t pgk_sample_lazy_guid(const struct pgk_sample_name_table *names, uint64_t i);
const char *pgk_sample_lazy_string(const struct pgk_sample_name_table *names, uint64_t i,
                                   size_t *len);

/* Passes over `n` numbers. */
void pgk_sample_skip_ulebs(struct pgk_cursor *c, uint64_t n);

struct pgk_record_reader {
    struct pgk_cursor *c;
    struct pgk_sample *p;
    struct pgk_sample_stage *stage;
    const struct pgk_sample_name_table *names;
    bool vtables;        /* records end with a vtable part */
    bool composite;      /* lines stand in blocks, and so do head samples */
};

/* A block of a composite record, of at most the bytes left: its type and size. */
PGK_MUST_USE int pgk_sample_read_block(struct pgk_cursor *c, uint64_t *type, uint64_t *size,
                                       struct pgk_err *err);

/* A table of `count` strings that end with NULs. */
PGK_MUST_USE int pgk_sample_read_strings(struct pgk_cursor *c, struct pgk_sample *p,
                                         struct pgk_sample_name_table *names,
                                         struct pgk_err *err);
/* Reads the rest of a top record, once head samples have been read and the stage started; of a
 * composite one head samples, too. */
PGK_MUST_USE int pgk_sample_read_record(struct pgk_record_reader *r, struct pgk_err *err);
/* A name index, as an id; 0 and a failure if it is out of range. */
PGK_MUST_USE int pgk_sample_read_name(struct pgk_cursor *c,
                                      const struct pgk_sample_name_table *names, const char *field,
                                      const char *record, uint32_t *id, struct pgk_err *err);
/* A frame of a context: name index and place. */
PGK_MUST_USE int pgk_sample_read_frame(struct pgk_cursor *c,
                                       const struct pgk_sample_name_table *names,
                                       struct pgk_sample_frame *frame, struct pgk_err *err);
/* A stored summary; its numbers are recomputed whenever they are needed. */
PGK_MUST_USE int pgk_sample_read_summary(struct pgk_cursor *c, struct pgk_sample_summary *summary,
                                         struct pgk_err *err);
/* The version after the magic number: 103 to `last`. */
PGK_MUST_USE int pgk_sample_read_version(struct pgk_cursor *c, uint32_t last, struct pgk_err *err);
/* First release of LLVM that reads the version; 0: no such version. */
uint32_t pgk_sample_version_since(uint64_t version);

#endif
