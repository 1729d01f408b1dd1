/* Salvage of raw heap profiles: the records that are whole, as a sound profile.
 *
 * A dump is header, segments, MIBs and stacks. Where one section ends too early the next one is
 * still found through the header; where a header is damaged the next dump is found by its magic. A
 * MIB is worth keeping if its stack is. */
#include "hash.h"
#include "heap_raw.h"
#include "heap_raw_notes.h"
#include "salvage.h"

#include <inttypes.h>
#include <stdlib.h>

/* A record of the file: where, and how many bytes. */
struct piece {
    uint64_t id; /* of the stack */
    uint64_t off, size;
    size_t dump;
    size_t last_dump; /* of the first stack of an id: the last dump that has it */
};

struct dump {
    const struct pgk_raw_version *version;
    struct piece segments; /* all whole ones in a row */
    uint64_t n_segments;
    size_t n_mibs, n_stacks; /* that are kept */
};

struct salvage {
    const uint8_t *bytes;
    size_t size;
    struct pgk_salvage *report;
    PGK_VEC(struct dump) dumps;
    PGK_VEC(struct piece) mibs;
    PGK_VEC(struct piece) stacks;
    struct pgk_index stack_by_id; /* the first one of an id */
};

static uint64_t u64_at(const struct salvage *s, uint64_t off)
{
    uint64_t v = 0;
    if (off <= s->size && s->size - off >= sizeof v)
        memcpy(&v, s->bytes + off, sizeof v);
    return v;
}

static bool is_magic(const struct salvage *s, uint64_t off)
{
    return s->size - off >= sizeof(struct pgk_heap_raw_header) &&
           u64_at(s, off) == PGK_HEAP_RAW_MAGIC;
}

/* The start of the next dump, or the end of the file. Dumps are multiples of 8 bytes. */
static uint64_t next_dump(const struct salvage *s, uint64_t off)
{
    const uint64_t magic = PGK_HEAP_RAW_MAGIC;
    while (off < s->size) {
        const uint8_t *at = memmem(s->bytes + off, s->size - off, &magic, sizeof magic);
        if (!at)
            break;
        off = (uint64_t)(at - s->bytes);
        if (is_magic(s, off))
            return off;
        off++;
    }
    return s->size;
}

static uint64_t histogram_bytes(const struct salvage *s, const struct pgk_raw_version *v,
                                const struct pgk_raw_mib *layout, uint64_t mib)
{
    uint32_t elements = 0;
    for (size_t i = 0; i < layout->count; i++)
        if (layout->fields[i].id == PGK_MIB_AccessHistogramSize)
            memcpy(&elements, s->bytes + mib + layout->fields[i].off, sizeof elements);
    return elements * (uint64_t)pgk_raw_element_size(v->element);
}

static void count_lost(struct salvage *s, size_t dump, const char *what, uint64_t stated,
                       uint64_t found, uint64_t off)
{
    if (found < stated)
        pgk_salvage_say(s->report, "dump %zu: %" PRIu64 " of %" PRIu64 " %s, from offset 0x%" PRIx64
                        " on", dump + 1, stated - found, stated, what, off);
}

static void scan_segments(struct salvage *s, struct dump *d, uint64_t off, uint64_t end)
{
    size_t size = pgk_raw_segment_size(d->version);
    if (off > end || end - off < 8) {
        pgk_salvage_say(s->report, "dump %zu: all segments; addresses lie in no module now",
                        s->dumps.n + 1);
        return;
    }
    uint64_t stated = u64_at(s, off), at = off + 8;
    d->segments.off = at;
    for (; d->n_segments < stated && end - at >= size; at += size, d->n_segments++)
        if (u64_at(s, at + 8) < u64_at(s, at) ||
            (pgk_raw_has_build_ids(d->version) && u64_at(s, at + 24) > PGK_HEAP_RAW_ID_MAX))
            break;
    d->segments.size = d->n_segments * size;
    count_lost(s, s->dumps.n, "segments", stated, d->n_segments, at);
}

static bool scan_mibs(struct salvage *s, const struct dump *d, uint64_t off, uint64_t end)
{
    const struct pgk_raw_mib layout = pgk_raw_mib(d->version);
    const size_t fixed = 8 + layout.size;
    if (off > end || end - off < 8) {
        pgk_salvage_say(s->report, "dump %zu: all MIBs", s->dumps.n + 1);
        return true;
    }
    uint64_t stated = u64_at(s, off), at = off + 8, found = 0;
    for (; found < stated && end - at >= fixed; found++) {
        struct piece p = {.id = u64_at(s, at), .off = at, .dump = s->dumps.n};
        p.size = fixed + histogram_bytes(s, d->version, &layout, at + 8);
        if (p.size > end - at)
            break;
        if (!pgk_vec_push(&s->mibs, p))
            return false;
        at += p.size;
    }
    count_lost(s, s->dumps.n, "MIBs", stated, found, at);
    return true;
}

