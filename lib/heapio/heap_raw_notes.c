/* Reading what pgokit's runtime adds to a raw heap profile. docs/formats/interrupted-heap.md */
#include "heap_raw_notes.h"

#include <inttypes.h>

enum {
    BYTES_u32 = 4,
    BYTES_u64 = 8,
    NOTES_BYTES = sizeof(struct pgk_raw_notes),
    TIMES_BYTES = 0
#define PGK_TIME(name, meaning) +BYTES_u64
#include "heap_notes.def"
#undef PGK_TIME
    ,
    BREAKDOWN_BYTES = sizeof(struct pgk_raw_breakdown),
    POINT_BYTES = sizeof(struct pgk_heap_point),
    TOUCHED_BYTES = sizeof(struct pgk_raw_touched),
    UNREACHABLE_BYTES = sizeof(struct pgk_raw_unreachable),
    LIFE_BYTES = sizeof(struct pgk_raw_life) - TOUCHED_BYTES - UNREACHABLE_BYTES,
    BEGUN_BYTES = 0
#define PGK_BEGUN(name, type, meaning) +BYTES_##type
#include "heap_notes.def"
#undef PGK_BEGUN
    ,
    BEGUN_TIMES_BYTES = BEGUN_BYTES
#define PGK_BEGUN_TIMES(name, type, meaning) +BYTES_##type
#include "heap_notes.def"
#undef PGK_BEGUN_TIMES
};
_Static_assert(BEGUN_BYTES == 32 && BEGUN_TIMES_BYTES == 64, "docs/formats/interrupted-heap.md");
_Static_assert(POINT_BYTES == 0
#define PGK_POINT(name, meaning) +8
#include "heap_notes.def"
#undef PGK_POINT
               , "a point of the public API is one of the file");

/* A table that two consecutive fields of the notes or the times describe. */
struct table {
    const char *field; /* the offset, */
    uint64_t field_at; /* which stands here in the dump */
    const char *what;
    uint64_t off, n;
    int bytes;
};

/* It lies between the segments and the fields that describe it. */
static int check_table(struct pgk_cursor *c, uint32_t dump, const char *record,
                       const struct table *t, uint64_t begin, uint64_t end, struct pgk_err *err)
{
    if (!t->off ||
        (t->off >= begin && t->off <= end && t->n <= (end - t->off) / (uint64_t)t->bytes))
        return 0;
    return pgk_cur_reject(c, err, PGK_E_CORRUPT, c->src.base_off + t->field_at,
                          .record = PGK_F("dump %u, %s", dump, record), .field = t->field,
                          .found = PGK_F("%" PRIu64 " %s from offset %" PRIu64, t->n, t->what,
                                         t->off),
                          .expected = PGK_F("%d bytes each, from %" PRIu64 " to %" PRIu64,
                                            t->bytes, begin, end),
                          .hint = "record the profile again");
}

static int times_bytes(uint64_t flags)
{
    if (!(flags & PGK_NOTE_TIMES))
        return 0;
    return flags & PGK_NOTE_BREAKDOWNS ? (int)sizeof(struct pgk_raw_times) : TIMES_BYTES;
}

/* The fields about touched bytes come last in their record. */
static int touched_bytes(uint64_t flags)
{
    return flags & PGK_NOTE_TOUCHED ? TOUCHED_BYTES : 0;
}

/* A context over time in the file. */
static int life_bytes(uint64_t flags)
{
    return LIFE_BYTES + touched_bytes(flags) +
           (flags & PGK_NOTE_UNREACHABLE ? UNREACHABLE_BYTES : 0);
}

static struct pgk_raw_touched touched_read(struct pgk_cursor *c, uint64_t flags)
{
    struct pgk_raw_touched use = {0};
    if (!(flags & PGK_NOTE_TOUCHED))
        return use;
#define PGK_TOUCHED(name, meaning) use.name = pgk_cur_u64(c, #name);
#include "heap_notes.def"
#undef PGK_TOUCHED
    return use;
}

