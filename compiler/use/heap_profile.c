/* An index of the contexts of a heap profile: one row for each call of each context, by the
 * function that calls. */
#include "heap_profile.h"

#include "plan_memory.h"

#include <string.h>

static const double ms_per_s = 1000, per_byte = 100;

/* ---- what contexts are ---- */

static double mean_of(const struct pgk_heap *heap, size_t context, enum pgk_mib_id id)
{
    uint64_t objects = pgk_heap_value(heap, context, PGK_MIB_AllocCount);
    return objects ? (double)pgk_heap_value(heap, context, id) / (double)objects : 0;
}

static double seconds_of(const struct pgk_heap *heap, size_t context)
{
    return mean_of(heap, context, PGK_MIB_TotalLifetime) / ms_per_s;
}

/* Accesses per byte and second, as LLVM has it. */
static double density_of(const struct pgk_heap *heap, size_t context)
{
    return mean_of(heap, context, PGK_MIB_TotalLifetimeAccessDensity) / per_byte;
}

/* Accesses per byte over the life of an object. Files for compilers hold the density alone; of
 * objects that lived less than the clock tells it is what they had in all. */
static double heat_of(const struct pgk_heap *heap, size_t context)
{
    uint64_t bytes = pgk_heap_value(heap, context, PGK_MIB_TotalSize);
    if (bytes && pgk_heap_knows(heap, context, PGK_MIB_TotalAccessCount))
        return (double)pgk_heap_value(heap, context, PGK_MIB_TotalAccessCount) / (double)bytes;
    double seconds = seconds_of(heap, context);
    return density_of(heap, context) * (seconds > 0 ? seconds : 1);
}

/* Of all bytes of the program. */
static double mean_heat(const struct pgk_heap *heap)
{
    double accesses = 0, bytes = 0;
    for (size_t i = 0; i < pgk_heap_contexts(heap); i++) {
        double size = (double)pgk_heap_value(heap, i, PGK_MIB_TotalSize);
        accesses += heat_of(heap, i) * size;
        bytes += size;
    }
    return bytes > 0 ? accesses / bytes : 0;
}

static enum pgc_class class_of(const struct pgk_heap *heap, size_t i,
                               const struct pgc_use_options *options, double mean)
{
    if (!pgk_heap_knows(heap, i, PGK_MIB_TotalLifetimeAccessDensity) &&
        !pgk_heap_knows(heap, i, PGK_MIB_TotalAccessCount))
        return PGC_NOT_COLD;
    bool hardly = options->cold_density > 0 ? density_of(heap, i) < options->cold_density
                                            : heat_of(heap, i) < mean * options->cold_share;
    if (hardly && seconds_of(heap, i) >= options->cold_lifetime)
        return PGC_COLD;
    bool often = options->hot_density > 0 && density_of(heap, i) > options->hot_density;
    return often ? PGC_HOT : PGC_NOT_COLD;
}

/* ---- reading ---- */

static bool frames_are_addresses(const struct pgk_heap *heap)
{
    struct pgk_heap_frame leaf;
    return pgk_heap_contexts(heap) && pgk_heap_stack(heap, 0, &leaf, 1) && leaf.is_address;
}

static size_t count_frames(const struct pgk_heap *heap)
{
    size_t n = 0;
    for (size_t i = 0; i < pgk_heap_contexts(heap); i++)
        n += pgk_heap_stack(heap, i, NULL, 0);
    return n;
}

static void add_context(struct pgc_heap_profile *p, const struct pgk_heap *heap,
                        struct pgk_heap_frame *stack, size_t deepest, struct pgc_frame *frames)
{
    struct pgc_context *context = &p->contexts[p->n];
    context->frames = frames;
    context->n = pgk_heap_stack(heap, p->n, stack, deepest);
    for (size_t i = 0; i < context->n; i++) {
        frames[i] = (struct pgc_frame){stack[i].guid, stack[i].line_offset & 0xffff,
                                       stack[i].column, stack[i].inlined};
        p->columns |= stack[i].column != 0;
        p->rows[p->n_rows++] =
            (struct pgc_call_row){stack[i].guid, (uint32_t)p->n, (uint32_t)i};
    }
    context->bytes = pgk_heap_value(heap, p->n, PGK_MIB_TotalSize);
}

static size_t deepest_stack(const struct pgk_heap *heap)
{
    size_t deepest = 0;
    for (size_t i = 0; i < pgk_heap_contexts(heap); i++) {
        size_t n = pgk_heap_stack(heap, i, NULL, 0);
        deepest = n > deepest ? n : deepest;
    }
    return deepest;
}

static int compare_rows(const void *a, const void *b)
{
    const struct pgc_call_row *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (!x->frame != !y->frame)
        return x->frame ? 1 : -1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void index_heap(struct pgc_heap_profile *p, const struct pgk_heap *heap,
                       const struct pgc_use_options *options)
{
    size_t n = pgk_heap_contexts(heap), n_frames = count_frames(heap);
    size_t deepest = deepest_stack(heap);
    double mean = mean_heat(heap);
    struct pgk_heap_frame *stack = pgc_zeroed(deepest, sizeof *stack);
    p->contexts = pgc_zeroed(n, sizeof *p->contexts);
    p->frames = pgc_zeroed(n_frames, sizeof *p->frames);
    p->rows = pgc_zeroed(n_frames, sizeof *p->rows);
    for (size_t used = 0; p->n < n; p->n++) {
        add_context(p, heap, stack, deepest, p->frames + used);
        p->contexts[p->n].is = class_of(heap, p->n, options, mean);
        used += p->contexts[p->n].n;
    }
    free(stack);
    qsort(p->rows, p->n_rows, sizeof *p->rows, compare_rows);
}

bool pgc_heap_read(struct pgc_heap_profile *profile, struct pgk_file *file,
                   const struct pgc_use_options *options, struct pgk_err *err)
{
    struct pgk_heap *heap = NULL;
    int status = pgk_heap_new(&heap, err);
    *profile = (struct pgc_heap_profile){0};
    status = status ? status : pgk_heap_read_file(heap, file, 1, err);
    if (!status && frames_are_addresses(heap)) {
        *err = (struct pgk_err){.status = PGK_E_ARG, .offset = PGK_NO_OFFSET};
        strcpy(err->found, "call stacks are addresses");
        strcpy(err->hint, "give it the program, by pgokit merge -b PROGRAM");
        status = err->status;
    }
    if (!status)
        index_heap(profile, heap, options);
    pgk_heap_close(&heap);
    return !status;
}

void pgc_heap_close(struct pgc_heap_profile *profile)
{
    free(profile->contexts);
    free(profile->frames);
    free(profile->rows);
}

struct pgc_call_row *pgc_heap_calls(const struct pgc_heap_profile *p, uint64_t function,
                                    bool allocates, size_t *n)
{
    const struct pgc_call_row first = {.function = function, .frame = allocates ? 0 : 1};
    size_t low = 0, high = p->n_rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_rows(&p->rows[middle], &first) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < p->n_rows; ++*n)
        if (p->rows[low + *n].function != function || !p->rows[low + *n].frame != allocates)
            break;
    return p->rows + low;
}