static struct piece *find_stack(const struct salvage *s, uint64_t id)
{
    PGK_INDEX_FOR (&s->stack_by_id, pgk_hash_u64(id), i)
        if (s->stacks.v[i].id == id)
            return &s->stacks.v[i];
    return NULL;
}

/* A stack that contradicts one of the same id is damaged: which of the two is not known, the
 * first one is kept. */
static bool keep_stack(struct salvage *s, const struct piece *p)
{
    struct piece *same = find_stack(s, p->id);
    if (same && (same->size != p->size ||
                 memcmp(s->bytes + same->off, s->bytes + p->off, p->size) != 0)) {
        pgk_salvage_say(s->report, "dump %zu: a stack at offset 0x%" PRIx64 ", because id %" PRIu64
                        " has another one", p->dump + 1, p->off, p->id);
        return true;
    }
    if (same)
        same->last_dump = p->dump;
    return pgk_vec_push(&s->stacks, *p) &&
           (same || pgk_index_add(&s->stack_by_id, pgk_hash_u64(p->id),
                                  (uint32_t)s->stacks.n - 1));
}

static bool scan_stacks(struct salvage *s, uint64_t off, uint64_t end)
{
    if (off > end || end - off < 8) {
        pgk_salvage_say(s->report, "dump %zu: all stacks", s->dumps.n + 1);
        return true;
    }
    uint64_t stated = u64_at(s, off), at = off + 8, found = 0;
    for (; found < stated && end - at >= 16; found++) {
        struct piece p = {.id = u64_at(s, at), .off = at, .dump = s->dumps.n,
                          .last_dump = s->dumps.n};
        uint64_t n = u64_at(s, at + 8);
        if (n > (end - at - 16) / 8)
            break;
        p.size = 16 + 8 * n;
        if (!keep_stack(s, &p))
            return false;
        at += p.size;
    }
    count_lost(s, s->dumps.n, "stacks", stated, found, at);
    return true;
}

/* Bytes between segments and MIBs are not kept. */
static void scan_notes(struct salvage *s, uint64_t start, uint64_t mibs)
{
    struct pgk_notes_end end;
    if (mibs > s->size || mibs < start + sizeof end)
        return;
    memcpy(&end, s->bytes + mibs - sizeof end, sizeof end);
    if (end.magic == PGK_NOTES_MAGIC)
        pgk_salvage_say(s->report, "dump %zu: how the heap was over time", s->dumps.n + 1);
}

/* The dump at `off`; *next is where to go on. */
static bool scan_dump(struct salvage *s, uint64_t off, uint64_t *next)
{
    struct pgk_heap_raw_header h;
    memcpy(&h, s->bytes + off, sizeof h);
    struct dump d = {.version = pgk_raw_version(h.version)};
    uint64_t end = off + h.total_size, left = s->size - off;
    if (!d.version) {
        *next = next_dump(s, off + 8);
        pgk_salvage_say(s->report, "dump %zu at offset 0x%" PRIx64 ", whose version is %" PRIu64,
                        s->dumps.n + 1, off, h.version);
        return true;
    }
    if (h.total_size > left || h.total_size < sizeof h) {
        end = next_dump(s, off + 8);
        if (h.total_size > left)
            pgk_salvage_say(s->report, "dump %zu: %" PRIu64 " byte%s after the end of the file",
                            s->dumps.n + 1, h.total_size - left, pgk_plural(h.total_size - left));
    }
    *next = end;
    /* A damaged header gives offsets outside; the sections are then missing, which is reported. */
    uint64_t at[] = {h.segment_off, h.mib_off, h.stack_off};
    for (size_t i = 0; i < PGK_COUNTOF(at); i++)
        at[i] = at[i] <= end - off ? off + at[i] : UINT64_MAX;
    scan_segments(s, &d, at[0], end);
    scan_notes(s, off, at[1]);
    return scan_mibs(s, &d, at[1], end) && scan_stacks(s, at[2], end) &&
           pgk_vec_push(&s->dumps, d);
}

static bool is_zero(const struct salvage *s, uint64_t off)
{
    while (off < s->size && !s->bytes[off])
        off++;
    return off == s->size;
}

