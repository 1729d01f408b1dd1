/* The metadata of a perf.data file: events, their names, build ids, the machine. */
#include "hash.h"
#include "perf_data_priv.h"

#include <inttypes.h>

enum {
    FEATURE_BUILD_ID = 2,
    FEATURE_CPUID = 9,
    FEATURE_EVENT_DESC = 12,
    FEATURE_PMU_MAPPINGS = 16
};
enum { ATTR_SIZE_FIRST = 64, ATTR_SIZE_MAX = 4096 };
enum { BRANCH_HW_INDEX = 1 << 17, BRANCH_COUNTERS = 1 << 19 };
enum { MISC_BUILD_ID_SIZE = 0x8000, BUILD_ID_FIELD = 24 };
#define ATTR_FREQ (UINT64_C(1) << 10)

static int intern(struct pgk_perf_data *file, const char *text, size_t len, uint32_t *id,
                  struct pgk_err *err)
{
    *id = pgk_intern(&file->names, text, len);
    return *id == PGK_INDEX_NONE ? pgk_fail_nomem(err) : 0;
}

/* A length, which counts the padding, and as many bytes. */
static int take_string(struct pgk_perf_data *file, struct pgk_cursor *c, uint32_t *id,
                       struct pgk_err *err)
{
    uint32_t size = pgk_cur_u32(c, "length");
    const uint8_t *text = pgk_cur_take(c, size, "text");
    PGK_TRY(pgk_cur_check(c, err, "string"));
    return intern(file, (const char *)text, strnlen((const char *)text, size), id, err);
}

/* perf_event_attr grew over the years: what a file lacks at its end is 0. */
static void read_attr(const uint8_t *bytes, size_t size, struct pgk_perf_event *event,
                      struct perf_attr *attr)
{
    enum { LAYOUT = 128 };
    uint8_t all[LAYOUT] = {0};
    memcpy(all, bytes, size < LAYOUT ? size : LAYOUT);
#define AT(off, type) (*(const type *)memcpy(&(type){0}, all + (off), sizeof(type)))
    attr->sample_type = AT(24, uint64_t);
    attr->read_format = AT(32, uint64_t);
    attr->flags = AT(40, uint64_t);
    attr->regs_user = AT(80, uint64_t);
    attr->regs_intr = AT(96, uint64_t);
    uint64_t branch_type = AT(72, uint64_t);
    attr->has_hw_index = branch_type & BRANCH_HW_INDEX;
    attr->has_branch_counters = branch_type & BRANCH_COUNTERS;
    *event = (struct pgk_perf_event){
        .name = "",
        .pmu = "",
        .type = AT(0, uint32_t),
        .config = AT(8, uint64_t),
        .period = AT(16, uint64_t),
        .sample_type = attr->sample_type,
        .branch_type = branch_type,
        .is_frequency = attr->flags & ATTR_FREQ,
        .precise = (uint32_t)(attr->flags >> 15) & 3,
    };
#undef AT
}

int pgk_perf_add_event(struct pgk_perf_data *file, struct pgk_cursor *c, size_t size,
                       struct pgk_cursor *ids, struct pgk_err *err)
{
    struct pgk_perf_event event;
    struct perf_attr attr;
    uint64_t at = pgk_cur_off(c);
    const uint8_t *bytes = pgk_cur_take(c, size, "event");
    PGK_TRY(pgk_cur_check(c, err, "event"));
    if (size < ATTR_SIZE_FIRST || size > ATTR_SIZE_MAX)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, at, .record = "event", .field = "size",
                              .found = PGK_F("%zu bytes", size), .expected = "64 to 4096 bytes",
                              .hint = "the recording is damaged; record again");
    read_attr(bytes, size, &event, &attr);
    file->has_times = (file->events.n ? file->has_times : true) && attr.sample_type & SAMPLE_TIME;
    if (!pgk_vec_push(&file->events, event) || !pgk_vec_push(&file->attrs, attr))
        return pgk_fail_nomem(err);
    while (pgk_cur_left(ids)) {
        uint64_t id = pgk_cur_u64(ids, "event id");
        PGK_TRY(pgk_cur_check(ids, err, "ids of an event"));
        if (!pgk_vec_push(&file->ids, id) ||
            !pgk_vec_push(&file->id_events, (uint32_t)file->events.n - 1) ||
            !pgk_index_add(&file->by_id, pgk_hash_u64(id), (uint32_t)file->ids.n - 1))
            return pgk_fail_nomem(err);
    }
    file->info.events = file->events.v;
    file->info.n_events = file->events.n;
    return 0;
}

