/* Shared by all views of a heap profile. */
#include "heap_view.h"

#include "demangle.h"
#include "mem.h"
#include "mib.h"
#include "path.h"
#include "pattern.h"
#include "pgokit/human.h"
#include "rekey.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pgk_mib pgk_view_judged(const struct pgk_mib *m, const struct pgk_file_info *info)
{
    struct pgk_mib judged = *m;
    if (pgk_view_some_accesses(info))
        pgk_mib_forget_accesses(&judged);
    /* Of one thread, or of who knows how many, the system may just have moved a thread. */
    if (!info || !pgk_file_info_fact(info, PGK_FACT_PROCESSES) ||
        pgk_file_info_fact(info, PGK_FACT_ONE_THREAD))
        judged.known &= ~(UINT64_C(1) << PGK_MIB_NumMigratedCpu);
    /* An interrupted process may still have used its live objects, so they are not leaks. */
    if (info && pgk_file_info_fact(info, PGK_FACT_INTERRUPTED))
        judged.known &= ~(UINT64_C(1) << PGK_MIB_ExitSize);
    return judged;
}

enum pgk_mib_label pgk_view_label(const struct pgk_mib *m, const struct pgk_file_info *info)
{
    struct pgk_mib judged = pgk_view_judged(m, info);
    return pgk_mib_label(&judged);
}

static bool knows(const struct pgk_mib *m, enum pgk_mib_id id)
{
    return m->known >> id & 1;
}

/* A context without label may have short-lived bytes, and one that is short-lived others. */
static void add_label(struct pgk_heap_totals *t, const struct pgk_mib *m, enum pgk_mib_label label)
{
    const uint64_t all = m->v[PGK_MIB_TotalSize];
    const uint64_t counted = pgk_mib_counted_short_lived(m, label);
    const uint64_t short_lived = counted < all ? counted : all;
    t->label_contexts[short_lived ? PGK_LABEL_SHORT_LIVED : label]++;
    t->label_bytes[PGK_LABEL_SHORT_LIVED] += short_lived;
    t->label_bytes[label == PGK_LABEL_SHORT_LIVED ? PGK_LABEL_NONE : label] += all - short_lived;
}

void pgk_heap_totals(const struct pgk_heap *heap, const struct pgk_file_info *info,
                     struct pgk_heap_totals *t)
{
    *t = (struct pgk_heap_totals){.contexts = pgk_heap_contexts(heap), .known = UINT64_MAX,
                                  .sampling = {.struct_size = sizeof t->sampling}};
    for (size_t c = 0; c < t->contexts; c++) {
        const struct pgk_mib *m = pgk_heap_mib(heap, c, PGK_MIB_SPACE);
        enum pgk_mib_label label = pgk_view_label(m, info);
        t->known &= m->known;
        t->some_know |= m->known;
        t->no_accesses += !knows(m, PGK_MIB_TotalAccessCount);
        t->no_touched += !knows(m, PGK_MIB_TouchedSize);
        t->no_times += !knows(m, PGK_MIB_PeakSize);
        t->sampled += pgk_mib_is_sampled(m);
        t->cut += m->v[PGK_MIB_CutSize] > 0;
        add_label(t, m, label);
        for (size_t i = 0; i < PGK_MIB_FIELDS; i++)
            if (pgk_mib_is_sum((enum pgk_mib_id)i))
                t->v[i] += m->v[i];
    }
    if (t->sampled)
        pgk_heap_sampling(heap, &t->sampling);
    if (t->sampled && t->sampling.exact) {
        t->v[PGK_MIB_AllocCount] = (uint64_t)t->sampling.objects.value;
        t->v[PGK_MIB_TotalSize] = (uint64_t)t->sampling.bytes.value;
    }
}

const char *pgk_view_number(char *buf, double v)
{
    return pgk_human_count(buf, v < 0x1p63 ? (uint64_t)(v + 0.5) : UINT64_MAX);
}

const char *pgk_view_ratio(char *buf, double v)
{
    snprintf(buf, PGK_HUMAN_SIZE, "%.2f", v);
    return buf;
}

