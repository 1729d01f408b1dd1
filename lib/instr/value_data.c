/* Reader of the value data of one function. */
#include "value_data.h"

#include <inttypes.h>

void pgk_value_data_clear(struct pgk_value_data *d)
{
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        d->kind[k].counts.n = d->kind[k].values.n = 0;
}

void pgk_value_data_free(struct pgk_value_data *d)
{
    for (int k = 0; k < PGK_VALUE_KINDS; k++) {
        pgk_vec_free(&d->kind[k].counts);
        pgk_vec_free(&d->kind[k].values);
    }
}

static uint32_t read_u32(struct pgk_cursor *c, bool swap, const char *field)
{
    uint32_t v = pgk_cur_u32(c, field);
    return swap ? __builtin_bswap32(v) : v;
}

static int read_values(struct pgk_value_data *d, int kind, struct pgk_cursor *c, bool swap,
                       uint64_t n, const char *record, struct pgk_err *err)
{
    const uint8_t *p = pgk_cur_take(c, n * 16, "values");
    PGK_TRY(pgk_cur_check(c, err, record));
    if (!pgk_vec_reserve(&d->kind[kind].values, n))
        return pgk_fail_nomem(err);
    struct pgk_instr_value *v = d->kind[kind].values.v;
    if (n)
        memcpy(v, p, n * sizeof *v);
    for (uint64_t i = 0; swap && i < n; i++)
        v[i] =
            (struct pgk_instr_value){__builtin_bswap64(v[i].value), __builtin_bswap64(v[i].count)};
    d->kind[kind].values.n = n;
    return 0;
}

static int read_kind(struct pgk_value_data *d, struct pgk_cursor *c, bool swap, const char *record,
                     struct pgk_err *err)
{
    uint64_t at = pgk_cur_off(c);
    uint32_t kind = read_u32(c, swap, "value kind"), sites = read_u32(c, swap, "value sites");
    const uint8_t *counts = pgk_cur_take(c, sites, "numbers of values");
    pgk_cur_take(c, -(8 + (uint64_t)sites) & 7, "padding");
    PGK_TRY(pgk_cur_check(c, err, record));
    if (kind >= PGK_VALUE_KINDS || d->kind[kind].counts.n)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, at, .record = record, .field = "value kind",
                              .found = PGK_F("%u", kind),
                              .expected = PGK_F("0 to %d, each once", PGK_VALUE_KINDS - 1),
                              .hint = "the profile is damaged, or of a newer release");
    if (!pgk_vec_reserve(&d->kind[kind].counts, sites))
        return pgk_fail_nomem(err);
    uint64_t n = 0;
    for (uint32_t i = 0; i < sites; i++)
        n += d->kind[kind].counts.v[i] = counts[i];
    d->kind[kind].counts.n = sites;
    return read_values(d, (int)kind, c, swap, n, record, err);
}

int pgk_value_data_read(struct pgk_value_data *d, struct pgk_cursor *c, bool swap,
                        const char *record, struct pgk_err *err)
{
    uint64_t at = pgk_cur_off(c);
    pgk_value_data_clear(d);
    uint32_t size = read_u32(c, swap, "size of value data"),
             kinds = read_u32(c, swap, "number of value kinds");
    PGK_TRY(pgk_cur_check(c, err, record));
    if (kinds > PGK_VALUE_KINDS)
        return pgk_cur_reject(c, err, PGK_E_CORRUPT, at + 4, .record = record,
                              .field = "number of value kinds", .found = PGK_F("%u", kinds),
                              .expected = PGK_F("0 to %d", PGK_VALUE_KINDS),
                              .hint = "the profile is damaged, or of a newer release");
    while (kinds--)
        PGK_TRY(read_kind(d, c, swap, record, err));
    if (pgk_cur_off(c) - at != size)
        return pgk_cur_reject(
            c, err, PGK_E_CORRUPT, at, .record = record, .field = "size of value data",
            .found = PGK_F("%u", size),
            .expected = PGK_F("%" PRIu64 ", the size of what it holds", pgk_cur_off(c) - at),
            .hint = "the profile is damaged; record it again");
    return 0;
}