/* perf before 5.11 does not say how many of the bytes are the build id, and zeros fill up the rest.
 * Linkers make ids of 8 bytes (lld's "fast"), 16 ("md5", "uuid") and 20. */
static uint8_t unpadded_size(const uint8_t id[static PGK_BUILD_ID_MAX])
{
    static const uint8_t sizes[] = {8, 16}, zeros[PGK_BUILD_ID_MAX];
    for (size_t i = 0; i < PGK_COUNTOF(sizes); i++)
        if (!memcmp(id + sizes[i], zeros, PGK_BUILD_ID_MAX - sizes[i]))
            return sizes[i];
    return PGK_BUILD_ID_MAX;
}

static int add_build_id(struct pgk_perf_data *file, struct pgk_cursor *c, uint16_t misc,
                        struct pgk_err *err)
{
    struct perf_build_id b = {0};
    pgk_cur_u32(c, "process");
    const uint8_t *id = pgk_cur_take(c, BUILD_ID_FIELD, "build id");
    size_t left = pgk_cur_left(c);
    const char *path = (const char *)pgk_cur_take(c, left, "path");
    PGK_TRY(pgk_cur_check(c, err, "build id"));
    uint8_t size = misc & MISC_BUILD_ID_SIZE ? id[PGK_BUILD_ID_MAX] : unpadded_size(id);
    b.size = size < PGK_BUILD_ID_MAX ? size : PGK_BUILD_ID_MAX;
    memcpy(b.bytes, id, b.size);
    size_t len = strnlen(path, left);
    PGK_TRY(intern(file, path, len, &b.path, err));
    if (!pgk_vec_push(&file->build_ids, b) ||
        !pgk_index_add(&file->by_path, pgk_hash_bytes(path, len), (uint32_t)file->build_ids.n - 1))
        return pgk_fail_nomem(err);
    return 0;
}

/* Entries with record headers, one after the other. */
static int read_build_ids(struct pgk_perf_data *file, struct pgk_cursor *c, struct pgk_err *err)
{
    enum { HEADER = 8 };
    while (pgk_cur_left(c)) {
        uint64_t at = pgk_cur_off(c);
        pgk_cur_u32(c, "type");
        uint16_t misc = pgk_cur_u16(c, "misc"), size = pgk_cur_u16(c, "size");
        PGK_TRY(pgk_cur_check(c, err, "build ids"));
        const uint8_t *body = size >= HEADER ? pgk_cur_take(c, size - HEADER, "entry") : NULL;
        if (!body)
            return pgk_cur_reject(c, err, PGK_E_CORRUPT, at + 6, .record = "build ids",
                                  .field = "size", .found = PGK_F("%u bytes", size),
                                  .expected = "8 to the bytes left",
                                  .hint = "the recording is damaged; record again");
        struct pgk_cursor entry;
        struct pgk_source src = file->src;
        src.base_off = at + HEADER;
        pgk_cur_init(&entry, body, size - HEADER, &src);
        PGK_TRY(add_build_id(file, &entry, misc, err));
    }
    return 0;
}

const struct perf_build_id *pgk_perf_build_id(const struct pgk_perf_data *file, const char *path,
                                              size_t len)
{
    PGK_INDEX_FOR (&file->by_path, pgk_hash_bytes(path, len), i) {
        uint32_t known = file->build_ids.v[i].path;
        if (pgk_intern_len(&file->names, known) == len &&
            !memcmp(pgk_intern_str(&file->names, known), path, len))
            return &file->build_ids.v[i];
    }
    return NULL;
}

