/* The texts in the notes of a raw heap profile. docs/formats/interrupted-heap.md */
#include "heap_raw_texts.h"

#include "process_text.h"

#include <inttypes.h>
#include <string.h>

typedef PGK_VEC(char) text_vec;

struct texts_reader {
    struct pgk_raw_texts *texts;
    struct pgk_intern *strings;
    struct pgk_cursor *c;
    const char *record;
    text_vec text; /* scratch */
    struct pgk_err *err;
};

void pgk_raw_texts_free(struct pgk_raw_texts *texts)
{
    pgk_vec_free(&texts->paths);
}

static int reject(const struct texts_reader *r, uint64_t off, const char *field, const char *found,
                  const char *expected)
{
    return pgk_cur_reject(r->c, r->err, PGK_E_CORRUPT, off, .record = r->record, .field = field,
                          .found = found, .expected = expected,
                          .hint = "record the profile again");
}

/* The bytes of a part; NULL with `*n` 0 if there are none. */
static int take_part(const struct texts_reader *r, const struct pgk_raw_notes *notes,
                     enum pgk_notes_parts part, const char **bytes, size_t *n)
{
    const uint64_t records = pgk_raw_part_open(r->c, notes, part);
    if (records > PGK_NOTES_TEXT_BYTES)
        return reject(r, pgk_cur_off(r->c), "texts", PGK_F("%" PRIu64 " bytes", records),
                      PGK_F("at most %d", PGK_NOTES_TEXT_BYTES));
    *bytes = records ? (const char *)pgk_cur_take(r->c, records, "texts") : NULL;
    *n = (size_t)records;
    return pgk_cur_check(r->c, r->err, r->record);
}

static bool put(text_vec *t, const char *s, size_t n)
{
    if (!pgk_vec_reserve(t, n))
        return false;
    memcpy(t->v + t->n, s, n);
    t->n += n;
    return true;
}

static int read_process(struct texts_reader *r, const struct pgk_raw_notes *notes)
{
    struct pgk_recorded *to = &r->texts->recorded;
    const char *at;
    size_t n;
    PGK_TRY(take_part(r, notes, PGK_NOTES_PROCESS, &at, &n));
    if (n && at[n - 1])
        return reject(r, pgk_cur_off(r->c) - 1, "part PROCESS",
                      PGK_F("0x%02x", (unsigned)(uint8_t)at[n - 1]), "a zero byte at the end");
    if (!to->start_time)
        to->start_time = notes->start_time;
    if (!n || to->program || to->host)
        return 0;
    struct pgk_process_text text;
    if (!pgk_process_text_split(&text, at, n))
        return pgk_fail_nomem(r->err);
    to->program = pgk_intern_cstr(r->strings, text.program);
    to->host = pgk_intern_cstr(r->strings, text.host);
    to->command_line = pgk_intern_cstr(r->strings, text.command_line);
    pgk_process_text_free(&text);
    return to->program == PGK_INDEX_NONE || to->host == PGK_INDEX_NONE ||
                   to->command_line == PGK_INDEX_NONE
               ? pgk_fail_nomem(r->err)
               : 0;
}

static int keep_path(struct texts_reader *r, size_t segment)
{
    while (r->texts->paths.n <= segment)
        if (!pgk_vec_push(&r->texts->paths, 0))
            return pgk_fail_nomem(r->err);
    uint32_t *path = &r->texts->paths.v[segment];
    if (!*path)
        *path = pgk_intern(r->strings, r->text.v, r->text.n);
    return *path == PGK_INDEX_NONE ? pgk_fail_nomem(r->err) : 0;
}

/* Each path begins with bytes of the one before it. */
static int read_paths(struct texts_reader *r, const struct pgk_raw_notes *notes)
{
    const char *bytes;
    size_t n, at = sizeof(uint16_t);
    uint16_t segment = 0;
    PGK_TRY(take_part(r, notes, PGK_NOTES_PATHS, &bytes, &n));
    const uint64_t off = pgk_cur_off(r->c) - n;
    r->text.n = 0;
    if (n >= at)
        memcpy(&segment, bytes, sizeof segment);
    for (size_t i = segment; at < n; i++) {
        const uint8_t shared = (uint8_t)bytes[at];
        const char *end = memchr(bytes + at, 0, n - at);
        if (!shared) /* its number is a zero byte, too */
            end = memchr(bytes + at + 1, 0, n - at - 1);
        if (!end || shared > r->text.n || i > UINT16_MAX)
            return reject(r, off + at, "part PATHS",
                          PGK_F("%u bytes of the path before it", (unsigned)shared),
                          PGK_F("at most %zu, and a zero byte at the end of the path", r->text.n));
        r->text.n = shared;
        if (!put(&r->text, bytes + at + 1, (size_t)(end - bytes) - at - 1))
            return pgk_fail_nomem(r->err);
        PGK_TRY(keep_path(r, i));
        at = (size_t)(end - bytes) + 1;
    }
    return 0;
}

int pgk_raw_texts_read(struct pgk_raw_texts *texts, struct pgk_intern *strings,
                       struct pgk_cursor *c, uint32_t dump, const struct pgk_raw_notes *notes,
                       struct pgk_err *err)
{
    struct texts_reader r = {.texts = texts, .strings = strings, .c = c,
                             .record = PGK_F("dump %u, notes", dump), .err = err};
    int status = read_process(&r, notes);
    if (!status)
        status = read_paths(&r, notes);
    pgk_vec_free(&r.text);
    return status;
}
