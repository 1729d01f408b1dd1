/* What contexts are: cold, hot and so on. The compiler's rules are computed in single precision, as
 * the compiler does. Of a sampled profile, a rule holds or not where the whole interval of 95 %
 * agrees. docs/design/intervals.md */
#include "estimate.h"

#include <assert.h>

#define COLD_DENSITY 0.05f     /* accesses per byte and second */
#define COLD_LIFETIME 200000.f /* ms */
#define HOT_DENSITY 1000.f
#define SHORT_LIFETIME 10.0 /* ms */
#define MOST 0.5 /* share */
/* Of a sampled profile: so many accesses for each object leave most objects without. */
#define FEW_ACCESSES 0.05

static bool knows(const struct pgk_mib *m, enum pgk_mib_id id)
{
    return m->known >> id & 1;
}

/* Per object: accesses per byte and second; lifetime in ms. Unknown fields count as 0, as in a
 * file. */
static float density(const struct pgk_mib *m, uint64_t count)
{
    return (float)pgk_mib_file_value(m, PGK_MIB_TotalLifetimeAccessDensity) / (float)count / 100;
}

static float lifetime(const struct pgk_mib *m, uint64_t count)
{
    return (float)pgk_mib_file_value(m, PGK_MIB_TotalLifetime) / (float)count;
}

bool pgk_mib_is_cold(const struct pgk_mib *m)
{
    uint64_t count = pgk_mib_file_value(m, PGK_MIB_AllocCount);
    return count && density(m, count) < COLD_DENSITY && lifetime(m, count) >= COLD_LIFETIME;
}

/* What is left at the end has no lifetime of its own: the process ended, not the object. So the
 * time that it was there counts against those that were freed, whose mean this makes no smaller. */
uint64_t pgk_mib_short_lived_bytes(const struct pgk_mib *m)
{
    const uint64_t count = pgk_mib_file_value(m, PGK_MIB_AllocCount);
    const uint64_t bytes = m->v[PGK_MIB_TotalSize];
    if (knows(m, PGK_MIB_ShortLivedSize))
        return m->v[PGK_MIB_ShortLivedSize];
    const bool exit = knows(m, PGK_MIB_ExitCount);
    const uint64_t left = exit ? m->v[PGK_MIB_ExitCount] : 0;
    const uint64_t left_bytes = exit ? m->v[PGK_MIB_ExitSize] : 0;
    if (!knows(m, PGK_MIB_TotalLifetime) || left >= count || left_bytes > bytes)
        return 0;
    return (double)lifetime(m, count - left) < SHORT_LIFETIME ? bytes - left_bytes : 0;
}

static bool is_short_lived(const struct pgk_mib *m)
{
    const uint64_t bytes = pgk_mib_short_lived_bytes(m);
    return bytes && bytes >= m->v[PGK_MIB_TotalSize] - bytes;
}

static bool holds(const struct pgk_mib *m, enum pgk_mib_label label)
{
    const bool has_density = knows(m, PGK_MIB_TotalLifetimeAccessDensity);
    switch (label) {
    case PGK_LABEL_COLD:
        return has_density && knows(m, PGK_MIB_TotalLifetime) && pgk_mib_is_cold(m);
    case PGK_LABEL_HOT:
        return has_density && density(m, m->v[PGK_MIB_AllocCount]) > HOT_DENSITY;
    case PGK_LABEL_UNUSED:
        return knows(m, PGK_MIB_TotalAccessCount) && !m->v[PGK_MIB_TotalAccessCount];
    case PGK_LABEL_SHORT_LIVED:
        return is_short_lived(m);
    default:
        return false;
    }
}

static bool knows_density(const struct pgk_mib *m)
{
    return knows(m, PGK_MIB_TotalLifetimeAccessDensity) && pgk_mib_has_windows(m);
}

static enum pgk_verdict judge_cold(const struct pgk_mib *m)
{
    if (!knows_density(m) || !knows(m, PGK_MIB_TotalLifetime))
        return PGK_VERDICT_NO;
    const enum pgk_verdict often =
        pgk_verdict_reaches(pgk_mib_estimate_density(m), COLD_DENSITY);
    return pgk_verdict_both(pgk_verdict_not(often),
                            pgk_verdict_reaches(pgk_mib_estimate_life(m), COLD_LIFETIME));
}

static enum pgk_verdict judge_hot(const struct pgk_mib *m)
{
    return knows_density(m)
               ? pgk_verdict_reaches(pgk_mib_estimate_density(m), HOT_DENSITY)
               : PGK_VERDICT_NO;
}

/* An object that is used has one access at least, so that fewer accesses than objects leave some
 * without. As long as there may be more, this rule decides nothing: the later ones are of lives. */
static enum pgk_verdict judge_unused(const struct pgk_mib *m)
{
    struct pgk_heap_estimate accesses, objects;
    if (!holds(m, PGK_LABEL_UNUSED) || !pgk_mib_has_windows(m))
        return PGK_VERDICT_NO;
    pgk_mib_estimate(m, PGK_MIB_TotalAccessCount, &accesses);
    pgk_mib_estimate(m, PGK_MIB_AllocCount, &objects);
    return accesses.high <= objects.low * FEW_ACCESSES ? PGK_VERDICT_YES : PGK_VERDICT_NO;
}

