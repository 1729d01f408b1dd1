/* Parts that raw and indexed profiles have alike. */
#include "instr_parts.h"

#include "name_blocks.h"

#include <stdlib.h>

static int by_name(const void *a, const void *b)
{
    const struct pgk_instr_name *x = a, *y = b;
    int d = memcmp(x->s, y->s, x->len < y->len ? x->len : y->len);
    return d ? d : x->len < y->len ? -1 : x->len > y->len;
}

static int join(const struct pgk_instr_names *t, const uint32_t *wanted, struct pgk_sink *plain,
                struct pgk_err *err)
{
    struct pgk_instr_name *sorted = pgk_mem_alloc(t->list.n + 1, sizeof *sorted);
    size_t n = 0;
    if (!sorted)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < t->list.n; i++)
        if (!wanted || wanted[i])
            sorted[n++] = t->list.v[i];
    qsort(sorted, n, sizeof *sorted, by_name);
    for (size_t i = 0; i < n; i++) {
        if (i)
            pgk_sink_u8(plain, 1);
        pgk_sink_bytes(plain, sorted[i].s, sorted[i].len);
    }
    pgk_mem_free(sorted);
    return 0;
}

int pgk_instr_names_write(const struct pgk_instr_names *t, const uint32_t *wanted,
                          struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_sink *plain;
    size_t size;
    PGK_TRY(pgk_sink_memory(&plain, err));
    int status = join(t, wanted, plain, err);
    const uint8_t *bytes = pgk_sink_data(plain, &size);
    if (!status && !bytes)
        status = pgk_fail_nomem(err);
    if (!status && size)
        status = pgk_name_block_write(out, (const char *)bytes, size, err);
    pgk_sink_drop(&plain);
    return status;
}

uint64_t pgk_instr_ids_size(const struct pgk_instr *p)
{
    uint64_t size = 0;
    for (size_t i = 0; i < p->binary_ids.n; i++)
        size += 8 + ((p->binary_ids.v[i].size + 7) & ~UINT64_C(7));
    return size;
}

int pgk_instr_ids_write(const struct pgk_instr *p, struct pgk_sink *out, struct pgk_err *err)
{
    const struct pgk_instr_id **order;
    PGK_TRY(pgk_instr_order_ids(p, &order, err));
    for (size_t i = 0; i < p->binary_ids.n; i++) {
        pgk_sink_u64(out, order[i]->size);
        pgk_sink_bytes(out, order[i]->bytes, order[i]->size);
        pgk_sink_pad(out, order[i]->size);
    }
    pgk_mem_free(order);
    return 0;
}
