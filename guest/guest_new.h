/* The reaction of operator new when memory runs out. The C++ library is there if a program throws
 * at all, so its functions are weak. */
#ifndef PGG_GUEST_NEW_H
#define PGG_GUEST_NEW_H

#include "guest.h"

#include <stdbool.h>
#include <stddef.h>

typedef void (*pgg_new_handler)(void);
pgg_new_handler pgg_get_new_handler(void) __asm__("_ZSt15get_new_handlerv") __attribute__((weak));
void pgg_bad_alloc(void) __asm__("_ZSt17__throw_bad_allocv") __attribute__((weak));

/* Lets the program's handler free memory; false if there is none. Inline, so that allocations of
 * the handler are below the operator and not below a function of this library. */
PGG_INLINE bool pgg_call_new_handler(void)
{
    pgg_new_handler handler = pgg_get_new_handler ? pgg_get_new_handler() : NULL;
    if (handler)
        handler();
    return handler;
}

/* Returns in a program without the C++ library. */
PGG_INLINE void pgg_throw_bad_alloc(void)
{
    if (pgg_bad_alloc)
        pgg_bad_alloc();
}

#endif
