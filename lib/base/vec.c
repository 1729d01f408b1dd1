/* Growth of arrays. */
#include "vec.h"

#include <assert.h>

enum { FIRST_ELEMENTS = 8 };

bool pgk_vec_grow(void *v_addr, size_t *cap, size_t n, size_t more, size_t elem_size)
{
    assert(n <= *cap && more > *cap - n);
    size_t want;
    if (__builtin_add_overflow(n, more, &want))
        return false;
    size_t new_cap = *cap + *cap / 2;
    if (new_cap < FIRST_ELEMENTS)
        new_cap = FIRST_ELEMENTS;
    if (new_cap < want)
        new_cap = want;

    /* memcpy: the caller's pointer has a type of its own, which a void ** may not alias. */
    void *v;
    memcpy(&v, v_addr, sizeof v);
    v = pgk_mem_resize(v, new_cap, elem_size);
    if (!v)
        return false;
    memcpy(v_addr, &v, sizeof v);
    *cap = new_cap;
    return true;
}
