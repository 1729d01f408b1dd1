/* Text without the C library: put together in a buffer, said on standard error. */
#ifndef PGG_TEXT_H
#define PGG_TEXT_H

#include "guest.h"

#pragma GCC visibility push(hidden)

struct pgg_text {
    char *at, *end; /* keeps space for a final zero byte */
};
void pgg_text_init(struct pgg_text *t, char *buffer, size_t size);
/* Text that does not fit is cut off; then at == end. */
void pgg_text_str(struct pgg_text *t, const char *s);
void pgg_text_u64(struct pgg_text *t, u64 v);
void pgg_text_hex(struct pgg_text *t, u64 v);
/* "WHO: A: B" as one line on standard error, where B may be NULL. */
void pgg_say(const char *who, const char *a, const char *b);
const char *pgg_errno_name(long err); /* of a negative error number */

#pragma GCC visibility pop
#endif
