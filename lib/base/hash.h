/* Hashes: a fast one for tables in memory, and the two that file formats use. */
#ifndef PGK_HASH_H
#define PGK_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Finaliser of a 64-bit value; a bijection, every input bit moves every output bit. */
static inline uint64_t pgk_hash_u64(uint64_t x)
{
    x ^= x >> 27;
    x *= 0x3c79ac492ba7b653u;
    x ^= x >> 33;
    x *= 0x1c69b3f74ac4ae35u;
    x ^= x >> 27;
    return x;
}

static inline uint64_t pgk_hash_pair(uint64_t a, uint64_t b)
{
    return pgk_hash_u64(a ^ pgk_hash_u64(b + 0x9e3779b97f4a7c15u));
}

/* Of a byte string; for tables in memory only, never written to a file. */
uint64_t pgk_hash_bytes(const void *bytes, size_t len);

/* First 8 bytes, read little-endian, of the MD5 (RFC 1321) of the bytes. */
uint64_t pgk_md5_low64(const void *bytes, size_t len);

/* First 8 bytes, read little-endian, of the BLAKE3 hash of the bytes
 * (plain mode, any length). */
uint64_t pgk_blake3_low64(const void *bytes, size_t len);

#endif
