/* Decoding samples of perf.data: the fields that an event asks for, in their order. */
#include "hash.h"
#include "perf_data_priv.h"

#include <inttypes.h>

/* perf_event_attr.read_format */
enum { READ_ENABLED = 1, READ_RUNNING = 2, READ_ID = 4, READ_GROUP = 8, READ_LOST = 16 };

struct decoder {
    struct pgk_perf_data *file;
    const struct perf_attr *attr;
    struct pgk_cursor c;
    struct pgk_perf_sample *s;
    bool nomem;
};

#define FORM(form) static void read_##form(struct decoder *d, void *to, const char *name)

FORM(word)
{
    *(uint64_t *)to = pgk_cur_u64(&d->c, name);
}

FORM(skip_word)
{
    (void)to;
    pgk_cur_take(&d->c, 8, name);
}

FORM(two_ids)
{
    (void)to;
    d->s->pid = (int32_t)pgk_cur_u32(&d->c, name);
    d->s->tid = (int32_t)pgk_cur_u32(&d->c, name);
}

FORM(cpu)
{
    *(uint32_t *)to = pgk_cur_u32(&d->c, name);
    pgk_cur_take(&d->c, 4, name);
}

FORM(counters)
{
    (void)to;
    uint64_t format = d->attr->read_format;
    uint64_t times = !!(format & READ_ENABLED) + !!(format & READ_RUNNING);
    uint64_t value = 1 + !!(format & READ_ID) + !!(format & READ_LOST);
    uint64_t n = format & READ_GROUP ? pgk_cur_count(&d->c, value * 8, name) : 1;
    pgk_cur_take(&d->c, 8 * (times + n * value), name);
}

/* An array of 64-bit words where it lies, or a copy of it where that is not aligned. */
static const void *words(struct decoder *d, const uint8_t *at, size_t size, uint64_t **buf,
                         size_t *cap)
{
    if (!at || !size || (uintptr_t)at % sizeof(uint64_t) == 0)
        return at;
    if (*cap < size / 8 && !pgk_vec_grow(buf, cap, 0, size / 8, sizeof **buf)) {
        d->nomem = true;
        return NULL;
    }
    memcpy(*buf, at, size);
    return *buf;
}

FORM(chain)
{
    uint64_t n = pgk_cur_count(&d->c, 8, name);
    const uint8_t *at = pgk_cur_take(&d->c, 8 * n, name);
    *(const uint64_t **)to = words(d, at, 8 * n, &d->file->chain.v, &d->file->chain.cap);
    d->s->n_chain = d->s->chain ? n : 0;
}

FORM(raw)
{
    d->s->raw_size = pgk_cur_u32(&d->c, name);
    *(const uint8_t **)to = pgk_cur_take(&d->c, d->s->raw_size, name);
}

FORM(branches)
{
    (void)to;
    uint64_t n = pgk_cur_count(&d->c, sizeof(struct pgk_perf_branch), name);
    if (d->attr->has_hw_index)
        pgk_cur_take(&d->c, 8, name);
    const uint8_t *at = pgk_cur_take(&d->c, sizeof(struct pgk_perf_branch) * n, name);
    if (d->attr->has_branch_counters)
        pgk_cur_take(&d->c, 8 * n, name);
    if (at && n && (uintptr_t)at % sizeof(uint64_t)) {
        d->file->branches.n = 0;
        if (!pgk_vec_reserve(&d->file->branches, n)) {
            d->nomem = true;
            return;
        }
        memcpy(d->file->branches.v, at, sizeof(struct pgk_perf_branch) * n);
        at = (const uint8_t *)d->file->branches.v;
    }
    d->s->branches = (const void *)at;
    d->s->n_branches = at ? n : 0;
}

static void skip_registers(struct decoder *d, uint64_t mask, const char *name)
{
    if (pgk_cur_u64(&d->c, name))
        pgk_cur_take(&d->c, 8 * (uint64_t)__builtin_popcountll(mask), name);
}

FORM(user_registers)
{
    (void)to;
    skip_registers(d, d->attr->regs_user, name);
}

