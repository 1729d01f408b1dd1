/* The field table of memory info blocks, and what follows from it. */
#include "mib.h"

#include "saturate.h"

#include <assert.h>
#include <string.h>

#define WIDTH_u32 4
#define WIDTH_u64 8

const struct pgk_mib_field pgk_mib_fields[PGK_MIB_FIELDS] = {
#define PGK_MIB(field, type, first_, sound_, tag_, step_, across_, unit_, meaning_)          \
    [PGK_MIB_##field] = {.name = #field, .unit = unit_, .meaning = meaning_,                 \
                         .bytes = WIDTH_##type, .first = first_, .sound = sound_,            \
                         .tag = tag_, .step = PGK_RULE_##step_, .across = PGK_RULE_##across_},
#define PGK_MIB_OWN(field, type, tag_, across_, unit_, meaning_)                             \
    PGK_MIB(field, type, PGK_MIB_NO_RAW, PGK_MIB_NO_RAW, tag_, across_, across_, unit_, meaning_)
#include "heap_mib.def"
#undef PGK_MIB
#undef PGK_MIB_OWN
};

/* The public enum lists the fields once more, for readers; hold it to the rows. */
enum {
#define PGK_MIB(field, ...) ROW_##field,
#define PGK_MIB_OWN PGK_MIB
#include "heap_mib.def"
#undef PGK_MIB
    ROWS,
};
#define PGK_MIB(field, ...) \
    _Static_assert((int)ROW_##field == (int)PGK_MIB_##field, "order of " #field);
#include "heap_mib.def"
#undef PGK_MIB
#undef PGK_MIB_OWN
_Static_assert((int)ROWS == (int)PGK_MIB_FIELDS, "a row for each field");

const uint64_t pgk_mib_llvm_known = 0
#define PGK_MIB(field, ...) | UINT64_C(1) << PGK_MIB_##field
#define PGK_MIB_OWN(...)
#include "heap_mib.def"
#undef PGK_MIB
#undef PGK_MIB_OWN
    ;

/* No two cases may have one value, so the compiler finds tags that are not unique. */
bool pgk_mib_by_tag(uint64_t tag, enum pgk_mib_id *id)
{
    switch (tag) {
#define PGK_MIB(field, type, first, sound, tag_, ...)                                      \
    case tag_:                                                                             \
        *id = PGK_MIB_##field;                                                             \
        _Static_assert((tag_) >= 1 && (tag_) < PGK_MIB_OWN_TAGS, "tag of LLVM: " #field); \
        return true;
#define PGK_MIB_OWN(field, type, tag_, ...)                                                \
    case tag_:                                                                             \
        *id = PGK_MIB_##field;                                                             \
        _Static_assert((tag_) >= PGK_MIB_OWN_TAGS, "tag of pgokit: " #field);             \
        return true;
#include "heap_mib.def"
#undef PGK_MIB
#undef PGK_MIB_OWN
    default:
        return false;
    }
}

const char *pgk_mib_info(enum pgk_mib_id id, const char **unit, const char **meaning)
{
    assert((unsigned)id < PGK_MIB_FIELDS);
    const struct pgk_mib_field *f = &pgk_mib_fields[id];
    if (unit)
        *unit = f->unit;
    if (meaning)
        *meaning = f->meaning;
    return f->name;
}

bool pgk_mib_find(const char *name, enum pgk_mib_id *id)
{
    for (unsigned i = 0; i < PGK_MIB_FIELDS; i++) {
        if (strcmp(pgk_mib_fields[i].name, name) != 0)
            continue;
        *id = (enum pgk_mib_id)i;
        return true;
    }
    return false;
}

static uint64_t unknown_value(enum pgk_mib_id id)
{
    return id == PGK_MIB_AllocCpuId || id == PGK_MIB_DeallocCpuId ? UINT32_MAX : 0;
}

/* a: the earlier block before anything is changed, b: the later one. */
static inline uint64_t combine(enum pgk_mib_rule rule, enum pgk_mib_id id, const struct pgk_mib *a,
                        const struct pgk_mib *b)
{
    uint64_t x = a->v[id], y = b->v[id];
    switch (rule) {
    case PGK_RULE_SUM:
    case PGK_RULE_SAMPLES:
    case PGK_RULE_VARIANCE:
        return pgk_add_saturated(x, y);
    case PGK_RULE_MIN:
        return x < y ? x : y;
    case PGK_RULE_MAX:
        return x > y ? x : y;
    case PGK_RULE_LATER:
        return y;
    case PGK_RULE_FIRST:
        return x;
    case PGK_RULE_SAME:
        return x == y ? x : unknown_value(id);
    case PGK_RULE_OVERLAP:
        return x + (b->v[PGK_MIB_AllocTimestamp] < a->v[PGK_MIB_DeallocTimestamp]);
    case PGK_RULE_EQ_ALLOC:
        return x + (a->v[PGK_MIB_AllocCpuId] == b->v[PGK_MIB_AllocCpuId]);
    case PGK_RULE_EQ_DEALLOC:
        return x + (a->v[PGK_MIB_DeallocCpuId] == b->v[PGK_MIB_DeallocCpuId]);
    case PGK_RULE_NONE:
        break;
    }
    return 0;
}

/* Fields that blocks of all objects lack, and which add nothing there. */
static const uint64_t of_samples = 0
#define TAKE_SAMPLES(field) | UINT64_C(1) << PGK_MIB_##field
#define TAKE_VARIANCE TAKE_SAMPLES
#define TAKE_SUM(field)
#define TAKE_MIN(field)
#define TAKE_MAX(field)
#define PGK_MIB(...)
#define PGK_MIB_OWN(field, type, tag, across, unit, meaning) TAKE_##across(field)
#include "heap_mib.def"
#undef PGK_MIB
#undef PGK_MIB_OWN
    ;

static uint64_t known_of_both(uint64_t a, uint64_t b)
{
    return (a & b) | ((a | b) & of_samples);
}

/* The histogram of `into` belongs to the arena, so it is added to in place. */
static bool add_histogram(struct pgk_mib *into, const struct pgk_mib *other,
                          struct pgk_arena *arena)
{
    if (into->hist_count < other->hist_count) {
        uint64_t *longer = pgk_arena_alloc(arena, other->hist_count, sizeof *longer);
        if (!longer)
            return false;
        memset(longer, 0, other->hist_count * sizeof *longer);
        if (into->hist_count)
            memcpy(longer, into->hist, into->hist_count * sizeof *longer);
        into->hist = longer;
        into->hist_count = other->hist_count;
    }
    uint64_t *sum = (uint64_t *)into->hist;
    for (uint32_t i = 0; i < other->hist_count; i++)
        sum[i] = pgk_add_saturated(sum[i], other->hist[i]);
    return true;
}

bool pgk_mib_step(struct pgk_mib *earlier, const struct pgk_mib *later, struct pgk_arena *arena)
{
    struct pgk_mib before = *earlier;
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
        earlier->v[id] = combine(pgk_mib_fields[id].step, id, &before, later);
    earlier->known = known_of_both(earlier->known, later->known);
    return add_histogram(earlier, later, arena);
}

/* Spelled out field by field, so that no rule is decided at run time: a merge of many files
 * spends much of its time here. */
bool pgk_mib_add(struct pgk_mib *into, const struct pgk_mib *other, struct pgk_arena *arena)
{
#define PGK_MIB(field, type, first, sound, tag, step, across, unit, meaning) \
    into->v[PGK_MIB_##field] = combine(PGK_RULE_##across, PGK_MIB_##field, into, other);
#define PGK_MIB_OWN(field, type, tag, across, unit, meaning) \
    PGK_MIB(field, type, 0, 0, tag, across, across, unit, meaning)
#include "heap_mib.def"
#undef PGK_MIB
#undef PGK_MIB_OWN
    into->known = known_of_both(into->known, other->known);
    return !other->hist_count || add_histogram(into, other, arena);
}

/* Sums grow; what is the smallest, largest or common value of one copy is that of all. Copies of
 * samples make nothing surer. */
void pgk_mib_scale(struct pgk_mib *m, uint64_t times)
{
    uint64_t *hist = (uint64_t *)m->hist;
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        const bool variance = pgk_mib_fields[id].across == PGK_RULE_VARIANCE;
        if (variance || pgk_mib_fields[id].across == PGK_RULE_SUM)
            m->v[id] = pgk_multiply_saturated(m->v[id], times);
        if (variance)
            m->v[id] = pgk_multiply_saturated(m->v[id], times);
    }
    for (uint32_t i = 0; i < m->hist_count; i++)
        hist[i] = pgk_multiply_saturated(hist[i], times);
}

bool pgk_mib_is_compilers(enum pgk_mib_id id)
{
    return id == PGK_MIB_AllocCount || id == PGK_MIB_TotalSize || id == PGK_MIB_TotalLifetime ||
           id == PGK_MIB_TotalLifetimeAccessDensity;
}

uint64_t pgk_mib_cut(enum pgk_mib_id id, uint64_t v)
{
    return pgk_mib_fields[id].bytes == 4 && v > UINT32_MAX ? UINT32_MAX : v;
}

uint64_t pgk_mib_file_value(const struct pgk_mib *m, enum pgk_mib_id id)
{
    return m->known >> id & 1 ? pgk_mib_cut(id, m->v[id]) : 0;
}

#define BIT(id) (UINT64_C(1) << (id))
/* Densities are of accesses, and of lifetimes. */
#define OF_DENSITIES                                                                              \
    (BIT(PGK_MIB_TotalLifetimeAccessDensity) | BIT(PGK_MIB_MinLifetimeAccessDensity) |            \
     BIT(PGK_MIB_MaxLifetimeAccessDensity))
#define OF_LIFETIMES                                                                              \
    (BIT(PGK_MIB_TotalLifetime) | BIT(PGK_MIB_MinLifetime) | BIT(PGK_MIB_MaxLifetime))
#define OF_ACCESSES                                                                               \
    (BIT(PGK_MIB_TotalAccessCount) | BIT(PGK_MIB_MinAccessCount) | BIT(PGK_MIB_MaxAccessCount) |  \
     BIT(PGK_MIB_TotalAccessDensity) | BIT(PGK_MIB_MinAccessDensity) |                            \
     BIT(PGK_MIB_MaxAccessDensity) | OF_DENSITIES | BIT(PGK_MIB_TouchedSize) |                    \
     BIT(PGK_MIB_UntouchedSize) | BIT(PGK_MIB_MinTouched) | BIT(PGK_MIB_MaxTouched))

void pgk_mib_forget_accesses(struct pgk_mib *m)
{
    m->known &= ~OF_ACCESSES;
    m->hist_count = 0;
}

void pgk_mib_forget_counts(struct pgk_mib *m)
{
    m->known &= ~(OF_ACCESSES & ~OF_DENSITIES);
    m->hist_count = 0;
}

/* The mark of an unknown group: its smallest value is all ones and its sum 0, which no objects can
 * have together. */
static const struct {
    enum pgk_mib_id total, sign;
    uint64_t all_ones, group;
} signs[] = {
    {PGK_MIB_TotalLifetime, PGK_MIB_MinLifetime, UINT32_MAX, OF_LIFETIMES | OF_DENSITIES},
    {PGK_MIB_TotalAccessCount, PGK_MIB_MinAccessCount, UINT64_MAX, OF_ACCESSES & ~OF_DENSITIES},
    {PGK_MIB_TotalLifetimeAccessDensity, PGK_MIB_MinLifetimeAccessDensity, UINT32_MAX,
     OF_DENSITIES},
};

uint64_t pgk_mib_unknown_sign(enum pgk_mib_id id, uint64_t known)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (signs[i].sign == id && !(known >> signs[i].total & 1))
            return signs[i].all_ones;
    return 0;
}

uint64_t pgk_mib_needed_signs(uint64_t any, uint64_t all)
{
    uint64_t needed = 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (!(all >> signs[i].total & 1) &&
            (any >> signs[i].total & 1 || pgk_mib_is_compilers(signs[i].total)))
            needed |= BIT(signs[i].sign);
    return needed;
}

uint64_t pgk_mib_unknown_by_signs(uint64_t known, uint64_t schema)
{
    uint64_t unknown = 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (schema >> signs[i].sign & 1 && !(known >> signs[i].total & 1))
            unknown |= signs[i].group;
    return unknown & ~known;
}

uint64_t pgk_mib_known_by_signs(uint64_t known)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (!(known >> signs[i].total & 1))
            known &= ~signs[i].group;
    return known;
}

void pgk_mib_take_signs(struct pgk_mib *m)
{
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (m->v[signs[i].sign] == signs[i].all_ones && !m->v[signs[i].total])
            m->known &= ~signs[i].group;
}
