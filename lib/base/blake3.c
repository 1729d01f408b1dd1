/* BLAKE3 in plain hash mode, after the public specification. It is our own because
 * Debian 12 packages no BLAKE3 library; inputs are short, so plain C is fast enough. */
#include "hash.h"

#include <string.h>

enum { CHUNK_START = 1, CHUNK_END = 2, PARENT = 4, ROOT = 8 };
enum { BLOCK = 64, CHUNK = 1024, ROUNDS = 7 };
enum { MAX_DEPTH = 54 }; /* 2^64 bytes are 2^54 chunks */

static const uint32_t IV[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* Row r is the message permutation applied r times. */
static const uint8_t SCHEDULE[ROUNDS][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8},
    {3, 4, 10, 12, 13, 2, 7, 14, 6, 5, 9, 0, 11, 15, 8, 1},
    {10, 7, 12, 9, 14, 3, 13, 15, 4, 0, 11, 2, 5, 8, 1, 6},
    {12, 13, 9, 11, 15, 10, 14, 8, 7, 2, 5, 3, 0, 1, 6, 4},
    {9, 14, 11, 5, 8, 12, 15, 1, 13, 3, 0, 10, 2, 6, 4, 7},
    {11, 15, 5, 0, 1, 9, 8, 6, 14, 10, 2, 12, 3, 4, 7, 13},
};

static inline uint32_t rotate_right(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static inline void quarter(uint32_t s[16], int a, int b, int c, int d, uint32_t x, uint32_t y)
{
    s[a] += s[b] + x;
    s[d] = rotate_right(s[d] ^ s[a], 16);
    s[c] += s[d];
    s[b] = rotate_right(s[b] ^ s[c], 12);
    s[a] += s[b] + y;
    s[d] = rotate_right(s[d] ^ s[a], 8);
    s[c] += s[d];
    s[b] = rotate_right(s[b] ^ s[c], 7);
}

/* Replaces the chaining value by the first half of the compression's output. */
static void compress(uint32_t cv[8], const uint32_t m[16], uint64_t counter, uint32_t len,
                     uint32_t flags)
{
    uint32_t s[16];
    memcpy(s, cv, 32);
    memcpy(s + 8, IV, 16);
    s[12] = (uint32_t)counter;
    s[13] = (uint32_t)(counter >> 32);
    s[14] = len;
    s[15] = flags;
    for (int r = 0; r < ROUNDS; r++) {
        const uint8_t *k = SCHEDULE[r];
        quarter(s, 0, 4, 8, 12, m[k[0]], m[k[1]]);
        quarter(s, 1, 5, 9, 13, m[k[2]], m[k[3]]);
        quarter(s, 2, 6, 10, 14, m[k[4]], m[k[5]]);
        quarter(s, 3, 7, 11, 15, m[k[6]], m[k[7]]);
        quarter(s, 0, 5, 10, 15, m[k[8]], m[k[9]]);
        quarter(s, 1, 6, 11, 12, m[k[10]], m[k[11]]);
        quarter(s, 2, 7, 8, 13, m[k[12]], m[k[13]]);
        quarter(s, 3, 4, 9, 14, m[k[14]], m[k[15]]);
    }
    for (int i = 0; i < 8; i++)
        cv[i] = s[i] ^ s[i + 8];
}

/* Chaining value of one chunk of at most 1024 bytes; `flags` goes to its last block. */
static void hash_chunk(uint32_t cv[8], const uint8_t *p, size_t len, uint64_t number,
                       uint32_t flags)
{
    memcpy(cv, IV, sizeof IV);
    uint32_t start = CHUNK_START;
    for (;;) {
        uint32_t m[16] = {0};
        size_t n = len < BLOCK ? len : BLOCK;
        if (n)
            memcpy(m, p, n);
        uint32_t last = len <= BLOCK ? CHUNK_END | flags : 0;
        compress(cv, m, number, (uint32_t)n, start | last);
        if (last)
            return;
        start = 0;
        p += n;
        len -= n;
    }
}

/* Replaces `right` by the chaining value of the parent of both. */
static void hash_parent(uint32_t right[8], const uint32_t left[8], uint32_t flags)
{
    uint32_t m[16];
    memcpy(m, left, 32);
    memcpy(m + 8, right, 32);
    memcpy(right, IV, sizeof IV);
    compress(right, m, 0, BLOCK, PARENT | flags);
}

/* The tree is built from the left: the stack holds the roots of complete subtrees, one
 * for each set bit of the number of chunks done. The last chunk joins them all. */
uint64_t pgk_blake3_low64(const void *bytes, size_t len)
{
    const uint8_t *p = bytes;
    uint32_t stack[MAX_DEPTH][8], cv[8];
    int depth = 0;
    uint64_t chunks = 0;
    for (; len > CHUNK; p += CHUNK, len -= CHUNK) {
        hash_chunk(cv, p, CHUNK, chunks, 0);
        chunks++;
        for (uint64_t full = chunks; !(full & 1); full >>= 1)
            hash_parent(cv, stack[--depth], 0);
        memcpy(stack[depth++], cv, sizeof cv);
    }
    hash_chunk(cv, p, len, chunks, depth ? 0 : ROOT);
    while (depth > 0) {
        depth--;
        hash_parent(cv, stack[depth], depth ? 0 : ROOT);
    }
    return (uint64_t)cv[1] << 32 | cv[0];
}
