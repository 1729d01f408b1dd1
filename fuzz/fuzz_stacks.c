/* CPU profiles of other profilers: all of one is told, or refused with a message that names a
 * place; every pointer that is told may be read. */
#include "process_map.h"
#include "stack_profile.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint64_t sum;

static int touch_mapping(void *ctx, const struct pgk_perf_mapping *m)
{
    return pgk_process_map_add(ctx, m, NULL);
}

static void touch(struct pgk_perf_name name)
{
    for (size_t i = 0; i < name.n; i++)
        sum += (unsigned char)name.s[i];
}

static int touch_sample(void *ctx, const struct pgk_perf_sample *s)
{
    for (size_t i = 0; i < s->n_chain; i++)
        sum += s->chain[i];
    for (size_t i = 0; i < s->n_labels; i++) {
        touch(s->labels[i].key);
        touch(s->labels[i].value);
    }
    touch(s->comm);
    if (!s->count || !s->n_chain)
        abort();
    if (pgk_process_map_ready(ctx, NULL))
        return PGK_E_NOMEM;
    sum += pgk_process_map_find(ctx, s->pid, s->time, s->ip).end;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const struct pgk_stack_form *form = pgk_stacks_in_form(bytes, size);
    const struct pgk_filemap map = {.bytes = bytes, .size = size};
    struct pgk_process_map *places;
    struct pgk_perf_info info;
    struct pgk_err err = {0};
    if (!form || pgk_process_map_new(&places, NULL))
        return 0;
    const struct pgk_source src = {.file = "fuzz", .format = form->name};
    const struct pgk_perf_handler handler = {
        .ctx = places, .mapping = touch_mapping, .sample = touch_sample};
    int status = pgk_stacks_in_read(form, &map, &src, &handler, &info, &err);
    if (status && (err.status != status || !*err.field))
        abort();
    pgk_process_map_close(&places);
    return sum == 1 ? -1 : 0;
}
