/* Advice from a heap profile, by rules on single contexts.
 *
 * A rule uses only known facts, and its bytes are exact or a lower bound, never an upper
 * estimate. Of a sampled profile they are estimates, of contexts to which the rule applies with
 * 95 % confidence. */
#include "heap_advice.h"

#include "estimate.h"

#include "heap_view.h"
#include "saturate.h"
#include "vec.h"

#include <stdlib.h>

#define WORD    8    /* bytes of an element of the histogram */
#define GRANULE 64   /* bytes that one access can touch at most in the runtime's counters */
#define MANY    1000 /* objects from which on a pool or the stack pays */

const struct pgk_advice_text pgk_advice_texts[PGK_ADVICE_RULES] = {
    [PGK_ADVICE_UNUSED] = {"never-used", "Allocated, never used", "are never read or written",
                           "Leave the allocation out, or make it when its data are first needed.",
                           "contexts without a single load or store; all their bytes count",
                           "-    index->hits = calloc(n, sizeof *index->hits);\n"
                           " ...\n"
                           " static void count_hit(struct index *index, size_t at)\n"
                           " {\n"
                           "+    if (!index->hits)\n"
                           "+        index->hits = calloc(index->n, sizeof *index->hits);\n"
                           "     index->hits[at]++;\n"},
    [PGK_ADVICE_LEAKED] =
        {"leaked", "Never freed", "are never freed",
         "Free the objects after their last use, or limit their number.",
         "contexts of which 1,000 objects or more were alive when the process ended; the bytes of "
         "these count. Of a profile with a leak check, objects that no pointer led to then, "
         "however few. Nothing is advised for a process that was interrupted, where objects were "
         "still in use",
         " void session_end(struct session *s)\n"
         " {\n"
         "     close(s->socket);\n"
         "+    free(s->buffer);\n"
         "     free(s);\n"},
    [PGK_ADVICE_TEMPORARY] =
        {"temporary", "Freed before the next allocation",
         "are freed by their thread before it allocates anything else",
         "Keep the object on the stack, or use one buffer again: nothing else is allocated while "
         "it lives.",
         "contexts of 1,000 such objects or more, which are half of all their objects or more; the "
         "bytes of these count, by the average size",
         "+std::string key;\n"
         " for (const Order &order : orders) {\n"
         "-    std::string key = name_of(order);\n"
         "+    key.clear();\n"
         "+    append_name_of(order, key);\n"
         "     count(key);\n"},
    [PGK_ADVICE_SHORT_LIVED] =
        {"short-lived", "Gone within 10 ms", "live for less than 10 ms on average",
         "Keep the objects on the stack, use one buffer again, or take them from a pool.",
         "bytes that were freed, in contexts whose objects live less than 10 ms on average, so "
         "this is the share of short-lived bytes. Where a raw profile's stacks of addresses get "
         "the same names, each counts by its own average. Objects that are freed before the next "
         "allocation are among them. Nothing is advised for fewer than 1,000 objects in all",
         "-    char *line = malloc(len + 1);\n"
         "+    char line[LINE_MAX];\n"
         "     copy_line(line, from, len);\n"
         "     handle(line);\n"
         "-    free(line);\n"},
    [PGK_ADVICE_COLD_PART] =
        {"cold-part", "Cold bytes inside busy objects",
         "are never touched, between others that are",
         "Move the fields that are never touched into an object of their own, or after the busy "
         "ones.",
         "8-byte words without access that stand before the last word with accesses, in contexts "
         "of one object size with a histogram; word size times objects counts",
         " struct order {\n"
         "     double price;\n"
         "-    char comment[256];\n"
         "     struct order *next;\n"
         "+    struct order_text *text; /* the comment */\n"
         " };\n"},
    [PGK_ADVICE_TOO_LARGE] =
        {"too-large", "Larger than what is used",
         "are never touched, while other parts of their objects are",
         "Allocate less, or lazily: reserve what is needed, or grow on demand.",
         "with a histogram, bytes after the last word with accesses, of objects that all reach "
         "beyond it; without, bytes in blocks of 64 that were never accessed, if the profile says "
         "so, and else bytes beyond 64 for each load and store, which is the most that "
         "one of them can touch. Contexts count where this is half of their bytes or more",
         "-    rows.reserve(1 << 20);\n"
         "+    rows.reserve(file.count_rows());\n"},
    [PGK_ADVICE_FOREIGN_FREE] =
        {"foreign-free", "Freed on another CPU",
         "are freed on another CPU than they were allocated on",
         "Free where the object was made, or hand over batches: such frees move cache lines and "
         "allocator locks between CPUs.",
         "contexts of which half of the objects or more were freed on another CPU than they were "
         "allocated on; the bytes of such objects count, by the average size. "
         "Nothing is advised unless the profile says that several threads allocated and freed, as "
         "those of pgokit's profiler do",
         " void worker(void)\n"
         " {\n"
         "     handle(job);\n"
         "-    free(job);\n"
         "+    done[n_done++] = job;\n"
         "+    if (n_done == BATCH)\n"
         "+        hand_back(job->owner, done, &n_done); /* which frees or reuses them */\n"},
    [PGK_ADVICE_COLD] =
        {"cold-hint", "Worth a cold hint", "are cold by the compiler's rule",
         "Compile with -fmemory-profile-use and link an allocator with hot_cold_t: rarely used "
         "objects then leave the pages of busy ones.",
         "the compiler's rule for cold: fewer than 0.05 accesses per byte and second, and an "
         "average lifetime of 200 s or more",
         "-CXXFLAGS = -O2\n"
         "+CXXFLAGS = -O2 -fmemory-profile-use=app.profdata\n"
         "+LDLIBS += -lpgokit_alloc\n"},
    [PGK_ADVICE_HOT] =
        {"hot-hint", "Worth a hot hint", "are hot by the compiler's rule",
         "Compile with -fmemory-profile-use and -mllvm -memprof-use-hot-hints: busy objects then "
         "share pages.",
         "the compiler's rule for hot: more than 1000 accesses per byte and second; not advised "
         "where most of the bytes are hot",
         "-CXXFLAGS = -O2\n"
         "+CXXFLAGS = -O2 -fmemory-profile-use=app.profdata -mllvm -memprof-use-hot-hints\n"},
};

