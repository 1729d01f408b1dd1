/* Function records as the binary formats hold them.
 * docs/formats/sample-binary.md "Function records" */
#ifndef PGK_SAMPLE_RECORDS_H
#define PGK_SAMPLE_RECORDS_H

#include "cursor.h"
#include "sample_stage.h"

/* Every number of these formats is a ULEB128, most of one to three bytes; those of up to eight
 * are taken from one load, without a branch for each byte. After a failure no bytes are left. */
static inline uint64_t pgk_sample_uleb(struct pgk_cursor *c, const char *field)
{
    const uint64_t more = UINT64_C(0x8080808080808080);
    uint64_t v;
    if (PGK_UNLIKELY(c->end - c->at < (ptrdiff_t)sizeof v))
        return pgk_cur_uleb(c, field);
    memcpy(&v, c->at, sizeof v);
    if (!(v & 0x80)) {
        c->at++;
        return v & 0x7f;
    }
    uint64_t last = ~v & more; /* its lowest bit is in the last byte */
    if (PGK_UNLIKELY(!last))
        return pgk_cur_uleb(c, field);
    c->at += (__builtin_ctzll(last) + 1) / 8;
    v &= (last ^ (last - 1)) & ~more;
    v = (v & UINT64_C(0x007f007f007f007f)) | (v & UINT64_C(0x7f007f007f007f00)) >> 1;
    v = (v & UINT64_C(0x00003fff00003fff)) | (v & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (v & UINT64_C(0x0fffffff)) | (v >> 32 & UINT64_C(0x0fffffff)) << 28;
}

/* The names of a file, by their index there: ids of the model. Where only few names will be
 * needed, ids are 0 until they are. */
enum pgk_lazy_names { PGK_LAZY_STRINGS, PGK_LAZY_GUIDS, PGK_LAZY_ULEB_GUIDS };
struct pgk_sample_name_table {
    PGK_VEC(uint32_t) ids;
    struct pgk_sample *lazy_into;  /* NULL: all ids are known */
    enum pgk_lazy_names lazy;      /* what stands at lazy_bytes + lazy_off.v[index] */
    PGK_VEC(uint32_t) lazy_off;
    const uint8_t *lazy_bytes;
};

struct pgk_record_reader {
    struct pgk_cursor *c;
    struct pgk_sample *p;
    struct pgk_sample_stage *stage;
    const struct pgk_sample_name_table *names;
    bool vtables;        /* records end with a vtable part */
};

/* A table of `count` strings with NULs behind them. */
PGK_MUST_USE int pgk_sample_read_strings(struct pgk_cursor *c, struct pgk_sample *p,
                                         struct pgk_sample_name_table *names,
                                         struct pgk_err *err);
/* Head samples have been read and the stage begun: the rest of a top record. */
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
/* The version behind the magic number, which must be 103. */
PGK_MUST_USE int pgk_sample_read_version(struct pgk_cursor *c, struct pgk_err *err);

#endif
