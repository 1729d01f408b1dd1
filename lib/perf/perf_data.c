/* perf.data: its header, and the two passes over its records. */
#include "perf_data_priv.h"

#include "mem.h"

#include <inttypes.h>
#include <unistd.h>

enum { HEADER_SIZE = 104, PIPE_HEADER_SIZE = 16, FEATURES = 256 };
#define MAGIC_OTHER_ORDER UINT64_C(0x50455246494c4532)

struct section {
    uint64_t off, size;
};

static struct section take_section(struct pgk_cursor *c, const char *field)
{
    struct section s = {.off = pgk_cur_u64(c, field)};
    s.size = pgk_cur_u64(c, field);
    return s;
}

/* Cursor over a section, which fails where it lies outside the file. */
static int section_cursor(const struct pgk_perf_data *file, struct section s,
                          struct pgk_cursor *into, const char *record, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct pgk_source src = file->src;
    pgk_cur_init(&c, file->bytes, file->size, &src);
    pgk_cur_seek(&c, s.off, "offset");
    const uint8_t *bytes = pgk_cur_take(&c, s.size, "size");
    PGK_TRY(pgk_cur_check(&c, err, record));
    src.base_off = s.off;
    pgk_cur_init(into, bytes, s.size, &src);
    return 0;
}

static int read_events(struct pgk_perf_data *file, struct section attrs, uint64_t entry_size,
                       struct pgk_err *err)
{
    struct pgk_cursor c, ids;
    PGK_TRY(section_cursor(file, attrs, &c, "events", err));
    while (pgk_cur_left(&c)) {
        uint64_t at = pgk_cur_off(&c);
        if (entry_size <= sizeof(struct section) || entry_size > pgk_cur_left(&c))
            return pgk_cur_reject(&c, err, PGK_E_CORRUPT, 16, .record = "header",
                                  .field = "size of an event",
                                  .found = PGK_F("%" PRIu64 " bytes", entry_size),
                                  .expected = PGK_F("17 to the %zu bytes left", pgk_cur_left(&c)),
                                  .hint = "the recording is damaged; record again");
        struct pgk_cursor entry = c;
        uint64_t attr_size = entry_size - sizeof(struct section);
        pgk_cur_seek(&c, at + attr_size, "event");
        struct section id_section = take_section(&c, "ids");
        PGK_TRY(pgk_cur_check(&c, err, "events"));
        PGK_TRY(section_cursor(file, id_section, &ids, "ids of an event", err));
        PGK_TRY(pgk_perf_add_event(file, &entry, attr_size, &ids, err));
    }
    return 0;
}

/* The table after the data: the section of each feature of the bitmap. */
static int read_features(struct pgk_perf_data *file, const uint64_t bitmap[4], struct pgk_err *err)
{
    struct pgk_cursor c;
    struct section rest = {file->data_end, file->size - file->data_end};
    PGK_TRY(section_cursor(file, rest, &c, "features", err));
    for (unsigned feature = 0; feature < FEATURES; feature++) {
        if (!(bitmap[feature / 64] >> feature % 64 & 1))
            continue;
        struct pgk_cursor content;
        struct section s = take_section(&c, "feature");
        PGK_TRY(pgk_cur_check(&c, err, PGK_F("feature %u", feature)));
        PGK_TRY(section_cursor(file, s, &content, PGK_F("feature %u", feature), err));
        PGK_TRY(pgk_perf_feature(file, feature, &content, err));
    }
    return 0;
}

