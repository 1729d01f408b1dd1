/* The values of a function's sites as files hold them; what is read back is value_data.h. */
#ifndef PGK_VALUE_SITES_H
#define PGK_VALUE_SITES_H

#include "instr_model.h"
#include "sink.h"

/* The number that the file has for a value. */
typedef uint64_t pgk_written_value_fn(const void *ctx, enum pgk_value_kind kind, uint64_t value);

struct pgk_values_writer {
    int kinds;                     /* those below are written */
    pgk_written_value_fn *written; /* NULL: values as they are */
    const void *ctx;
    pgk_ranked_vec ranked;
    bool failed; /* out of memory meanwhile */
};

/* Bytes that the values of a function take. */
uint64_t pgk_values_size(const struct pgk_instr_func *f, int kinds);
void pgk_values_write(struct pgk_values_writer *w, const struct pgk_instr_func *f,
                      struct pgk_sink *out);
/* Sites with more values than any file can hold: the rarest are left out. */
size_t pgk_values_cut(const struct pgk_instr_func *f);

#endif