/* Whether times fit in front of the notes, which are `at`. */
static int check_room(struct pgk_cursor *c, uint32_t dump, uint64_t flags, uint64_t at,
                      uint64_t segments_end, struct pgk_err *err)
{
    if (at >= segments_end + (uint64_t)times_bytes(flags))
        return 0;
    return pgk_cur_reject(c, err, PGK_E_CORRUPT,
                          c->src.base_off + at + offsetof(struct pgk_raw_notes, flags),
                          .record = PGK_F("dump %u, notes", dump), .field = "flags",
                          .found = PGK_F("times, in %" PRIu64 " bytes", at - segments_end),
                          .expected = PGK_F("%d bytes between segments and notes",
                                            times_bytes(flags)),
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
    const int times = times_bytes(n.flags);
    const struct table begun = {"begun_off", at + offsetof(struct pgk_raw_notes, begun_off),
                                "contexts", n.begun_off, n.begun,
                                times ? BEGUN_TIMES_BYTES + touched_bytes(n.flags)
                                      : BEGUN_BYTES};
    if (times)
        PGK_TRY(check_room(c, dump, n.flags, at, segments_end, err));
    PGK_TRY(check_table(c, dump, "notes", &begun, segments_end, at - (uint64_t)times, err));
    *notes = n;
    return 0;
}

int pgk_raw_times_read(struct pgk_cursor *c, uint32_t dump, uint64_t flags, uint64_t mib_off,
                       uint64_t segments_end, struct pgk_raw_times *times, struct pgk_err *err)
{
    const uint64_t at = mib_off - NOTES_BYTES - (uint64_t)times_bytes(flags);
    uint64_t fields_at = at;
    pgk_cur_seek(c, c->src.base_off + at, "times");
    *times = (struct pgk_raw_times){0};
    if (flags & PGK_NOTE_BREAKDOWNS) {
#define PGK_TIME_BREAKDOWNS(name, meaning) times->name = pgk_cur_u64(c, #name);
#include "heap_notes.def"
#undef PGK_TIME_BREAKDOWNS
    } else {
        fields_at -= offsetof(struct pgk_raw_times, series_off);
    }
#define PGK_TIME(name, meaning) times->name = pgk_cur_u64(c, #name);
#include "heap_notes.def"
#undef PGK_TIME
    PGK_TRY(pgk_cur_check(c, err, PGK_F("dump %u, times", dump)));
    const struct table tables[] = {
        {"breakdowns_off", fields_at + offsetof(struct pgk_raw_times, breakdowns_off),
         "breakdowns", times->breakdowns_off, times->breakdowns, BREAKDOWN_BYTES},
        {"series_off", fields_at + offsetof(struct pgk_raw_times, series_off), "points",
         times->series_off, times->points, POINT_BYTES},
        {"lives_off", fields_at + offsetof(struct pgk_raw_times, lives_off), "contexts",
         times->lives_off, times->lives, life_bytes(flags)},
    };
    for (size_t i = 0; i < PGK_COUNTOF(tables); i++)
        PGK_TRY(check_table(c, dump, "times", &tables[i], segments_end, at, err));
    return 0;
}

struct pgk_raw_begun pgk_raw_begun_read(struct pgk_cursor *c, uint64_t flags)
{
    struct pgk_raw_begun b = {0};
#define PGK_BEGUN(name, type, meaning) b.name = pgk_cur_##type(c, #name);
#include "heap_notes.def"
#undef PGK_BEGUN
    if (!(flags & PGK_NOTE_TIMES))
        return b;
#define PGK_BEGUN_TIMES(name, type, meaning) b.name = pgk_cur_##type(c, #name);
#include "heap_notes.def"
#undef PGK_BEGUN_TIMES
    b.use = touched_read(c, flags);
    return b;
}

struct pgk_raw_life pgk_raw_life_read(struct pgk_cursor *c, uint64_t flags)
{
    struct pgk_raw_life life = {0};
#define PGK_LIFE(name, meaning) life.name = pgk_cur_u64(c, #name);
#include "heap_notes.def"
#undef PGK_LIFE
    life.use = touched_read(c, flags);
    if (!(flags & PGK_NOTE_UNREACHABLE))
        return life;
#define PGK_UNREACHABLE(name, meaning) life.lost.name = pgk_cur_u64(c, "unreachable " #name);
#include "heap_notes.def"
#undef PGK_UNREACHABLE
    return life;
}

struct pgk_heap_point pgk_raw_point_read(struct pgk_cursor *c)
{
    struct pgk_heap_point p;
#define PGK_POINT(name, meaning) p.name = pgk_cur_u64(c, #name);
#include "heap_notes.def"
#undef PGK_POINT
    return p;
}

int pgk_raw_breakdown_read(struct pgk_cursor *c, const char *record, struct pgk_raw_breakdown *b,
                           struct pgk_err *err)
{
#define PGK_BREAKDOWN(name, meaning) b->name = pgk_cur_u64(c, #name);
#include "heap_notes.def"
#undef PGK_BREAKDOWN
    const uint64_t off = pgk_cur_off(c);
    for (size_t i = 0; i < PGK_SHARES_MAX; i++) {
#define PGK_SHARE(name, meaning) b->of[i].name = pgk_cur_u64(c, #name);
#include "heap_notes.def"
#undef PGK_SHARE
    }
    PGK_TRY(pgk_cur_check(c, err, record));
    if (b->shares <= PGK_SHARES_MAX)
        return 0;
    return pgk_cur_reject(c, err, PGK_E_CORRUPT, off - sizeof b->shares, .record = record,
                          .field = "shares", .found = PGK_F("%" PRIu64, b->shares),
                          .expected = PGK_F("%d at most", PGK_SHARES_MAX),
                          .hint = "record the profile again");
}