static int read_file_header(struct pgk_perf_data *file, struct pgk_cursor *c, struct pgk_err *err)
{
    uint64_t bitmap[4];
    uint64_t entry_size = pgk_cur_u64(c, "size of an event");
    struct section attrs = take_section(c, "events"), data = take_section(c, "data");
    take_section(c, "event types");
    for (size_t i = 0; i < PGK_COUNTOF(bitmap); i++)
        bitmap[i] = pgk_cur_u64(c, "features");
    PGK_TRY(pgk_cur_check(c, err, "header"));
    if (data.off > file->size || data.size > file->size - data.off)
        return pgk_cur_reject(c, err, PGK_E_TRUNCATED, 40, .record = "header", .field = "data",
                              .found =
                                  PGK_F("%" PRIu64 " bytes at 0x%" PRIx64, data.size, data.off),
                              .expected = PGK_F("at most the %zu bytes of the file", file->size),
                              .hint = "the recording is cut short; record again");
    /* perf writes the size when it ends. */
    file->info.interrupted = !data.size && data.off < file->size;
    file->data_off = data.off;
    file->data_end = file->info.interrupted ? file->size : data.off + data.size;
    PGK_TRY(read_events(file, attrs, entry_size, err));
    return file->info.interrupted ? 0 : read_features(file, bitmap, err);
}

static int read_header(struct pgk_perf_data *file, struct pgk_err *err)
{
    struct pgk_cursor c;
    pgk_cur_init(&c, file->bytes, file->size, &file->src);
    uint64_t magic = pgk_cur_u64(&c, "magic"), size = pgk_cur_u64(&c, "size of the header");
    PGK_TRY(pgk_cur_check(&c, err, "header"));
    if (magic == MAGIC_OTHER_ORDER)
        return pgk_cur_reject(&c, err, PGK_E_VERSION, 0, .record = "header", .field = "magic",
                              .found = "a recording of a machine with the other byte order",
                              .expected = "PERFILE2",
                              .hint = "turn it into text on that machine with perf script");
    if (magic != PGK_PERF_DATA_MAGIC)
        return pgk_cur_reject(&c, err, PGK_E_FORMAT, 0, .record = "header", .field = "magic",
                              .found = PGK_F("0x%016" PRIx64, magic), .expected = "PERFILE2",
                              .hint = "is this a file of perf record?");
    file->pipe = size == PIPE_HEADER_SIZE;
    if (file->pipe) {
        file->data_off = PIPE_HEADER_SIZE;
        file->data_end = file->size;
        return 0;
    }
    if (size != HEADER_SIZE)
        return pgk_cur_reject(&c, err, PGK_E_VERSION, 8, .record = "header",
                              .field = "size of the header",
                              .found = PGK_F("%" PRIu64 " bytes", size),
                              .expected = "104 bytes (file) or 16 bytes (pipe)",
                              .hint = "the recording is of an unknown perf");
    return read_file_header(file, &c, err);
}

struct pass {
    struct pgk_perf_data *file;
    const struct pgk_perf_handler *handler;
    struct pgk_err *err;
};

static int about_pass(void *ctx, const struct perf_record *record)
{
    struct pass *p = ctx;
    return pgk_perf_about(p->file, record, p->err);
}

bool pgk_perf_is_stream(const uint8_t *bytes, size_t size)
{
    uint64_t head[2];
    if (size < sizeof head)
        return false;
    memcpy(head, bytes, sizeof head);
    return head[0] == PGK_PERF_DATA_MAGIC && head[1] == PIPE_HEADER_SIZE;
}

int pgk_perf_data_open_stream(struct pgk_perf_data **into, struct pgk_filemap *map, int fd,
                              const struct pgk_source *src, struct pgk_err *err)
{
    struct pgk_perf_data *file = pgk_mem_zalloc(1, sizeof *file);
    if (!file) {
        if (fd >= 0)
            close(fd);
        return pgk_fail_nomem(err);
    }
    file->fd = fd;
    file->map = map;
    file->bytes = map->bytes;
    file->size = map->size;
    file->src = *src;
    file->src.base_off = 0;
    file->info = (struct pgk_perf_info){.form = "perf.data", .cpu = "", .bytes = map->size};
    int status = read_header(file, err);
    if (!status && file->pipe && fd < 0) /* which has no index of what it says about itself */
        status = pgk_perf_walk(file, about_pass, &(struct pass){file, NULL, err}, err);
    if (status)
        pgk_perf_data_close(&file);
    else
        *into = file;
    return status;
}

