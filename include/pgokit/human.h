/* Numbers as people read them, always with a unit, texts that are safe to show, and the names that
 * linkage names stand for. All but pgk_name_demangle return `buf`. Thread-safe. */
#ifndef PGOKIT_HUMAN_H
#define PGOKIT_HUMAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* Bytes of a buffer for any of these numbers. */
#define PGK_HUMAN_SIZE 32

/* "0 B", "512 B", "1.50 KiB", "12.3 MiB", "123 GiB": three digits, binary units. What
 * would need four digits goes to the next unit: 1000 B are "0.98 KiB". */
const char *pgk_human_bytes(char buf[PGK_HUMAN_SIZE], double bytes);
/* "0 ms", "8.20 µs", "37 ms", "1.50 s", "12.3 s", "2 min 5 s", "3 h 20 min", "2 d 4 h" from
 * milliseconds. */
const char *pgk_human_ms(char buf[PGK_HUMAN_SIZE], double ms);
/* "12,345,678" */
const char *pgk_human_count(char buf[PGK_HUMAN_SIZE], uint64_t n);
/* A text from a file or a file name, for a terminal: control bytes, invalid UTF-8 and
 * characters that turn the writing direction become "\\xNN". Cut to `size` > 0. */
const char *pgk_human_text(char *buf, size_t size, const char *text);
/* The name of a function that a programmer wrote: of a linkage name of C++ or Rust without
 * parameters ("std::vector<int>::push_back"), any other as it is; otherwise as pgk_human_text. */
const char *pgk_human_function(char *buf, size_t size, const char *linkage_name);
/* The name that a programmer wrote for a linkage name of C++ or Rust, whole and as it is, for
 * programs: "std::vector<int>::push_back", or with `parameters`, by which overloads differ,
 * "std::vector<int>::push_back(int const&)". Any other name stays as it is. Returns the bytes of
 * the name without its final NUL; at most `size` bytes with the NUL go to `buf`, so a result of
 * `size` or more says that it was cut. `buf` is the caller's and may be NULL if `size` is 0. There
 * is no error: a name that cannot be demangled, also for lack of memory, is the linkage name. */
size_t pgk_name_demangle(const char *linkage_name, bool parameters, char *buf, size_t size);
/* Shortens a text to `columns`, in place, by "..." in its middle: both ends of a name say most. A
 * character of UTF-8 is a column; 0 columns: as it is. */
char *pgk_human_fit(char *text, size_t columns);
/* Bytes, as those of a build id, as hexadecimal digits of lower case: as many of the `n` bytes as
 * `size` > 0 has space for. */
const char *pgk_human_hex(char *buf, size_t size, const uint8_t *bytes, size_t n);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
