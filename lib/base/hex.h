/* Hexadecimal digits: their values, and texts of build ids. pgk_human_hex writes digits. */
#ifndef PGK_HEX_H
#define PGK_HEX_H

#include <stddef.h>
#include <stdint.h>

/* Value + 1 of a digit of either case; 0: none. */
extern const uint8_t pgk_hex_digits[256];

/* The bytes that pairs of digits give, up to what is none, to `end`, or to the capacity; returns
 * how many. */
size_t pgk_hex_read(const char *text, const char *end, uint8_t *bytes, size_t capacity);

/* A build id for messages: as pgk_human_hex; "none" for size 0. Returns buf. */
#define PGK_BUILD_ID_TEXT (2 * 64 + 1)
const char *pgk_build_id_text(char buf[PGK_BUILD_ID_TEXT], const uint8_t *id, size_t size);

#endif
