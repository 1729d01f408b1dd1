/* Hash of byte strings for tables in memory, and MD5 for file formats. */
#include "hash.h"

#include <md5.h>
#include <string.h>

#define MULTIPLIER 0x9fb21c651e98df25u

static uint64_t load64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint64_t load32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Up to 8 bytes as one word, each byte at least once and none past the end. */
static uint64_t load_short(const uint8_t *p, size_t len)
{
    if (len >= 4)
        return load32(p) | load32(p + len - 4) << 32;
    if (len > 0)
        return (uint64_t)p[0] << 16 | (uint64_t)p[len / 2] << 8 | p[len - 1];
    return 0;
}

static uint64_t mix(uint64_t h, uint64_t word)
{
    h = (h ^ word) * MULTIPLIER;
    return h ^ h >> 32;
}

/* Two independent lanes, because a lone chain of multiplications waits for itself. The
 * last words overlap what was read before, which saves a loop over single bytes. */
uint64_t pgk_hash_bytes(const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    uint64_t a = len * MULTIPLIER, b = 0x9e3779b97f4a7c15u;
    if (len <= 8)
        return pgk_hash_u64(a ^ pgk_hash_u64(load_short(p, len) + b));
    const uint8_t *end = p + len;
    for (; end - p > 16; p += 16) {
        a = mix(a, load64(p));
        b = mix(b, load64(p + 8));
    }
    a = mix(a, load64(len >= 16 ? end - 16 : p));
    b = mix(b, load64(end - 8));
    return pgk_hash_u64(a ^ (b << 23 | b >> 41));
}

uint64_t pgk_md5_low64(const void *bytes, size_t len)
{
    MD5_CTX ctx;
    uint8_t digest[MD5_DIGEST_LENGTH];
    MD5Init(&ctx);
    if (len)
        MD5Update(&ctx, bytes, len);
    MD5Final(digest, &ctx);
    return load64(digest);
}
