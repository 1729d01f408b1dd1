/* Facts about a function by its name, besides its samples: its source file, and when it ran first.
 * Only the profiles of gcc 16 have these. */
#ifndef PGK_SAMPLE_ORIGIN_H
#define PGK_SAMPLE_ORIGIN_H

#include "sample_model.h"

#define PGK_SEVERAL_FILES UINT32_MAX /* which is as good as none, whatever comes in */

/* Adds to what is known: of two times the earlier one counts, and functions of one name in several
 * files are no longer distinguished. An empty file or a time of 0 is unknown. False when out of
 * memory. */
bool pgk_sample_add_origin(struct pgk_sample *p, uint32_t name, const char *file, size_t len,
                           uint64_t first_run);
/* The same from another profile, which has the function by another id. */
bool pgk_sample_take_origin(struct pgk_sample *p, uint32_t name, const struct pgk_sample *from,
                            uint32_t from_name);
/* That there are several files. */
bool pgk_sample_add_files(struct pgk_sample *p, uint32_t name);
bool pgk_sample_has_origin(const struct pgk_sample *p, uint32_t name);
/* All zero if nothing is known. */
struct pgk_sample_origin pgk_sample_origin(const struct pgk_sample *p, uint32_t name);
/* "" if the file is unknown, or there are several. */
const char *pgk_sample_file(const struct pgk_sample *p, uint32_t name);
/* Tops among the first `n` by heat of which a file or a time is known. */
size_t pgk_sample_count_origins(const struct pgk_sample *p, size_t n);

#endif