/* The share is by a mean of lifetimes, unless it is one of several means. */
static enum pgk_verdict judge_short_lived(const struct pgk_mib *m)
{
    const uint64_t bytes = m->v[PGK_MIB_TotalSize], some = pgk_mib_short_lived_bytes(m);
    if (!bytes || !knows(m, PGK_MIB_TotalLifetime))
        return PGK_VERDICT_NO;
    const double share = some < bytes ? (double)some / (double)bytes : 1;
    const struct pgk_heap_estimate life = pgk_mib_estimate_life(m);
    const enum pgk_verdict most =
        pgk_verdict_reaches(pgk_interval_of_share(share, pgk_mib_samples(m)), MOST);
    const bool means_agree = (share >= MOST) == (life.value < SHORT_LIFETIME);
    const enum pgk_verdict lives = pgk_verdict_reaches(life, SHORT_LIFETIME);
    return means_agree && lives == PGK_VERDICT_UNDECIDED ? PGK_VERDICT_UNDECIDED : most;
}

static enum pgk_verdict judge(const struct pgk_mib *m, enum pgk_mib_label label)
{
    if (!pgk_mib_is_sampled(m))
        return holds(m, label) ? PGK_VERDICT_YES : PGK_VERDICT_NO;
    switch (label) {
    case PGK_LABEL_COLD:
        return judge_cold(m);
    case PGK_LABEL_HOT:
        return judge_hot(m);
    case PGK_LABEL_UNUSED:
        return judge_unused(m);
    case PGK_LABEL_SHORT_LIVED:
        return judge_short_lived(m);
    default:
        return PGK_VERDICT_NO;
    }
}

enum pgk_mib_label pgk_mib_label(const struct pgk_mib *m)
{
    if (!pgk_mib_file_value(m, PGK_MIB_AllocCount))
        return PGK_LABEL_NONE;
    for (enum pgk_mib_label label = 0; label < PGK_LABEL_NONE; label++) {
        const enum pgk_verdict v = judge(m, label);
        if (v != PGK_VERDICT_NO)
            return v == PGK_VERDICT_YES ? label : PGK_LABEL_UNDECIDED;
    }
    return PGK_LABEL_NONE;
}

/* Values between the limits of both rules. */
#define LEVEL_COLD_DENSITY 5.001 /* of the field, for each object */
#define LEVEL_HOT_DENSITY  99900
#define LEVEL_LIFETIME     199999 /* ms */

/* The field that says too much, and what an object has instead. PGK_MIB_FIELDS: none does. */
static enum pgk_mib_id levelled_field(const struct pgk_mib *m, double *each)
{
    const uint64_t count = pgk_mib_file_value(m, PGK_MIB_AllocCount);
    if (!pgk_mib_is_sampled(m) || !count)
        return PGK_MIB_FIELDS;
    if (holds(m, PGK_LABEL_COLD) && judge_cold(m) != PGK_VERDICT_YES) {
        const bool by_life = pgk_verdict_reaches(pgk_mib_estimate_density(m), COLD_DENSITY) ==
                             PGK_VERDICT_NO;
        *each = by_life ? LEVEL_LIFETIME : LEVEL_COLD_DENSITY;
        return by_life ? PGK_MIB_TotalLifetime : PGK_MIB_TotalLifetimeAccessDensity;
    }
    *each = LEVEL_HOT_DENSITY;
    return holds(m, PGK_LABEL_HOT) && judge_hot(m) != PGK_VERDICT_YES
               ? PGK_MIB_TotalLifetimeAccessDensity
               : PGK_MIB_FIELDS;
}

bool pgk_mib_is_levelled(const struct pgk_mib *m)
{
    double each;
    return levelled_field(m, &each) != PGK_MIB_FIELDS;
}

uint64_t pgk_mib_known_without_samples(const struct pgk_mib *m)
{
    struct pgk_mib counts = *m;
    if (!pgk_mib_is_sampled(m) || m->v[PGK_MIB_TotalAccessCount] ||
        judge_unused(m) == PGK_VERDICT_YES)
        return m->known;
    pgk_mib_forget_counts(&counts);
    return counts.known;
}

uint64_t pgk_mib_llvm_value(const struct pgk_mib *m, enum pgk_mib_id id)
{
    double each;
    if (id != levelled_field(m, &each))
        return pgk_mib_file_value(m, id);
    const double all = each * (double)pgk_mib_file_value(m, PGK_MIB_AllocCount);
    return pgk_mib_cut(id, (uint64_t)all + 1);
}

static const struct {
    const char *name, *rule;
} labels[PGK_LABELS] = {
    [PGK_LABEL_COLD] = {"cold", "the compiler's rule: fewer than 0.05 accesses per byte and "
                                "second, and an average lifetime of 200 s or more"},
    [PGK_LABEL_HOT] = {"hot", "the compiler's rule: more than 1000 accesses per byte and second"},
    [PGK_LABEL_UNUSED] = {"never used", "no load or store was counted"},
    [PGK_LABEL_SHORT_LIVED] = {"short-lived", "half of the bytes or more were freed, after less "
                                              "than 10 ms on average"},
    [PGK_LABEL_NONE] = {"", "none of the others"},
    [PGK_LABEL_UNDECIDED] = {"undecided", "more samples are needed: with 95 % confidence, these "
                                          "leave it open whether one of the rules holds"},
};

const char *pgk_mib_label_name(enum pgk_mib_label label)
{
    assert((unsigned)label < PGK_LABELS);
    return labels[label].name;
}

const char *pgk_mib_label_rule(enum pgk_mib_label label)
{
    assert((unsigned)label < PGK_LABELS);
    return labels[label].rule;
}
