/* The rows of sample profiles in the table of formats. */
#ifndef PGK_SAMPLE_FILES_H
#define PGK_SAMPLE_FILES_H

#include "cursor.h"
#include "filemap.h"
#include "pgokit/format.h"

bool pgk_sniff_sample_ext(const uint8_t *bytes, size_t size);
bool pgk_sniff_sample_binary(const uint8_t *bytes, size_t size);
bool pgk_sniff_sample_compact(const uint8_t *bytes, size_t size);
bool pgk_sniff_sample_gcc(const uint8_t *bytes, size_t size);
bool pgk_sniff_sample_text(const uint8_t *bytes, size_t size);

/* Adds the file's profile, `weight` times. */
typedef int pgk_read_sample_fn(struct pgk_sample *profile, const struct pgk_filemap *map,
                               const struct pgk_source *src, uint64_t weight,
                               struct pgk_file_info *info, struct pgk_err *err);
pgk_read_sample_fn pgk_read_sample_ext, pgk_read_sample_binary, pgk_read_sample_compact,
    pgk_read_sample_gcc, pgk_read_sample_text;

/* Adds one function of an extensible binary; PGK_E_ARG if it has to be read as a whole. */
int pgk_sample_read_one(struct pgk_sample *profile, const struct pgk_filemap *map,
                        const struct pgk_source *src, const char *function,
                        struct pgk_file_info *info, struct pgk_err *err);

/* Which compilers and tools read such a file. */
const char *pgk_sample_file_readers(const struct pgk_file_info *info);

#endif