static bool knows(const struct pgk_mib *m, enum pgk_mib_id id)
{
    return m->known >> id & 1;
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Elements of the histogram up to the last one with accesses; 0: none has. */
static uint64_t used_words(const struct pgk_mib *m)
{
    uint64_t n = m->hist_count;
    while (n && !m->hist[n - 1])
        n--;
    return n;
}

/* Objects of several sizes share the histogram, so that a word without access may
 * lie beyond most of them. */
static uint64_t cold_part(const struct pgk_mib *m)
{
    uint64_t used = used_words(m), untouched = 0;
    if (!knows(m, PGK_MIB_MinSize) || !knows(m, PGK_MIB_MaxSize) ||
        m->v[PGK_MIB_MinSize] != m->v[PGK_MIB_MaxSize])
        return 0;
    for (uint64_t i = 0; i < used; i++)
        untouched += !m->hist[i];
    uint64_t bytes = pgk_multiply_saturated(untouched * WORD, m->v[PGK_MIB_AllocCount]);
    return at_most(bytes, m->v[PGK_MIB_TotalSize]);
}

static uint64_t beyond_use(const struct pgk_mib *m)
{
    uint64_t bytes = m->v[PGK_MIB_TotalSize], reached;
    if (m->hist_count) {
        uint64_t used = used_words(m) * WORD;
        if (!used || !knows(m, PGK_MIB_MinSize) || m->v[PGK_MIB_MinSize] < used)
            return 0;
        reached = pgk_multiply_saturated(used, m->v[PGK_MIB_AllocCount]);
    } else {
        if (!knows(m, PGK_MIB_TotalAccessCount) || !m->v[PGK_MIB_TotalAccessCount])
            return 0;
        if (knows(m, PGK_MIB_UntouchedSize))
            return m->v[PGK_MIB_UntouchedSize] >= bytes - bytes / 2
                       ? at_most(m->v[PGK_MIB_UntouchedSize], bytes)
                       : 0;
        reached = pgk_multiply_saturated(m->v[PGK_MIB_TotalAccessCount], GRANULE);
    }
    return reached <= bytes / 2 ? bytes - reached : 0;
}

/* Bytes of the objects that `which` counts, if they are half of all or more. */
static uint64_t of_most(const struct pgk_mib *m, enum pgk_mib_id which)
{
    uint64_t objects = m->v[PGK_MIB_AllocCount], some = m->v[which];
    if (!knows(m, which) || !some || some < objects - some)
        return 0;
    return some >= objects
               ? m->v[PGK_MIB_TotalSize]
               : (uint64_t)((double)m->v[PGK_MIB_TotalSize] / (double)objects * (double)some);
}

static uint64_t temporary(const struct pgk_mib *m)
{
    return m->v[PGK_MIB_TemporaryCount] >= MANY ? of_most(m, PGK_MIB_TemporaryCount) : 0;
}

static uint64_t leaked(const struct pgk_mib *m)
{
    if (knows(m, PGK_MIB_UnreachableSize))
        return m->v[PGK_MIB_UnreachableSize];
    return knows(m, PGK_MIB_ExitSize) && m->v[PGK_MIB_ExitCount] >= MANY ? m->v[PGK_MIB_ExitSize]
                                                                         : 0;
}

/* Do samples leave no doubt that the rule applies? */
static bool is_sure(enum pgk_advice_rule rule, const struct pgk_mib *m, enum pgk_mib_label label)
{
    struct pgk_heap_estimate accesses, bytes;
    if (!pgk_mib_is_sampled(m))
        return true;
    switch (rule) {
    case PGK_ADVICE_UNUSED:
        return label == PGK_LABEL_UNUSED;
    case PGK_ADVICE_LEAKED:
        return pgk_mib_at_least(m, m->v[PGK_MIB_ExitCount], MANY) == PGK_VERDICT_YES;
    case PGK_ADVICE_TEMPORARY:
        return pgk_mib_at_least(m, m->v[PGK_MIB_TemporaryCount], MANY) == PGK_VERDICT_YES &&
               pgk_mib_most_objects(m, m->v[PGK_MIB_TemporaryCount]) == PGK_VERDICT_YES;
    case PGK_ADVICE_FOREIGN_FREE:
        return pgk_mib_most_objects(m, m->v[PGK_MIB_NumMigratedCpu]) == PGK_VERDICT_YES;
    case PGK_ADVICE_TOO_LARGE:
        pgk_mib_estimate(m, PGK_MIB_TotalAccessCount, &accesses);
        pgk_mib_estimate(m, PGK_MIB_TotalSize, &bytes);
        return accesses.high * GRANULE <= bytes.low / 2;
    case PGK_ADVICE_COLD_PART:
        return false; /* a word without accesses may have some that were not seen */
    default:
        return true; /* by the label, which is sure */
    }
}

static uint64_t stake(enum pgk_advice_rule rule, const struct pgk_mib *m, enum pgk_mib_label label)
{
    uint64_t bytes = m->v[PGK_MIB_TotalSize], objects = m->v[PGK_MIB_AllocCount];
    if (!objects || !knows(m, PGK_MIB_TotalSize))
        return 0;
    switch (rule) {
    case PGK_ADVICE_UNUSED:
        return knows(m, PGK_MIB_TotalAccessCount) && !m->v[PGK_MIB_TotalAccessCount] ? bytes : 0;
    case PGK_ADVICE_LEAKED:
        return leaked(m);
    case PGK_ADVICE_TEMPORARY:
        return temporary(m);
    case PGK_ADVICE_SHORT_LIVED:
        return pgk_mib_counted_short_lived(m, label);
    case PGK_ADVICE_COLD_PART:
        return cold_part(m);
    case PGK_ADVICE_TOO_LARGE:
        return beyond_use(m);
    case PGK_ADVICE_FOREIGN_FREE:
        return of_most(m, PGK_MIB_NumMigratedCpu);
    case PGK_ADVICE_COLD:
        return label == PGK_LABEL_COLD ? bytes : 0;
    case PGK_ADVICE_HOT:
        return label == PGK_LABEL_HOT ? bytes : 0;
    case PGK_ADVICE_RULES:
        break;
    }
    return 0;
}

uint64_t pgk_advice_stake(enum pgk_advice_rule rule, const struct pgk_mib *m)
{
    const enum pgk_mib_label label = pgk_mib_label(m);
    const uint64_t bytes = stake(rule, m, label);
    return bytes && is_sure(rule, m, label) ? bytes : 0;
}

static int by_stake(const void *a, const void *b)
{
    const struct pgk_advice_stake *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->context < y->context ? -1 : x->context > y->context;
}

/* Hints leave the code as it is, so what can be saved comes first. */
static bool is_hint(const struct pgk_advice *a)
{
    return a->rule == PGK_ADVICE_COLD || a->rule == PGK_ADVICE_HOT;
}

static int by_gain(const void *a, const void *b)
{
    const struct pgk_advice *x = a, *y = b;
    if (is_hint(x) != is_hint(y))
        return is_hint(x) ? 1 : -1;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return (int)x->rule - (int)y->rule;
}

int pgk_heap_advise(const struct pgk_heap *heap, const struct pgk_file_info *info,
                    struct pgk_advice_list *list, struct pgk_err *err)
{
    PGK_VEC(struct pgk_advice_stake) stakes = {0};
    struct pgk_heap_totals totals;
    size_t contexts = pgk_heap_contexts(heap);
    pgk_heap_totals(heap, info, &totals);
    *list = (struct pgk_advice_list){0};
    for (enum pgk_advice_rule rule = 0; rule < PGK_ADVICE_RULES; rule++) {
        struct pgk_advice advice = {.rule = rule, .first = stakes.n};
        for (size_t c = 0; c < contexts; c++) {
            struct pgk_mib m = pgk_view_judged(pgk_heap_mib(heap, c, PGK_MIB_SPACE), info);
            uint64_t bytes = pgk_advice_stake(rule, &m);
            if (!bytes)
                continue;
            if (!pgk_vec_push(&stakes, (struct pgk_advice_stake){bytes, (uint32_t)c})) {
                pgk_vec_free(&stakes);
                return pgk_fail_nomem(err);
            }
            advice.bytes += at_most(bytes, UINT64_MAX - advice.bytes);
            advice.whole += at_most(m.v[PGK_MIB_TotalSize], UINT64_MAX - advice.whole);
            advice.objects += m.v[PGK_MIB_AllocCount];
        }
        advice.n = stakes.n - advice.first;
        /* If most bytes are hot, separating them gains nothing; nor does a pool for a few
         * objects. */
        if (!advice.n ||
            (rule == PGK_ADVICE_HOT && advice.bytes > totals.v[PGK_MIB_TotalSize] / 2) ||
            (rule == PGK_ADVICE_SHORT_LIVED && advice.objects < MANY))
            continue;
        qsort(stakes.v + advice.first, advice.n, sizeof *stakes.v, by_stake);
        list->v[list->n++] = advice;
    }
    qsort(list->v, list->n, sizeof *list->v, by_gain);
    list->stakes = stakes.v;
    return 0;
}

void pgk_advice_free(struct pgk_advice_list *list)
{
    pgk_mem_free(list->stakes);
    *list = (struct pgk_advice_list){0};
}
