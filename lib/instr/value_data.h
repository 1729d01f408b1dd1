/* Value data of one function: the same bytes in raw and in indexed profiles.
 *
 *   u32 total size, u32 number of kinds, per kind:
 *     u32 kind, u32 number of sites, u8 per site: number of values, zero padding to 8,
 *     per value: u64 value, u64 count */
#ifndef PGK_VALUE_DATA_H
#define PGK_VALUE_DATA_H

#include "cursor.h"
#include "pgokit/instr.h"
#include "vec.h"

const char *pgk_value_kind_name(enum pgk_value_kind kind); /* "indirect calls", ... */

/* Decoded; its memory is used again from record to record. */
struct pgk_value_data {
    struct {
        PGK_VEC(uint32_t) counts; /* by site: number of values */
        PGK_VEC(struct pgk_instr_value) values;
    } kind[PGK_VALUE_KINDS];
};

/* Empties without giving memory back. */
void pgk_value_data_clear(struct pgk_value_data *d);
void pgk_value_data_free(struct pgk_value_data *d);

/* Reads what stands at the cursor; `swap`: in the other byte order. */
PGK_MUST_USE int pgk_value_data_read(struct pgk_value_data *d, struct pgk_cursor *c, bool swap,
                                     const char *record, struct pgk_err *err);

#endif
