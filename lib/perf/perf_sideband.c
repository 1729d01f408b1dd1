/* Mappings and tasks in a perf.data file. */
#include "hash.h"
#include "perf_data_priv.h"

#include <inttypes.h>

enum { MISC_MMAP_DATA = 0x2000, MISC_COMM_EXEC = 0x2000, MISC_BUILD_ID = 0x4000 };
enum { KERNEL_MAPPING_PID = -1 };

/* Bytes that the kernel appends to every record that is not a sample, if asked to. */
static size_t trailer_size(const struct perf_attr *a, uint64_t of_fields)
{
    return a->flags & ATTR_SAMPLE_ID_ALL
               ? 8 * (size_t)__builtin_popcountll(a->sample_type & of_fields)
               : 0;
}

static const uint64_t trailer_fields =
    SAMPLE_TID | SAMPLE_TIME | SAMPLE_ID | SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_IDENTIFIER;

/* When the record was made; its place in the file if times are not recorded. */
static uint64_t record_time(const struct pgk_perf_data *file, const struct perf_record *record)
{
    const struct perf_attr *a = &file->attrs.v[0];
    uint64_t time = record->ordinal;
    size_t from_end = trailer_size(a, trailer_fields & ~(uint64_t)SAMPLE_TID);
    if (file->has_times && (a->flags & ATTR_SAMPLE_ID_ALL) && record->size >= from_end)
        memcpy(&time, record->body + record->size - from_end, sizeof time);
    else if (file->has_times)
        time = 0; /* it existed before the first sample, as far as is known */
    return time;
}

/* A text that ends at its NUL, or where the trailer begins. */
static const char *take_text(struct pgk_cursor *c, size_t trailer, size_t *len, const char *field)
{
    size_t left = pgk_cur_left(c);
    size_t size = left > trailer ? left - trailer : 0;
    const uint8_t *text = pgk_cur_take(c, size, field);
    const uint8_t *end = text ? memchr(text, 0, size) : NULL;
    *len = end ? (size_t)(end - text) : text ? size : 0;
    return text ? (const char *)text : "";
}

static void set_build_id(struct pgk_perf_mapping *m, const uint8_t *id, size_t size)
{
    m->build_id_size = (uint32_t)(size < PGK_BUILD_ID_MAX ? size : PGK_BUILD_ID_MAX);
    memcpy(m->build_id, id, m->build_id_size);
}

/* Version 2 of the record has the protection and identifies the file; version 1 has only the
 * path. */
static void read_identity(struct pgk_cursor *c, const struct perf_record *record,
                          struct pgk_perf_mapping *m)
{
    if (record->type == RECORD_MMAP) {
        m->prot = PGK_PROT_READ | (record->misc & MISC_MMAP_DATA ? 0 : PGK_PROT_EXEC);
        return;
    }
    const uint8_t *identity = pgk_cur_take(c, 24, "file identity");
    m->prot = pgk_cur_u32(c, "protection");
    pgk_cur_u32(c, "flags");
    if (identity && record->misc & MISC_BUILD_ID)
        set_build_id(m, identity + 4, identity[0]);
}

static int pass_mapping(struct pgk_perf_data *file, const struct perf_record *record,
                        const struct pgk_perf_handler *handler, struct pgk_err *err)
{
    struct pgk_cursor c = pgk_perf_body(file, record);
    struct pgk_perf_mapping m = {.time = record_time(file, record)};
    m.pid = (int32_t)pgk_cur_u32(&c, "process");
    pgk_cur_u32(&c, "thread");
    m.start = pgk_cur_u64(&c, "address");
    m.size = pgk_cur_u64(&c, "size");
    m.file_offset = pgk_cur_u64(&c, "file offset");
    read_identity(&c, record, &m);
    m.path = take_text(&c, trailer_size(&file->attrs.v[0], trailer_fields), &m.path_len, "path");
    PGK_TRY(pgk_cur_check(&c, err, PGK_F("mapping, record %" PRIu64, record->ordinal)));
    if (m.pid == KERNEL_MAPPING_PID)
        m.pid = PGK_PID_KERNEL;
    const struct perf_build_id *id = pgk_perf_build_id(file, m.path, m.path_len);
    if (!m.build_id_size && id)
        set_build_id(&m, id->bytes, id->size);
    file->info.mappings++;
    return handler->mapping ? handler->mapping(handler->ctx, &m) : 0;
}

static int pass_name(struct pgk_perf_data *file, const struct perf_record *record,
                     const struct pgk_perf_handler *handler, struct pgk_err *err)
{
    struct pgk_cursor c = pgk_perf_body(file, record);
    struct pgk_perf_task t = {.kind = record->misc & MISC_COMM_EXEC ? PGK_PERF_EXEC : PGK_PERF_NAME,
                              .time = record_time(file, record)};
    t.pid = (int32_t)pgk_cur_u32(&c, "process");
    t.tid = (int32_t)pgk_cur_u32(&c, "thread");
    t.name = take_text(&c, trailer_size(&file->attrs.v[0], trailer_fields), &t.name_len, "name");
    PGK_TRY(pgk_cur_check(&c, err, PGK_F("name, record %" PRIu64, record->ordinal)));
    file->info.tasks++;
    return handler->task ? handler->task(handler->ctx, &t) : 0;
}

static int pass_fork_or_exit(struct pgk_perf_data *file, const struct perf_record *record,
                             const struct pgk_perf_handler *handler, struct pgk_err *err)
{
    struct pgk_cursor c = pgk_perf_body(file, record);
    struct pgk_perf_task t = {.kind = record->type == RECORD_FORK ? PGK_PERF_FORK : PGK_PERF_EXIT};
    t.pid = (int32_t)pgk_cur_u32(&c, "process");
    t.parent = (int32_t)pgk_cur_u32(&c, "parent process");
    t.tid = (int32_t)pgk_cur_u32(&c, "thread");
    pgk_cur_u32(&c, "parent thread");
    t.time = pgk_cur_u64(&c, "time");
    PGK_TRY(pgk_cur_check(&c, err, PGK_F("task, record %" PRIu64, record->ordinal)));
    if (!file->has_times)
        t.time = record->ordinal;
    file->info.tasks++;
    return handler->task ? handler->task(handler->ctx, &t) : 0;
}

static int count_lost(struct pgk_perf_data *file, const struct perf_record *record,
                      struct pgk_err *err)
{
    struct pgk_cursor c = pgk_perf_body(file, record);
    if (record->type == RECORD_LOST)
        pgk_cur_u64(&c, "id");
    file->info.lost_samples += pgk_cur_u64(&c, "lost samples");
    return pgk_cur_check(&c, err, PGK_F("loss, record %" PRIu64, record->ordinal));
}

int pgk_perf_sideband(struct pgk_perf_data *file, const struct perf_record *record,
                      const struct pgk_perf_handler *handler, struct pgk_err *err)
{
    switch (record->type) {
    case RECORD_MMAP:
    case RECORD_MMAP2:
        return pass_mapping(file, record, handler, err);
    case RECORD_COMM:
        return pass_name(file, record, handler, err);
    case RECORD_FORK:
    case RECORD_EXIT:
        return pass_fork_or_exit(file, record, handler, err);
    case RECORD_LOST:
    case RECORD_LOST_SAMPLES:
        return count_lost(file, record, err);
    default:
        return 0;
    }
}
