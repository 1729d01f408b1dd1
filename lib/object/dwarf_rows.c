/* The addresses at which the source position changes: the rows of all line tables. */
#include "symboliser_priv.h"
#include "u64_set.h"

int pgk_symboliser_rows(struct pgk_symboliser *sym, const uint64_t *units, size_t n_units,
                        uint64_t **rows, size_t *n_rows, struct pgk_err *err)
{
    struct pgk_dw_file *file = pgk_symboliser_file(sym);
    const struct pgk_dw_lines *before = NULL;
    pgk_dw_addr_vec all = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < file->units.n; i++) {
        struct pgk_dw_unit *u = &file->units.v[i];
        if (units && pgk_u64_find(units, n_units, i + 1) == n_units)
            continue;
        const struct pgk_dw_lines *lines = u->usable ? pgk_dw_unit_lines(u) : NULL;
        if (lines != before)
            ok = pgk_dw_lines_rows(lines, &all);
        before = lines;
    }
    if (!ok || file->starved) {
        pgk_vec_free(&all);
        return pgk_fail_nomem(err);
    }
    *n_rows = pgk_u64_set(all.v, all.n);
    *rows = all.v;
    return 0;
}
