/* Atomic output: a file appears whole or not at all.
 *
 * Bytes go to an unnamed or, where the file system has no such thing, a hidden
 * temporary file in the target's folder; commit syncs and renames it over the target.
 * Dropping the sink, a failed write or a killed process leaves the old target as it
 * was. A symbolic link is followed, and a file that is replaced passes on its mode.
 *
 * "-" is standard output. It, and a target that is a pipe or a device, cannot be
 * replaced: bytes are kept in memory and written at commit.
 *
 * A target whose name ends in ".zst" is compressed; it, too, is kept in memory until commit.
 *
 * Errors are sticky; commit reports the first. Not thread-safe, but for parts. */
#ifndef PGK_SINK_H
#define PGK_SINK_H

#include "fail.h"

#include <stdint.h>

struct pgk_sink;

/* On failure nothing is left to drop. */
int pgk_sink_open(struct pgk_sink **sink, const char *path, struct pgk_err *err);
/* A sink into memory, for tests and for nested sections. */
int pgk_sink_memory(struct pgk_sink **sink, struct pgk_err *err);

void pgk_sink_bytes(struct pgk_sink *s, const void *bytes, size_t n);
void pgk_sink_u8(struct pgk_sink *s, uint8_t v);
void pgk_sink_u16(struct pgk_sink *s, uint16_t v);
void pgk_sink_u32(struct pgk_sink *s, uint32_t v);
void pgk_sink_u64(struct pgk_sink *s, uint64_t v);
void pgk_sink_uleb(struct pgk_sink *s, uint64_t v);
void pgk_sink_zeros(struct pgk_sink *s, size_t n);
void pgk_sink_align(struct pgk_sink *s, size_t alignment); /* zero bytes up to a multiple */
void pgk_sink_pad(struct pgk_sink *s, uint64_t n); /* those after `n` bytes, to a multiple of 8 */
void pgk_sink_printf(struct pgk_sink *s, const char *fmt, ...) PGK_PRINTF(2, 3);

/* Bytes written so far = offset of the next byte. */
uint64_t pgk_sink_off(const struct pgk_sink *s);
/* Overwrites 8 bytes that were written earlier; anything else is PGK_E_ARG. */
void pgk_sink_patch_u64(struct pgk_sink *s, uint64_t off, uint64_t v);

/* For output that several threads write at a time: reserves `n` bytes, which parts fill, each its
 * own piece; returns the offset of these bytes. Until the last part is ended, nothing else may be
 * done with the sink. */
uint64_t pgk_sink_leave(struct pgk_sink *s, uint64_t n);
/* Its output goes to `off` and on. 0 or PGK_E_NOMEM. */
PGK_MUST_USE int pgk_sink_part(struct pgk_sink **part, struct pgk_sink *whole, uint64_t off);
/* Its failure becomes one of the whole. */
void pgk_sink_end_part(struct pgk_sink **part);

/* Of a memory sink; valid until it is closed or written to again. NULL if a write
 * failed, never NULL otherwise. */
const uint8_t *pgk_sink_data(const struct pgk_sink *s, size_t *size);

/* Makes the file appear; closes the sink in any case and sets *sink to NULL. */
int pgk_sink_commit(struct pgk_sink **sink, struct pgk_err *err);
/* Closes without a trace; accepts NULL. */
void pgk_sink_drop(struct pgk_sink **sink);

#endif
