/* The function metadata section of an extensible binary. */
#include "sample_metadata.h"

#include "search.h"

#include <inttypes.h>
#include <stdlib.h>

#define RECORD "function metadata"
#define DAMAGED "the file is damaged; copy it again, or create it again"

void pgk_metadata_close(struct pgk_sample_metadata *m)
{
    pgk_vec_free(&m->entry_of);
    pgk_vec_free(&m->slots);
}

static int compare_slots(const void *pa, const void *pb, void *stage)
{
    const struct pgk_stage_node *slots = ((struct pgk_sample_stage *)stage)->slots.v;
    uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
    const struct pgk_stage_node *a = &slots[ia], *b = &slots[ib];
    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->loc != b->loc)
        return a->loc < b->loc ? -1 : 1;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return ia < ib ? -1 : ia > ib;
}

/* The first inlinee at that place, or PGK_STAGE_NONE. */
static uint32_t find_slot(const struct pgk_sample_metadata *m,
                          const struct pgk_sample_stage *stage, uint32_t parent, uint64_t loc,
                          uint32_t name)
{
    size_t low = 0, high = m->slots.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct pgk_stage_node *n = &stage->slots.v[m->slots.v[middle]];
        bool below = n->parent != parent ? n->parent < parent
                     : n->loc != loc     ? n->loc < loc
                                         : n->name < name;
        if (below)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == m->slots.n)
        return PGK_STAGE_NONE;
    const struct pgk_stage_node *n = &stage->slots.v[m->slots.v[low]];
    bool same = n->parent == parent && n->loc == loc && n->name == name;
    return same ? m->slots.v[low] : PGK_STAGE_NONE;
}

/* A number that the format has in 32 bits. */
static int read_u32(struct pgk_cursor *c, const char *field, uint32_t *value, struct pgk_err *err)
{
    uint64_t off = pgk_cur_off(c), wide = pgk_sample_uleb(c, field);
    PGK_TRY(pgk_cur_check(c, err, RECORD));
    if (wide > UINT32_MAX)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, off, .record = RECORD, .field = field,
                              .found = PGK_F("%" PRIu64, wide), .expected = "a number of 32 bits",
                              .hint = DAMAGED);
    *value = (uint32_t)wide;
    return 0;
}

/* Reads an entry after its identity; with a stage, gives it to the slot, if there is one. */
static int read_entry(struct pgk_sample_metadata *m, struct pgk_sample_stage *stage,
                      uint32_t slot, unsigned depth, struct pgk_err *err)
{
    struct pgk_cursor *c = &m->c;
    struct pgk_stage_node *to = slot == PGK_STAGE_NONE ? NULL : &stage->slots.v[slot];
    if (m->layout.checksums) {
        uint64_t checksum = pgk_sample_uleb(c, "checksum");
        if (to)
            to->checksum = checksum;
    }
    if (m->layout.attributes) {
        uint32_t attributes;
        PGK_TRY(read_u32(c, "attributes", &attributes, err));
        if (to)
            to->attributes = attributes;
    }
    if (!m->layout.nested)
        return c->failed ? pgk_cur_check(c, err, RECORD) : 0;
    uint64_t off = pgk_cur_off(c), n = pgk_sample_uleb(c, "number of inlinees");
    PGK_TRY(pgk_cur_check(c, err, RECORD));
    if (n > pgk_cur_left(c) / 4 || (n && depth >= PGK_SAMPLE_MAX_DEPTH))
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, off, .record = RECORD,
                              .field = "number of inlinees",
                              .found = PGK_F("%" PRIu64 " at depth %u", n, depth),
                              .expected = PGK_F("at most %zu, nested to 1000 levels",
                                                pgk_cur_left(c) / 4),
                              .hint = DAMAGED);
    for (uint64_t i = 0; i < n; i++) {
        uint32_t line, discriminator, name, inlinee = PGK_STAGE_NONE;
        PGK_TRY(read_u32(c, "line offset of inlinee", &line, err));
        PGK_TRY(read_u32(c, "discriminator of inlinee", &discriminator, err));
        uint64_t loc = pgk_sample_loc(line, discriminator);
        if (to) {
            PGK_TRY(pgk_sample_read_name(c, m->names, "inlinee", RECORD, &name, err));
            inlinee = find_slot(m, stage, slot, loc, name);
        } else {
            pgk_sample_uleb(c, "inlinee");
        }
        PGK_TRY(read_entry(m, stage, inlinee, depth + 1, err));
    }
    return 0;
}

size_t pgk_find_identity(const uint64_t *v, size_t n, uint64_t identity)
{
    PGK_SEARCH(low, n, mid, v[mid] < identity)
    return low < n && v[low] == identity ? low : n;
}

/* Where an identity has its entry; entry_of.n if it has none. */
static size_t place_of(const struct pgk_sample_metadata *m, uint64_t identity)
{
    size_t n_only = m->layout.n_only;
    if (n_only && (identity < m->layout.only[0] || identity > m->layout.only[n_only - 1]))
        return m->entry_of.n;
    if (m->layout.only)
        return pgk_find_identity(m->layout.only, m->layout.n_only, identity);
    return identity < m->entry_of.n ? (size_t)identity : m->entry_of.n;
}

int pgk_metadata_open(struct pgk_sample_metadata *m, const struct pgk_cursor *c,
                      const struct pgk_metadata_layout *layout,
                      const struct pgk_sample_name_table *names, struct pgk_err *err)
{
    m->layout = *layout;
    m->c = *c;
    m->names = names;
    size_t n = layout->only ? layout->n_only : layout->n_identities;
    if (!pgk_vec_reserve(&m->entry_of, n + 1))
        return pgk_fail_nomem(err);
    memset(m->entry_of.v, 0, n * sizeof *m->entry_of.v);
    m->entry_of.n = n;
    while (pgk_cur_left(&m->c)) {
        uint64_t off = pgk_cur_off(&m->c), identity = pgk_sample_uleb(&m->c, "function");
        if (m->c.failed)
            return pgk_cur_check(&m->c, err, RECORD);
        if (identity >= layout->n_identities)
            return pgk_cur_reject(&m->c, err, PGK_E_CORRUPT, off, .record = RECORD,
                                  .field = "function", .found = PGK_F("index %" PRIu64, identity),
                                  .expected = PGK_F("an index below %zu",
                                                    layout->n_identities),
                                  .hint = DAMAGED);
        size_t place = place_of(m, identity);
        if (place < m->entry_of.n)
            m->entry_of.v[place] = (uint64_t)(m->c.at - m->c.start) + 1;
        PGK_TRY(read_entry(m, NULL, PGK_STAGE_NONE, 0, err));
    }
    return 0;
}

int pgk_metadata_apply(struct pgk_sample_metadata *m, uint64_t identity,
                       struct pgk_sample_stage *stage, struct pgk_err *err)
{
    size_t place = place_of(m, identity);
    if (place >= m->entry_of.n || !m->entry_of.v[place])
        return 0;
    m->slots.n = 0;
    if (m->layout.nested && stage->n > 1) {
        if (!pgk_vec_reserve(&m->slots, stage->n))
            return pgk_fail_nomem(err);
        for (uint32_t slot = 1; slot < stage->n; slot++)
            m->slots.v[m->slots.n++] = slot;
        qsort_r(m->slots.v, m->slots.n, sizeof *m->slots.v, compare_slots, stage);
    }
    m->c.at = m->c.start + (m->entry_of.v[place] - 1);
    return read_entry(m, stage, 0, 0, err);
}
