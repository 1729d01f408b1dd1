/* Recordings of any form: all of it is told, or refused with a message that names a place; every
 * pointer that is told may be read. */
#include "perf_data.h"
#include "perf_hardware.h"
#include "perf_input.h"
#include "perf_text.h"
#include "process_map.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint64_t sum;

static int touch_op(void *ctx, const struct pgk_hw_op *op)
{
    (void)ctx;
    sum += op->pc + op->addr;
    return 0;
}

static int touch_mapping(void *ctx, const struct pgk_perf_mapping *m)
{
    return pgk_process_map_add(ctx, m, NULL);
}

static int touch_task(void *ctx, const struct pgk_perf_task *t)
{
    return pgk_process_map_task(ctx, t, NULL);
}

static int touch_sample(void *ctx, const struct pgk_perf_sample *s)
{
    struct pgk_hw_op op;
    for (size_t i = 0; i < s->n_chain; i++)
        sum += s->chain[i];
    for (size_t i = 0; i < s->n_branches; i++)
        sum += s->branches[i].from + s->branches[i].to;
    if (s->raw_size && pgk_hw_ibs_op(s->raw, s->raw_size, &op))
        touch_op(ctx, &op);
    if (pgk_process_map_ready(ctx, NULL))
        return PGK_E_NOMEM;
    sum += pgk_process_map_find(ctx, s->pid, s->time, s->ip).end;
    return 0;
}

static int touch_trace(void *ctx, const struct pgk_perf_trace *t)
{
    struct pgk_source src = {.file = "fuzz", .base_off = t->file_offset};
    (void)pgk_hw_spe(t->bytes, t->size, &src, touch_op, ctx, NULL);
    return 0;
}

static void check(int status, const struct pgk_err *err)
{
    if (status && (err->status != status || !*err->field))
        abort();
}

/* The same bytes through a pipe, of which the first ones have been read. */
static void stream(const uint8_t *bytes, size_t size)
{
    struct pgk_err err = {0};
    struct pgk_source src = {.file = "fuzz", .format = "perf.data"};
    struct pgk_process_map *map;
    struct pgk_perf_data *data;
    struct pgk_filemap head = {.bytes = bytes, .size = PGK_PERF_STREAM_HEAD};
    size_t n = size - PGK_PERF_STREAM_HEAD;
    int fd = memfd_create("pipe", MFD_CLOEXEC);
    if (fd < 0 || pwrite(fd, bytes + PGK_PERF_STREAM_HEAD, n, 0) != (ssize_t)n ||
        pgk_process_map_new(&map, &err))
        abort();
    const struct pgk_perf_handler handler = {map, touch_mapping, touch_task, touch_sample,
                                             touch_trace};
    int status = pgk_perf_data_open_stream(&data, &head, fd, &src, &err);
    check(status, &err);
    if (!status) {
        check(pgk_perf_data_read(data, &handler, &err), &err);
        pgk_perf_data_close(&data);
    }
    pgk_process_map_close(&map);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct pgk_err err = {0};
    struct pgk_source src = {.file = "fuzz", .format = "perf.data"};
    struct pgk_process_map *map;
    struct pgk_perf_data *data = NULL;
    struct pgk_perf_info info;
    struct pgk_filemap input = {.bytes = bytes, .size = size};
    if (pgk_process_map_new(&map, &err))
        return 0;
    const struct pgk_perf_handler handler = {map, touch_mapping, touch_task, touch_sample,
                                             touch_trace};
    int status = size >= 8 && !memcmp(bytes, "PERFILE2", 8)
                     ? pgk_perf_data_open(&data, &input, &src, &err)
                     : pgk_perf_text_read(&input, &src, &handler, &info, &err);
    if (!status && data)
        status = pgk_perf_data_read(data, &handler, &err);
    check(status, &err);
    pgk_perf_data_close(&data);
    if (pgk_perf_is_stream(bytes, size))
        stream(bytes, size);
    pgk_process_map_close(&map);
    return sum == 1 ? -1 : 0;
}