const char *pgk_view_interval(char buf[PGK_INTERVAL_TEXT], const struct pgk_heap_estimate *e,
                              const char *figure(char *buf, double v))
{
    char low[PGK_HUMAN_SIZE], high[PGK_HUMAN_SIZE];
    *buf = 0;
    if (e->low >= e->value && e->high <= e->value)
        return buf;
    if (isinf(e->high))
        snprintf(buf, PGK_INTERVAL_TEXT, " (%s or more)", figure(low, e->low));
    else
        snprintf(buf, PGK_INTERVAL_TEXT, " (%s to %s)", figure(low, e->low),
                 figure(high, e->high));
    return buf;
}

double pgk_heap_sort_value(const struct pgk_mib *m, enum pgk_heap_sort sort)
{
    double count = (double)m->v[PGK_MIB_AllocCount], size = (double)m->v[PGK_MIB_TotalSize];
    switch (sort) {
    case PGK_HEAP_SORT_BYTES:
        return knows(m, PGK_MIB_TotalSize) ? size : -1;
    case PGK_HEAP_SORT_COUNT:
        return knows(m, PGK_MIB_AllocCount) ? count : -1;
    case PGK_HEAP_SORT_ACCESSES:
        return knows(m, PGK_MIB_TotalAccessCount) ? (double)m->v[PGK_MIB_TotalAccessCount] : -1;
    case PGK_HEAP_SORT_LIFETIME:
        return knows(m, PGK_MIB_TotalLifetime) && count > 0
                   ? (double)m->v[PGK_MIB_TotalLifetime] / count
                   : -1;
    case PGK_HEAP_SORT_DENSITY:
        return knows(m, PGK_MIB_TotalAccessCount) && size > 0
                   ? (double)m->v[PGK_MIB_TotalAccessCount] / size
                   : -1;
    case PGK_HEAP_SORT_PEAK:
        return knows(m, PGK_MIB_PeakSize) ? (double)m->v[PGK_MIB_PeakSize] : -1;
    case PGK_HEAP_SORT_LEAKED:
        return knows(m, PGK_MIB_ExitSize) ? (double)m->v[PGK_MIB_ExitSize] : -1;
    case PGK_HEAP_SORT_TEMPORARY:
        return knows(m, PGK_MIB_TemporaryCount) ? (double)m->v[PGK_MIB_TemporaryCount] : -1;
    case PGK_HEAP_SORT_UNREACHABLE:
        return knows(m, PGK_MIB_UnreachableSize) ? (double)m->v[PGK_MIB_UnreachableSize] : -1;
    case PGK_HEAP_SORTS:
        break;
    }
    return -1;
}

const char *pgk_heap_sort_name(enum pgk_heap_sort sort)
{
    static const char *const names[PGK_HEAP_SORTS] = {
        [PGK_HEAP_SORT_BYTES] = "bytes",
        [PGK_HEAP_SORT_COUNT] = "count",
        [PGK_HEAP_SORT_ACCESSES] = "accesses",
        [PGK_HEAP_SORT_LIFETIME] = "lifetime",
        [PGK_HEAP_SORT_DENSITY] = "density",
        [PGK_HEAP_SORT_PEAK] = "peak",
        [PGK_HEAP_SORT_LEAKED] = "leaked",
        [PGK_HEAP_SORT_TEMPORARY] = "temporary",
        [PGK_HEAP_SORT_UNREACHABLE] = "unreachable",
    };
    return names[sort];
}

struct ranked {
    double value;
    size_t context;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value != y->value)
        return x->value > y->value ? -1 : 1;
    return x->context < y->context ? -1 : x->context > y->context;
}

/* Is the function in the stack? */
static int is_through(const struct pgk_heap *heap, size_t context,
                      const struct pgk_pattern *pattern, struct pgk_arena *arena, bool *through,
                      struct pgk_err *err)
{
    struct pgk_heap_frame *frames;
    char name[1024];
    size_t n;
    PGK_TRY(pgk_heap_view_stack(heap, context, arena, &frames, &n, err));
    *through = false;
    for (size_t i = 0; i < n && !*through; i++)
        *through = !frames[i].is_address &&
                   (pgk_pattern_matches(pattern, frames[i].function) ||
                    pgk_pattern_matches(pattern,
                                        pgk_human_function(name, sizeof name, frames[i].function)));
    return 0;
}

