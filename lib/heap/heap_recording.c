/* What a heap profile says of the process that was recorded. */
#include "heap_recording.h"

#include "heap_model.h"
#include "opts.h"

#include <string.h>

bool pgk_recorded_is_known(const struct pgk_recorded *r)
{
    return r->program || r->host || r->command_line || r->start_time;
}

/* An unknown time is later than all others. */
static int compare_times(uint64_t a, uint64_t b)
{
    return a - 1 < b - 1 ? -1 : a != b;
}

static int compare(const struct pgk_recorded *a, const struct pgk_intern *a_strings,
                   const struct pgk_recorded *b, const struct pgk_intern *b_strings)
{
    int order = compare_times(a->start_time, b->start_time);
    if (!order)
        order = strcmp(pgk_intern_str(a_strings, a->program),
                       pgk_intern_str(b_strings, b->program));
    if (!order)
        order = strcmp(pgk_intern_str(a_strings, a->host), pgk_intern_str(b_strings, b->host));
    if (!order)
        order = strcmp(pgk_intern_str(a_strings, a->command_line),
                       pgk_intern_str(b_strings, b->command_line));
    return order;
}

bool pgk_recorded_merge(struct pgk_recorded *into, struct pgk_intern *strings,
                        const struct pgk_recorded *from, const struct pgk_intern *from_strings)
{
    if (!pgk_recorded_is_known(from) ||
        (pgk_recorded_is_known(into) && compare(into, strings, from, from_strings) <= 0))
        return true;
    const struct pgk_recorded copy = {
        pgk_intern_cstr(strings, pgk_intern_str(from_strings, from->program)),
        pgk_intern_cstr(strings, pgk_intern_str(from_strings, from->host)),
        pgk_intern_cstr(strings, pgk_intern_str(from_strings, from->command_line)),
        from->start_time};
    if (copy.program == PGK_INDEX_NONE || copy.host == PGK_INDEX_NONE ||
        copy.command_line == PGK_INDEX_NONE)
        return false;
    *into = copy;
    return true;
}

bool pgk_heap_recording(const struct pgk_heap *heap, struct pgk_heap_recording *recording)
{
    const struct pgk_recorded *r = &heap->recorded;
    const struct pgk_heap_recording found = {
        .struct_size = sizeof found,
        .program = pgk_intern_str(&heap->strings, r->program),
        .host = pgk_intern_str(&heap->strings, r->host),
        .command_line = pgk_intern_str(&heap->strings, r->command_line),
        .start_ms = r->start_time};
    PGK_RESULT_GIVE(recording, &found);
    return pgk_recorded_is_known(r);
}