int pgk_perf_data_open(struct pgk_perf_data **into, struct pgk_filemap *map,
                       const struct pgk_source *src, struct pgk_err *err)
{
    return pgk_perf_data_open_stream(into, map, -1, src, err);
}

static int sideband_pass(void *ctx, const struct perf_record *record)
{
    struct pass *p = ctx;
    if (!p->file->pipe)
        PGK_TRY(pgk_perf_about(p->file, record, p->err));
    return pgk_perf_sideband(p->file, record, p->handler, p->err);
}

static int pass_trace(const struct pass *p, const struct perf_record *record)
{
    struct pgk_cursor c = pgk_perf_body(p->file, record);
    struct pgk_perf_trace t = {.type = p->file->trace_type,
                               .bytes = record->trailing,
                               .size = record->trailing_size,
                               .file_offset = record->at + 8 + record->size};
    pgk_cur_take(&c, 3 * sizeof(uint64_t), "size, offset and reference");
    pgk_cur_u32(&c, "number");
    t.tid = pgk_cur_u32(&c, "thread");
    t.cpu = pgk_cur_u32(&c, "processor");
    PGK_TRY(pgk_cur_check(&c, p->err, PGK_F("trace, record %" PRIu64, record->ordinal)));
    return p->handler->trace ? p->handler->trace(p->handler->ctx, &t) : 0;
}

int pgk_perf_pass_sample(struct pgk_perf_data *file, const struct perf_record *record,
                         const struct pgk_perf_handler *handler, struct pgk_err *err)
{
    struct pgk_perf_sample sample;
    if (record->type == RECORD_AUXTRACE)
        return pass_trace(&(struct pass){file, handler, err}, record);
    if (record->type != RECORD_SAMPLE)
        return 0;
    file->info.samples++;
    PGK_TRY(pgk_perf_sample(file, record, &sample, err));
    return handler->sample ? handler->sample(handler->ctx, &sample) : 0;
}

static int sample_pass(void *ctx, const struct perf_record *record)
{
    struct pass *p = ctx;
    return pgk_perf_pass_sample(p->file, record, p->handler, p->err);
}

int pgk_perf_need_events(const struct pgk_perf_data *file, struct pgk_err *err)
{
    if (file->events.n)
        return 0;
    return pgk_fail(err, PGK_E_CORRUPT, .file = file->src.file, .format = file->src.format,
                    .offset = &file->data_off, .record = "header", .field = "events",
                    .found = "none", .expected = "one at least",
                    .hint = "perf was killed before it recorded anything; record again");
}

int pgk_perf_data_read(struct pgk_perf_data *file, const struct pgk_perf_handler *handler,
                       struct pgk_err *err)
{
    struct pass pass = {file, handler, err};
    if (file->fd >= 0)
        return pgk_perf_stream_read(file, handler, err);
    PGK_TRY(pgk_perf_need_events(file, err));
    file->info.samples = file->info.mappings = file->info.tasks = file->info.lost_samples = 0;
    PGK_TRY(pgk_perf_walk(file, sideband_pass, &pass, err));
    return pgk_perf_walk(file, sample_pass, &pass, err);
}

const struct pgk_perf_info *pgk_perf_data_info(const struct pgk_perf_data *file)
{
    return &file->info;
}

void pgk_perf_data_close(struct pgk_perf_data **file)
{
    struct pgk_perf_data *f = *file;
    if (!f)
        return;
    pgk_vec_free(&f->events);
    pgk_vec_free(&f->attrs);
    pgk_vec_free(&f->ids);
    pgk_vec_free(&f->id_events);
    pgk_index_free(&f->by_id);
    pgk_intern_free(&f->names);
    pgk_vec_free(&f->build_ids);
    pgk_index_free(&f->by_path);
    pgk_vec_free(&f->pmus);
    pgk_vec_free(&f->branches);
    pgk_vec_free(&f->chain);
    if (f->fd >= 0)
        close(f->fd);
    pgk_mem_free(f);
    *file = NULL;
}
