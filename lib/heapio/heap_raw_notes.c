/* Reading the notes of pgokit's runtime in a raw heap profile. docs/formats/interrupted-heap.md */
#include "heap_raw_notes.h"

#include <inttypes.h>

enum {
    END_BYTES = sizeof(struct pgk_notes_end),
    PART_BYTES = sizeof(struct pgk_notes_part),
    UNRELEASED_BYTES = 64, /* of the notes of runtimes before 0.1.0, which began with the magic */
    FLAGS_KNOWN = 0
#define PGK_NOTES_FLAG(name, value, meaning) | (value)
#include "heap_notes.def"
#undef PGK_NOTES_FLAG
};

/* What this version knows of a part. */
struct known_part {
    const char *name, *field;
    uint16_t tag;
    uint64_t least, record;
};
static const struct known_part known_parts[PGK_NOTES_PARTS] = {
#define PGK_NOTES_PART(name, tag, needed, least, record, meaning) \
    [PGK_NOTES_##name] = {#name, "part " #name, tag, least, record},
#include "heap_notes.def"
#undef PGK_NOTES_PART
};
_Static_assert(sizeof(struct pgk_raw_breakdown) == 400 && sizeof(struct pgk_raw_life) == 96 &&
                   sizeof(struct pgk_heap_point) == 40 && sizeof(struct pgk_raw_sample) == 48,
               "records as heap_notes.def has them");

/* The notes under way: where they are, for messages. */
struct notes_reader {
    struct pgk_cursor *c;
    const char *record;
    uint64_t list, end, segments_end; /* from the start of the dump on */
    struct pgk_err *err;
};

static int reject(const struct notes_reader *r, uint64_t at, int status, const char *field,
                  const char *found, const char *expected, const char *hint)
{
    return pgk_cur_reject(r->c, r->err, status, r->c->src.base_off + at, .record = r->record,
                          .field = field, .found = found, .expected = expected, .hint = hint);
}

#define AGAIN "record the profile again"
#define NEWER "it is newer than this pgokit: use that one, or a newer one"

static uint64_t u64_at(struct pgk_cursor *c, uint64_t at, const char *field)
{
    pgk_cur_seek(c, c->src.base_off + at, field);
    return pgk_cur_u64(c, field);
}

/* It lies between the segments and the list of parts. Its records have a size. */
static int check_place(const struct notes_reader *r, uint64_t at, const char *field,
                       const struct pgk_notes_part *p)
{
    if (p->off >= r->segments_end && p->off <= r->list &&
        p->records <= (r->list - p->off) / p->size)
        return 0;
    return reject(r, at, PGK_E_CORRUPT, field,
                  PGK_F("%" PRIu64 " records of %" PRIu64 " bytes from offset %" PRIu64,
                        p->records, p->size, p->off),
                  PGK_F("records between the segments, which end at %" PRIu64
                        ", and the list of parts at %" PRIu64, r->segments_end, r->list), AGAIN);
}

static int check_known(const struct notes_reader *r, uint64_t at, const struct known_part *k,
                       const struct pgk_notes_part *p)
{
    if (p->size < k->least)
        return reject(r, at, PGK_E_CORRUPT, k->field,
                      PGK_F("records of %" PRIu64 " bytes", p->size),
                      PGK_F("%" PRIu64 " bytes at least", k->least), AGAIN);
    return 0;
}

/* Parts of runtimes to come are left out, but for those without which the others mislead. */
static int add_part(const struct notes_reader *r, uint64_t at, const struct pgk_notes_part *p,
                    struct pgk_raw_notes *notes)
{
    const struct known_part *k = known_parts;
    while (k < known_parts + PGK_NOTES_PARTS && k->tag != p->tag)
        k++;
    const bool known = k < known_parts + PGK_NOTES_PARTS && p->version == 1;
    if (!known)
        return p->needed ? reject(r, at, PGK_E_VERSION, "part",
                                  PGK_F("part %u, version %u", (unsigned)p->tag,
                                        (unsigned)p->version),
                                  "parts that this pgokit knows", NEWER)
                         : 0;
    if (!p->records && !p->off)
        return 0;
    PGK_TRY(check_known(r, at, k, p));
    PGK_TRY(check_place(r, at, k->field, p));
    notes->part[k - known_parts] = *p;
    return 0;
}

static int read_list(const struct notes_reader *r, uint64_t parts, struct pgk_raw_notes *notes)
{
    for (uint64_t i = 0; i < parts; i++) {
        const uint64_t at = r->list + i * PART_BYTES;
        struct pgk_notes_part p;
        pgk_cur_seek(r->c, r->c->src.base_off + at, "parts");
        p.tag = pgk_cur_u16(r->c, "tag");
        p.needed = pgk_cur_u16(r->c, "needed");
        p.version = pgk_cur_u32(r->c, "version");
        p.off = pgk_cur_u64(r->c, "off");
        p.size = pgk_cur_u64(r->c, "size");
        p.records = pgk_cur_u64(r->c, "records");
        PGK_TRY(pgk_cur_check(r->c, r->err, r->record));
        PGK_TRY(add_part(r, at, &p, notes));
    }
    return 0;
}

static int read_facts(const struct notes_reader *r, struct pgk_raw_notes *notes)
{
    if (pgk_raw_part_open(r->c, notes, PGK_NOTES_FACTS) != 1)
        return reject(r, r->end, PGK_E_CORRUPT, "part FACTS",
                      PGK_F("%" PRIu64 " records", notes->part[PGK_NOTES_FACTS].records), "one",
                      AGAIN);
    uint64_t left = notes->part[PGK_NOTES_FACTS].size / sizeof(uint64_t);
#define PGK_FACT(name, meaning) \
    if (left && left--)         \
        notes->name = pgk_cur_u64(r->c, #name);
#include "heap_notes.def"
#undef PGK_FACT
    PGK_TRY(pgk_cur_check(r->c, r->err, r->record));
    if (notes->flags & ~(uint64_t)FLAGS_KNOWN)
        return reject(r, notes->part[PGK_NOTES_FACTS].off, PGK_E_VERSION, "flags",
                      PGK_F("0x%" PRIx64, notes->flags), PGK_F("bits of 0x%x", FLAGS_KNOWN),
                      NEWER);
    return 0;
}

/* Notes of runtimes before 0.1.0 are refused by name, as what they say would be lost. */
static int refuse_unreleased(const struct notes_reader *r)
{
    if (r->end + END_BYTES < r->segments_end + UNRELEASED_BYTES)
        return 0;
    const uint64_t at = r->end + END_BYTES - UNRELEASED_BYTES;
    const uint64_t magic = u64_at(r->c, at, "notes");
    PGK_TRY(pgk_cur_check(r->c, r->err, r->record));
    return magic == PGK_NOTES_MAGIC
               ? reject(r, at, PGK_E_VERSION, "version", "notes before version 1",
                        PGK_F("version %d", PGK_NOTES_VERSION),
                        "written by an unreleased pgokit; record again")
               : 0;
}

int pgk_raw_notes_read(struct pgk_cursor *c, uint32_t dump, uint64_t mib_off,
                       uint64_t segments_end, struct pgk_raw_notes *notes, struct pgk_err *err)
{
    struct pgk_raw_notes n = {0};
    *notes = n;
    if (c->failed || mib_off < segments_end + END_BYTES)
        return 0;
    struct notes_reader r = {.c = c, .record = PGK_F("dump %u, notes", dump),
                             .end = mib_off - END_BYTES, .segments_end = segments_end,
                             .err = err};
    pgk_cur_seek(c, c->src.base_off + r.end, "notes");
    const uint64_t parts = pgk_cur_u64(c, "parts"), version = pgk_cur_u64(c, "version"),
                   magic = pgk_cur_u64(c, "magic");
    PGK_TRY(pgk_cur_check(c, err, r.record));
    if (magic != PGK_NOTES_MAGIC)
        return refuse_unreleased(&r);
    if (version != PGK_NOTES_VERSION)
        return reject(&r, r.end + offsetof(struct pgk_notes_end, version), PGK_E_VERSION,
                      "version", PGK_F("%" PRIu64, version), PGK_F("%d", PGK_NOTES_VERSION),
                      NEWER);
    if (parts > (r.end - segments_end) / PART_BYTES)
        return reject(&r, r.end, PGK_E_CORRUPT, "parts", PGK_F("%" PRIu64, parts),
                      PGK_F("at most %" PRIu64 ", of %d bytes each",
                            (r.end - segments_end) / PART_BYTES, PART_BYTES), AGAIN);
    r.list = r.end - parts * PART_BYTES;
    n.there = true;
    PGK_TRY(read_list(&r, parts, &n));
    PGK_TRY(read_facts(&r, &n));
    *notes = n;
    return 0;
}

uint64_t pgk_raw_part_open(struct pgk_cursor *c, const struct pgk_raw_notes *notes,
                           enum pgk_notes_parts part)
{
    const struct pgk_notes_part *p = &notes->part[part];
    if (p->records)
        pgk_cur_seek(c, c->src.base_off + p->off, known_parts[part].field);
    return p->records;
}

/* Fields that a newer runtime has added. */
static void leave_record(struct pgk_cursor *c, const struct pgk_raw_notes *notes,
                         enum pgk_notes_parts part)
{
    const uint64_t more = notes->part[part].size - known_parts[part].record;
    if (more)
        pgk_cur_take(c, more, known_parts[part].field);
}

static struct pgk_raw_touched touched_read(struct pgk_cursor *c)
{
    struct pgk_raw_touched use;
#define PGK_TOUCHED(name, meaning) use.name = pgk_cur_u64(c, #name);
#include "heap_notes.def"
#undef PGK_TOUCHED
    return use;
}

struct pgk_raw_allocated pgk_raw_allocated_read(struct pgk_cursor *c,
                                                const struct pgk_raw_notes *notes)
{
    struct pgk_raw_allocated a;
#define PGK_ALLOCATED(name, type, meaning) a.name = pgk_cur_##type(c, #name);
#include "heap_notes.def"
#undef PGK_ALLOCATED
    a.use = touched_read(c);
    leave_record(c, notes, PGK_NOTES_ALLOCATED);
    return a;
}

struct pgk_raw_life pgk_raw_life_read(struct pgk_cursor *c, const struct pgk_raw_notes *notes)
{
    struct pgk_raw_life life;
#define PGK_LIFE(name, meaning) life.name = pgk_cur_u64(c, #name);
#include "heap_notes.def"
#undef PGK_LIFE
    life.use = touched_read(c);
#define PGK_UNREACHABLE(name, meaning) life.lost.name = pgk_cur_u64(c, "unreachable " #name);
#include "heap_notes.def"
#undef PGK_UNREACHABLE
    leave_record(c, notes, PGK_NOTES_LIVES);
    return life;
}

struct pgk_heap_point pgk_raw_point_read(struct pgk_cursor *c, const struct pgk_raw_notes *notes)
{
    struct pgk_heap_point p;
#define PGK_POINT(name, meaning) p.name = pgk_cur_u64(c, #name);
#include "heap_notes.def"
#undef PGK_POINT
    leave_record(c, notes, PGK_NOTES_SERIES);
    return p;
}

struct pgk_raw_sample pgk_raw_sample_read(struct pgk_cursor *c, const struct pgk_raw_notes *notes)
{
    struct pgk_raw_sample s;
#define PGK_SAMPLE(name, meaning) s.name = pgk_cur_u64(c, #name);
#include "heap_notes.def"
#undef PGK_SAMPLE
    leave_record(c, notes, PGK_NOTES_SAMPLES);
    return s;
}

uint64_t pgk_raw_cut_read(struct pgk_cursor *c, const struct pgk_raw_notes *notes)
{
    const uint64_t id = pgk_cur_u64(c, "stack id");
    leave_record(c, notes, PGK_NOTES_CUT);
    return id;
}

int pgk_raw_breakdown_read(struct pgk_cursor *c, const struct pgk_raw_notes *notes,
                           const char *record, struct pgk_raw_breakdown *b, struct pgk_err *err)
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
    leave_record(c, notes, PGK_NOTES_BREAKDOWNS);
    PGK_TRY(pgk_cur_check(c, err, record));
    if (b->shares <= PGK_SHARES_MAX)
        return 0;
    return pgk_cur_reject(c, err, PGK_E_CORRUPT, off - sizeof b->shares, .record = record,
                          .field = "shares", .found = PGK_F("%" PRIu64, b->shares),
                          .expected = PGK_F("%d at most", PGK_SHARES_MAX), .hint = AGAIN);
}