static bool scan(struct salvage *s)
{
    uint64_t off = 0;
    while (off < s->size) {
        uint64_t next;
        if (is_magic(s, off)) {
            if (!scan_dump(s, off, &next))
                return false;
        } else {
            next = next_dump(s, off);
            /* A kill while the file grew leaves zeros, which were never anything else. */
            if (next < s->size || !is_zero(s, off))
                pgk_salvage_say(s->report, "%" PRIu64 " byte%s at offset 0x%" PRIx64
                                ", where no dump begins", next - off, pgk_plural(next - off), off);
        }
        off = next;
    }
    return true;
}

static int compare_dumps(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->dump != y->dump)
        return x->dump < y->dump ? -1 : 1;
    return x->off < y->off ? -1 : x->off > y->off;
}

/* MIBs without stack go. Readers know a stack by a MIB that came before it, so that one which only
 * an earlier dump has is repeated. */
static bool join(struct salvage *s)
{
    size_t kept = 0;
    for (size_t i = 0; i < s->mibs.n; i++) {
        struct piece *p = &s->mibs.v[i], *stack = find_stack(s, p->id);
        if (stack && stack->last_dump < p->dump) {
            stack->last_dump = p->dump;
            struct piece copy = *stack;
            copy.dump = p->dump;
            if (!pgk_vec_push(&s->stacks, copy))
                return false;
        }
        if (!stack) {
            pgk_salvage_say(s->report, "dump %zu: the MIB at offset 0x%" PRIx64
                            ", whose stack (id %" PRIu64 ") is lost", p->dump + 1, p->off, p->id);
            continue;
        }
        s->dumps.v[p->dump].n_mibs++;
        s->mibs.v[kept++] = *p;
    }
    s->mibs.n = kept;
    if (s->stacks.n)
        qsort(s->stacks.v, s->stacks.n, sizeof *s->stacks.v, compare_dumps);
    for (size_t i = 0; i < s->stacks.n; i++)
        s->dumps.v[s->stacks.v[i].dump].n_stacks++;
    return true;
}

static void write_pieces(const struct salvage *s, struct pgk_sink *out, const struct piece *p,
                         size_t n)
{
    pgk_sink_u64(out, n);
    for (size_t i = 0; i < n; i++)
        pgk_sink_bytes(out, s->bytes + p[i].off, p[i].size);
    pgk_sink_align(out, 8);
}

static void write(const struct salvage *s, struct pgk_sink *out)
{
    const struct piece *mibs = s->mibs.v, *stacks = s->stacks.v;
    for (size_t i = 0; i < s->dumps.n; i++) {
        const struct dump *d = &s->dumps.v[i];
        uint64_t start = pgk_sink_off(out), at[3];
        pgk_sink_u64(out, PGK_HEAP_RAW_MAGIC);
        pgk_sink_u64(out, d->version->version);
        pgk_sink_zeros(out, sizeof(struct pgk_heap_raw_header) - 16);
        at[0] = pgk_sink_off(out) - start;
        pgk_sink_u64(out, d->n_segments);
        pgk_sink_bytes(out, s->bytes + d->segments.off, d->segments.size);
        at[1] = pgk_sink_off(out) - start;
        write_pieces(s, out, mibs, d->n_mibs);
        at[2] = pgk_sink_off(out) - start;
        write_pieces(s, out, stacks, d->n_stacks);
        pgk_sink_patch_u64(out, start + offsetof(struct pgk_heap_raw_header, total_size),
                           pgk_sink_off(out) - start);
        pgk_sink_patch_u64(out, start + offsetof(struct pgk_heap_raw_header, segment_off), at[0]);
        pgk_sink_patch_u64(out, start + offsetof(struct pgk_heap_raw_header, mib_off), at[1]);
        pgk_sink_patch_u64(out, start + offsetof(struct pgk_heap_raw_header, stack_off), at[2]);
        mibs += d->n_mibs;
        stacks += d->n_stacks;
    }
}

int pgk_heap_raw_salvage(struct pgk_sink *clean, const uint8_t *bytes, size_t size,
                         const struct pgk_source *src, struct pgk_salvage *salvage,
                         struct pgk_err *err)
{
    struct salvage s = {.bytes = bytes, .size = size, .report = salvage};
    int status = scan(&s) && join(&s) ? 0 : pgk_fail_nomem(err);
    if (!status) {
        if (s.mibs.n)
            write(&s, clean);
        else
            status = pgk_fail(err, PGK_E_EMPTY, .file = src->file, .format = src->format,
                              .offset = &(uint64_t){0}, .record = "dumps", .field = "MIBs",
                              .found = "no MIB whose stack is there", .expected = "one at least",
                              .hint = "nothing can be saved; record the profile again");
    }
    pgk_vec_free(&s.dumps);
    pgk_vec_free(&s.mibs);
    pgk_vec_free(&s.stacks);
    pgk_index_free(&s.stack_by_id);
    return status;
}