FORM(interrupt_registers)
{
    (void)to;
    skip_registers(d, d->attr->regs_intr, name);
}

FORM(user_stack)
{
    (void)to;
    uint64_t size = pgk_cur_u64(&d->c, name);
    pgk_cur_take(&d->c, size, name);
    if (size)
        pgk_cur_take(&d->c, 8, name);
}

FORM(sized)
{
    (void)to;
    pgk_cur_take(&d->c, pgk_cur_u64(&d->c, name), name);
}

uint32_t pgk_perf_event_of(const struct pgk_perf_data *file, uint64_t id)
{
    if (file->events.n > 1)
        PGK_INDEX_FOR (&file->by_id, pgk_hash_u64(id), i)
            if (file->ids.v[i] == id)
                return file->id_events.v[i];
    return 0;
}

/* The event of a sample must be known before its fields can be read. Its id is the first word, or
 * follows fields of fixed size. */
static uint64_t peek_id(const struct pgk_perf_data *file, const struct perf_record *record)
{
    uint64_t type = file->attrs.v[0].sample_type, id = 0;
    size_t at = 0;
    if (!(type & (SAMPLE_IDENTIFIER | SAMPLE_ID)))
        return 0;
    if (!(type & SAMPLE_IDENTIFIER)) /* instruction, process, time and address come before */
        at = 8 * (size_t)__builtin_popcountll(type & 0xf);
    if (at + sizeof id <= record->size)
        memcpy(&id, record->body + at, sizeof id);
    return id;
}

static uint32_t what_it_has(uint64_t type)
{
    static const struct {
        uint8_t bit;
        uint8_t has;
    } bits[] = {
        {0, PGK_PERF_HAS_IP},        {3, PGK_PERF_HAS_ADDR},      {5, PGK_PERF_HAS_CHAIN},
        {11, PGK_PERF_HAS_BRANCHES}, {15, PGK_PERF_HAS_DATA_SRC}, {10, PGK_PERF_HAS_RAW},
    };
    uint32_t has = 0;
    for (size_t i = 0; i < PGK_COUNTOF(bits); i++)
        has |= type >> bits[i].bit & 1 ? bits[i].has : 0;
    return has;
}

int pgk_perf_sample(struct pgk_perf_data *file, const struct perf_record *record,
                    struct pgk_perf_sample *sample, struct pgk_err *err)
{
    uint32_t event = pgk_perf_event_of(file, peek_id(file, record));
    struct decoder d = {
        .file = file, .attr = &file->attrs.v[event], .s = sample, .c = pgk_perf_body(file, record)};
    uint64_t type = d.attr->sample_type;
    *sample = (struct pgk_perf_sample){
        .has = what_it_has(type),
        .event = event,
        .pid = PGK_PID_UNKNOWN,
        .tid = PGK_PID_UNKNOWN,
        .cpu = UINT32_MAX,
        .mode = record->misc & 7,
        .count = 1,
        .time = record->ordinal,
        .period = file->events.v[event].is_frequency ? 1 : file->events.v[event].period,
    };
#define PGK_PERF_FIELD(name, bit, form, member) \
    if (type >> (bit)&1)                        \
        read_##form(&d, &sample->member, name);
#include "perf_sample.def"
    if (PGK_UNLIKELY(d.nomem))
        return pgk_fail_nomem(err);
    if (!file->has_times)
        sample->time = record->ordinal;
    if (PGK_UNLIKELY(d.c.failed))
        return pgk_cur_check(&d.c, err, PGK_F("sample, record %" PRIu64, record->ordinal));
    if (PGK_UNLIKELY(pgk_cur_left(&d.c) >= 8))
        return pgk_cur_reject(&d.c, err, PGK_E_CORRUPT, pgk_cur_off(&d.c),
                              .record = PGK_F("sample, record %" PRIu64, record->ordinal),
                              .field = "end of the sample",
                              .found = PGK_F("%zu bytes more", pgk_cur_left(&d.c)),
                              .expected = "the end of the record",
                              .hint = "the recording is damaged, or of a newer perf whose "
                                      "samples hold something unknown");
    return 0;
}
