/* Reading what can be read of a damaged file: what is lost is reported, and is not an error. */
#ifndef PGK_SALVAGE_H
#define PGK_SALVAGE_H

#include "cursor.h"
#include "heap_model.h"
#include "sink.h"

/* What to do about a damaged file of a format that can be salvaged. */
#define PGK_SALVAGE_HINT \
    "the file is cut or damaged; save what can be read with 'pgokit check --repair OUTPUT FILE'"

struct pgk_salvage {
    pgk_heap_loss_fn *fn;
    void *ctx;
    size_t lost; /* sentences so far */
};

/* Reports a loss. */
void pgk_salvage_say(struct pgk_salvage *s, const char *fmt, ...) PGK_PRINTF(2, 3);
/* Reports the record whose reading gave `status` and `err`; 0 to go on, or the status if that
 * is no fault of the file. */
PGK_MUST_USE int pgk_salvage_skip(struct pgk_salvage *s, int status, const struct pgk_err *err);

/* heap_raw_salvage.c: writes the whole records of a raw profile as a sound one to `clean`.
 * PGK_E_EMPTY if there is no record left. */
PGK_MUST_USE int pgk_heap_raw_salvage(struct pgk_sink *clean, const uint8_t *bytes, size_t size,
                                      const struct pgk_source *src, struct pgk_salvage *salvage,
                                      struct pgk_err *err);

#endif
