/* Heap profiles as the runtimes of -fmemory-profile print them: clang 13 always, later ones with
 * print_text. docs/formats/raw-heap.md section 6 */
#ifndef PGK_HEAP_TEXT_H
#define PGK_HEAP_TEXT_H

#include "cursor.h"
#include "heap_model.h"

/* Has a line of such a text among its first ones. */
bool pgk_heap_text_sniff(const uint8_t *bytes, size_t size);

/* Adds the contexts of a text to `h`, with addresses for frames: names are printed as people
 * read them, from which no function id follows. Blocks of one id are added up. Nothing points into
 * `bytes` afterwards; on failure `h` is only good for closing. */
PGK_MUST_USE int pgk_heap_text_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                                    const struct pgk_source *src, struct pgk_err *err);

#endif