/* Leaves those that go through the function. */
static int choose_by_function(const struct pgk_heap *heap, const char *function, struct ranked *all,
                              size_t *n, struct pgk_err *err)
{
    struct pgk_pattern pattern = {0};
    size_t kept = 0;
    int status = pgk_pattern_compile(&pattern, function, err);
    for (size_t i = 0; i < *n && !status; i++) {
        struct pgk_arena arena = {0};
        bool through = false;
        status = is_through(heap, all[i].context, &pattern, &arena, &through, err);
        if (through)
            all[kept++] = all[i];
        pgk_arena_free(&arena);
    }
    pgk_pattern_free(&pattern);
    *n = kept;
    return status || kept ? status
                          : pgk_fail(err, PGK_E_EMPTY, .field = "function",
                                     .found = PGK_F("no context through '%.100s'", function),
                                     .hint = "names need the profiled program (-b)");
}

int pgk_heap_ranking(const struct pgk_heap *heap, const struct pgk_heap_print_opts *opts,
                     size_t **order, size_t *count, struct pgk_err *err)
{
    size_t n = pgk_heap_contexts(heap);
    struct ranked *all = pgk_mem_alloc(n + 1, sizeof *all);
    size_t *result = pgk_mem_alloc(n + 1, sizeof *result);
    if (!all || !result) {
        pgk_mem_free(all);
        pgk_mem_free(result);
        return pgk_fail_nomem(err);
    }
    for (size_t i = 0; i < n; i++)
        all[i] = (struct ranked){
            pgk_heap_sort_value(pgk_heap_mib(heap, i, PGK_MIB_SPACE), opts->sort), i};
    const int status = opts->function ? choose_by_function(heap, opts->function, all, &n, err) : 0;
    if (status) {
        pgk_mem_free(all);
        pgk_mem_free(result);
        return status;
    }
    qsort(all, n, sizeof *all, by_value);
    *count = opts->top && opts->top < n ? opts->top : n;
    for (size_t i = 0; i < *count; i++)
        result[i] = all[i].context;
    pgk_mem_free(all);
    *order = result;
    return 0;
}

int pgk_heap_view_stack(const struct pgk_heap *heap, size_t context, struct pgk_arena *arena,
                        struct pgk_heap_frame **frames, size_t *count, struct pgk_err *err)
{
    size_t n = pgk_heap_stack(heap, context, NULL, 0);
    struct pgk_heap_frame *f = pgk_arena_alloc(arena, n + 1, sizeof *f);
    if (!f)
        return pgk_fail_nomem(err);
    pgk_heap_stack(heap, context, f, n);
    *frames = f;
    *count = n;
    return 0;
}

/* LLVM's formats keep 16 bits of an offset, so line 0 becomes the next multiple of 65536, and a
 * line above the function's (its declaration is in another header) a large offset. */
uint32_t pgk_heap_frame_line(const struct pgk_heap_frame *f)
{
    uint32_t line = f->decl_line ? f->decl_line + f->line_offset : 0;
    bool is_above = f->line_offset > INT16_MAX && f->line_offset <= PGK_LLVM_LINE_MASK &&
                    line > PGK_LLVM_LINE_MASK;
    if (is_above)
        line -= PGK_LLVM_LINE_MASK + 1;
    return line & PGK_LLVM_LINE_MASK ? line : 0;
}

const char *pgk_view_address(char buf[PGK_ADDRESS_TEXT], const struct pgk_heap_frame *f)
{
    const char *name = pgk_base_name(f->module_path);
    char *near = *f->near_symbol ? pgk_demangle(f->near_symbol) : NULL;
    const int n = snprintf(buf, PGK_ADDRESS_TEXT, *name ? "[%s]+0x%" PRIx64 : "%s0x%" PRIx64, name,
                           f->address);
    if (*f->near_symbol && n > 0 && n < PGK_ADDRESS_TEXT)
        snprintf(buf + n, (size_t)(PGK_ADDRESS_TEXT - n), " (near %s)",
                 near ? near : f->near_symbol);
    pgk_mem_free(near);
    return buf;
}
