/* Reading a pipe of perf while perf writes it: no more is kept than what perf sorts at a time.
 *
 * perf reads the buffers of the processors in rounds. Everything that happened before the buffers
 * were read in one round has been written when the next round ends: also the mappings that a
 * sample of another processor needs. So mappings and tasks are passed on as they come, and samples
 * when the round after theirs has ended. */
#include "perf_data_priv.h"

/* Without rounds, which perf leaves out where it does not sort, so much is kept. */
enum { QUEUE_BYTES = 16 << 20 };
/* Records of perf itself have types from here on. */
enum { FIRST_OF_PERF = 64 };

/* A sample or a trace: the record, whose bytes stand in the queue. */
struct queued {
    struct perf_record record;
    size_t off;
};

struct stream {
    struct pgk_perf_data *file;
    const struct pgk_perf_handler *handler;
    struct pgk_err *err;
    PGK_VEC(struct queued) records;
    PGK_VEC(uint8_t) bytes;
    size_t n_ripe; /* records of rounds before the one that ended last */
};

/* Passes on the first `n` records of the queue. */
static int pass_on(struct stream *s, size_t n)
{
    if (!n)
        return 0;
    PGK_TRY(pgk_perf_need_events(s->file, s->err));
    for (size_t i = 0; i < n; i++) {
        struct perf_record *r = &s->records.v[i].record;
        r->body = s->bytes.v + s->records.v[i].off;
        r->trailing = r->body + r->size;
        PGK_TRY(pgk_perf_pass_sample(s->file, r, s->handler, s->err));
    }
    size_t done = n < s->records.n ? s->records.v[n].off : s->bytes.n;
    s->records.n -= n;
    s->bytes.n -= done;
    memmove(s->records.v, s->records.v + n, s->records.n * sizeof *s->records.v);
    memmove(s->bytes.v, s->bytes.v + done, s->bytes.n);
    for (size_t i = 0; i < s->records.n; i++)
        s->records.v[i].off -= done;
    return 0;
}

static int end_round(struct stream *s)
{
    PGK_TRY(pass_on(s, s->n_ripe));
    s->n_ripe = s->records.n;
    return 0;
}

static int keep(struct stream *s, const struct perf_record *record)
{
    struct queued q = {.record = *record, .off = s->bytes.n};
    size_t n_trailing = record->trailing ? record->trailing_size : 0;
    if (s->bytes.n >= QUEUE_BYTES) {
        PGK_TRY(pass_on(s, s->n_ripe > s->records.n / 2 ? s->n_ripe : s->records.n / 2));
        s->n_ripe = 0;
        q.off = s->bytes.n;
    }
    if (!pgk_vec_reserve(&s->bytes, record->size + n_trailing) || !pgk_vec_push(&s->records, q))
        return pgk_fail_nomem(s->err);
    memcpy(s->bytes.v + s->bytes.n, record->body, record->size);
    if (n_trailing)
        memcpy(s->bytes.v + s->bytes.n + record->size, record->trailing, n_trailing);
    s->bytes.n += record->size + n_trailing;
    return 0;
}

static int on_record(void *ctx, const struct perf_record *record)
{
    struct stream *s = ctx;
    if (record->type == RECORD_FINISHED_ROUND)
        return end_round(s);
    if (record->type == RECORD_SAMPLE || record->type == RECORD_AUXTRACE)
        return keep(s, record);
    PGK_TRY(pgk_perf_about(s->file, record, s->err));
    if (record->type < FIRST_OF_PERF) /* how those of the kernel end, the events say */
        PGK_TRY(pgk_perf_need_events(s->file, s->err));
    return pgk_perf_sideband(s->file, record, s->handler, s->err);
}

int pgk_perf_stream_read(struct pgk_perf_data *file, const struct pgk_perf_handler *handler,
                         struct pgk_err *err)
{
    struct stream s = {.file = file, .handler = handler, .err = err};
    file->info.samples = file->info.mappings = file->info.tasks = file->info.lost_samples = 0;
    int status = pgk_perf_walk_stream(file, on_record, &s, err);
    if (!status)
        status = pass_on(&s, s.records.n);
    if (!status)
        status = pgk_perf_need_events(file, err);
    pgk_vec_free(&s.records);
    pgk_vec_free(&s.bytes);
    return status;
}
