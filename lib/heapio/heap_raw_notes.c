/* Reading what pgokit's runtime adds to a raw heap profile. docs/formats/interrupted-heap.md */
#include "heap_raw_notes.h"

#include <inttypes.h>

enum {
    BYTES_u32 = 4,
    BYTES_u64 = 8,
    NOTES_BYTES = sizeof(struct pgk_raw_notes),
    BEGUN_BYTES = 0
#define PGK_BEGUN(name, type, meaning) +BYTES_##type
#include "heap_notes.def"
#undef PGK_BEGUN
};

/* The contexts begun lie between the segments and the notes. */
static int check_begun(struct pgk_cursor *c, uint32_t dump, uint64_t at, uint64_t segments_end,
                       const struct pgk_raw_notes *n, struct pgk_err *err)
{
    if (!n->begun_off || (n->begun_off >= segments_end && n->begun_off <= at &&
                          n->begun <= (at - n->begun_off) / BEGUN_BYTES))
        return 0;
    return pgk_cur_reject(c, err, PGK_E_CORRUPT,
                          c->src.base_off + at + offsetof(struct pgk_raw_notes, begun_off),
                          .record = PGK_F("dump %u, notes", dump), .field = "begun_off",
                          .found = PGK_F("%" PRIu64 " contexts from offset %" PRIu64, n->begun,
                                         n->begun_off),
                          .expected = PGK_F("%d bytes each, from %" PRIu64 " to %" PRIu64,
                                            BEGUN_BYTES, segments_end, at),
                          .hint = "record the profile again");
}

int pgk_raw_notes_read(struct pgk_cursor *c, uint32_t dump, uint64_t mib_off,
                       uint64_t segments_end, struct pgk_raw_notes *notes, struct pgk_err *err)
{
    struct pgk_raw_notes n = {0};
    *notes = n;
    if (c->failed || mib_off < segments_end + NOTES_BYTES)
        return 0;
    const uint64_t at = mib_off - NOTES_BYTES;
    pgk_cur_seek(c, c->src.base_off + at, "notes");
#define PGK_NOTE(name, meaning) n.name = pgk_cur_u64(c, #name);
#include "heap_notes.def"
#undef PGK_NOTE
    PGK_TRY(pgk_cur_check(c, err, PGK_F("dump %u, notes", dump)));
    if (n.magic != PGK_NOTES_MAGIC)
        return 0;
    PGK_TRY(check_begun(c, dump, at, segments_end, &n, err));
    *notes = n;
    return 0;
}

struct pgk_raw_begun pgk_raw_begun_read(struct pgk_cursor *c)
{
    struct pgk_raw_begun b;
#define PGK_BEGUN(name, type, meaning) b.name = pgk_cur_##type(c, #name);
#include "heap_notes.def"
#undef PGK_BEGUN
    return b;
}
