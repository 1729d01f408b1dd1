/* An index of the contexts of a heap profile: one row for each call of each context, by the
 * function that calls. */
#include "heap_profile.h"

#include "plan_memory.h"

#include <pgokit/use.h>
#include <string.h>

static const enum pgc_class classes[PGK_USES] = {
    [PGK_USE_HINTED] = PGC_COLD,
    [PGK_USE_GIVEN] = PGC_HOT,
};

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
        p->rows[p->n_rows++] =
            (struct pgc_call_row){frames[i].function, frames[i].line, frames[i].column,
                                  (uint32_t)p->n, i == 0};
    }
    context->bytes = pgk_heap_value(heap, p->n, PGK_MIB_TotalSize);
    context->key = pgk_use_context_key(stack, context->n);
    context->use = PGK_USE_NO_FUNCTION;
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
    if (x->allocates != y->allocates)
        return x->allocates ? -1 : 1;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return x->column < y->column ? -1 : x->column > y->column;
}

static void index_heap(struct pgc_heap_profile *p, const struct pgk_heap *heap,
                       const struct pgk_use_limits *limits)
{
    size_t n = pgk_heap_contexts(heap), n_frames = count_frames(heap);
    size_t deepest = deepest_stack(heap);
    struct pgk_heap_frame *stack = pgc_zeroed(deepest, sizeof *stack);
    uint8_t *uses = pgc_zeroed(n, sizeof *uses);
    pgk_use_classify(heap, limits, uses, NULL);
    p->contexts = pgc_zeroed(n, sizeof *p->contexts);
    p->frames = pgc_zeroed(n_frames, sizeof *p->frames);
    p->rows = pgc_zeroed(n_frames, sizeof *p->rows);
    for (size_t used = 0; p->n < n; p->n++) {
        add_context(p, heap, stack, deepest, p->frames + used);
        p->contexts[p->n].is = classes[uses[p->n]] ? classes[uses[p->n]] : PGC_NOT_COLD;
        used += p->contexts[p->n].n;
    }
    free(stack);
    free(uses);
    qsort(p->rows, p->n_rows, sizeof *p->rows, compare_rows);
}

bool pgc_heap_read(struct pgc_heap_profile *profile, struct pgk_file *file, LLVMModuleRef module,
                   const struct pgk_use_limits *limits, struct pgk_err *err)
{
    struct pgk_heap *heap = NULL;
    size_t n;
    uint64_t *functions = pgc_functions(module, &n);
    *profile = (struct pgc_heap_profile){.whole = {.struct_size = sizeof profile->whole}};
    int status = pgk_heap_read_functions(&heap, file, functions, n, err);
    free(functions);
    if (!status && frames_are_addresses(heap)) {
        *err = (struct pgk_err){.status = PGK_E_ARG, .offset = PGK_NO_OFFSET};
        strcpy(err->found, "call stacks are addresses");
        strcpy(err->hint, "give it the program, by pgokit merge -b PROGRAM");
        status = err->status;
    }
    if (!status) {
        pgk_heap_sum(heap, &profile->whole);
        index_heap(profile, heap, limits);
    }
    pgk_heap_close(&heap);
    return !status;
}

void pgc_heap_close(struct pgc_heap_profile *profile)
{
    free(profile->contexts);
    free(profile->frames);
    free(profile->rows);
}

/* The first row that is not before a key. */
static struct pgc_call_row *first_row(const struct pgc_heap_profile *p,
                                      const struct pgc_call_row *key)
{
    size_t low = 0, high = p->n_rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_rows(&p->rows[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return p->rows + low;
}

struct pgc_call_row *pgc_heap_calls(const struct pgc_heap_profile *p, uint64_t function,
                                    bool allocates, size_t *n)
{
    struct pgc_call_row key = {.function = function, .allocates = allocates};
    struct pgc_call_row *first = first_row(p, &key);
    key.line = UINT32_MAX; /* after all lines, of 16 bits */
    *n = (size_t)(first_row(p, &key) - first);
    return first;
}

bool pgc_heap_knows(const struct pgc_heap_profile *p, const struct pgc_place *place, bool allocates,
                    bool exact)
{
    struct pgc_call_row key = {place->function, place->line_offset,
                               p->whole.columns ? place->column : 0, 0, allocates};
    const struct pgc_call_row *end = p->rows + p->n_rows, *row = first_row(p, &key);
    if (row < end && !compare_rows(row, &key))
        return true;
    if (exact)
        return false;
    /* Frames without a line, or any of the function. */
    key.line = place->line_zero ? 0 : place->no_line;
    key.column = 0;
    row = first_row(p, &key);
    return row < end && row->function == key.function && row->allocates == allocates &&
           (place->line_zero || row->line == key.line);
}
