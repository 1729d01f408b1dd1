/* Counters in another build: their functions by the hashes that an instrumented build records. */
#include "function_hashes.h"
#include "function_totals.h"
#include "saturate.h"

static uint64_t sum_of(const struct pgk_instr_function *f)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < f->n_counts; i++)
        sum = pgk_add_saturated(sum, f->counts[i]);
    return sum;
}

static bool match_function(struct pgk_function_match *m, const struct pgk_hashes *hashes,
                           const struct pgk_instr_function *f)
{
    struct pgk_level_samples samples = {0};
    struct pgk_changed c = {.guid = f->id, .checksum = f->hash, .samples = sum_of(f),
                            .by_checksum = true};
    struct pgk_hash_key key = {.guid = f->id, .hash = f->hash};
    c.level = (uint8_t)pgk_hashes_level(hashes, &key, &c.now_checksum);
    c.function = pgk_intern(&m->strings, f->name, f->name_len);
    pgk_function_match_count(m, (enum pgk_match_level)c.level, c.samples, &samples);
    pgk_function_match_close_function(m, &samples);
    return c.function != PGK_INDEX_NONE &&
           (c.level == PGK_MATCH_EXACT || pgk_function_match_note(m, &c));
}

static int match(struct pgk_function_match *m, const struct pgk_instr *profile,
                 const struct pgk_hashes *hashes, struct pgk_err *err)
{
    size_t n = pgk_instr_functions(profile);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        struct pgk_instr_function f = {.struct_size = sizeof f};
        pgk_instr_function(profile, i, &f);
        ok = match_function(m, hashes, &f);
    }
    if (!ok)
        return pgk_fail_nomem(err);
    pgk_function_match_finish(m);
    return pgk_function_match_check(n, m->totals[PGK_MATCH_GONE].functions < n, err);
}

int pgk_match_instr(struct pgk_function_match **into, const struct pgk_instr *profile,
                    struct pgk_binaries *binaries, struct pgk_err *err)
{
    struct pgk_hashes hashes = {0};
    struct pgk_function_match *m = NULL;
    if (!pgk_instr_functions(profile))
        return pgk_fail(err, PGK_E_EMPTY, .field = "functions", .found = "none",
                        .expected = "counters of functions");
    PGK_TRY(pgk_function_match_new(&m, err));
    int status = pgk_hashes_of_counters(&hashes, binaries, err);
    if (!status)
        status = match(m, profile, &hashes, err);
    pgk_hashes_free(&hashes);
    if (status)
        pgk_function_match_close(&m);
    else
        *into = m;
    return status;
}