/* Names of the events, in their order. */
static int read_event_names(struct pgk_perf_data *file, struct pgk_cursor *c, struct pgk_err *err)
{
    uint32_t n = pgk_cur_u32(c, "count"), attr_size = pgk_cur_u32(c, "size of an event");
    for (uint32_t i = 0; i < n && i < file->events.n; i++) {
        uint32_t name;
        pgk_cur_take(c, attr_size, "event");
        uint32_t n_ids = pgk_cur_u32(c, "ids");
        PGK_TRY(pgk_cur_check(c, err, "names of events"));
        PGK_TRY(take_string(file, c, &name, err));
        pgk_cur_take(c, 8 * (uint64_t)n_ids, "ids");
        PGK_TRY(pgk_cur_check(c, err, "names of events"));
        file->events.v[i].name = pgk_intern_str(&file->names, name);
    }
    return 0;
}

/* Numbers of the units that count events, which differ from machine to machine. */
static int read_pmus(struct pgk_perf_data *file, struct pgk_cursor *c, struct pgk_err *err)
{
    uint32_t n = pgk_cur_u32(c, "count");
    for (uint32_t i = 0; i < n && pgk_cur_left(c); i++) {
        struct perf_pmu pmu = {.type = pgk_cur_u32(c, "type")};
        PGK_TRY(take_string(file, c, &pmu.name, err));
        if (!pgk_vec_push(&file->pmus, pmu))
            return pgk_fail_nomem(err);
    }
    for (size_t e = 0; e < file->events.n; e++)
        for (size_t i = 0; i < file->pmus.n; i++)
            if (file->pmus.v[i].type == file->events.v[e].type)
                file->events.v[e].pmu = pgk_intern_str(&file->names, file->pmus.v[i].name);
    return pgk_cur_check(c, err, "units that count events");
}

int pgk_perf_feature(struct pgk_perf_data *file, unsigned feature, struct pgk_cursor *c,
                     struct pgk_err *err)
{
    uint32_t id;
    switch (feature) {
    case FEATURE_BUILD_ID:
        return read_build_ids(file, c, err);
    case FEATURE_CPUID:
        PGK_TRY(take_string(file, c, &id, err));
        file->info.cpu = pgk_intern_str(&file->names, id);
        return 0;
    case FEATURE_EVENT_DESC:
        return read_event_names(file, c, err);
    case FEATURE_PMU_MAPPINGS:
        return read_pmus(file, c, err);
    default:
        return 0;
    }
}

/* In a pipe an event's size is in itself, and the ids are the rest of the record. */
static int read_attr_record(struct pgk_perf_data *file, const struct perf_record *record,
                            struct pgk_err *err)
{
    struct pgk_cursor c = pgk_perf_body(file, record), ids = c;
    uint32_t size = 0;
    if (record->size >= 8)
        memcpy(&size, record->body + 4, sizeof size);
    pgk_cur_take(&ids, size, "event");
    PGK_TRY(pgk_cur_check(&ids, err, PGK_F("event, record %" PRIu64, record->ordinal)));
    return pgk_perf_add_event(file, &c, size, &ids, err);
}

int pgk_perf_about(struct pgk_perf_data *file, const struct perf_record *record,
                   struct pgk_err *err)
{
    struct pgk_cursor c = pgk_perf_body(file, record);
    switch (record->type) {
    case RECORD_ATTR:
        return read_attr_record(file, record, err);
    case RECORD_BUILD_ID:
        return add_build_id(file, &c, record->misc, err);
    case RECORD_FEATURE: {
        uint64_t feature = pgk_cur_u64(&c, "feature");
        PGK_TRY(pgk_cur_check(&c, err, PGK_F("feature, record %" PRIu64, record->ordinal)));
        return pgk_perf_feature(file, feature < 256 ? (unsigned)feature : 255, &c, err);
    }
    case RECORD_AUXTRACE_INFO:
        file->trace_type = pgk_cur_u32(&c, "type of trace");
        return pgk_cur_check(&c, err, PGK_F("trace, record %" PRIu64, record->ordinal));
    default:
        return 0;
    }
}
