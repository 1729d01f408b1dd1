/* In a shared library, which is linked to be initialised before all others. */
#include "runtime_alloc.h"
#include "runtime_shadow.h"

#include "guest_symbols.h"
#include "runtime_start.h"
#include "runtime_thread.h"

/* If it is preloaded into a program that contains the runtime, or comes after another allocator,
 * this runtime gets no calls worth a profile. It still needs the counters, to recognise memory that
 * it did not allocate. */
static bool must_stay_out(void)
{
    const struct link_map *heap = pgg_symbol_module("malloc"), *program = heap;
    if (!heap || heap == pgg_own_module())
        return false;
    while (program->l_prev)
        program = program->l_prev;
    pgrt_malloc_is_theirs = true;
    pgrt_shadow_init();
    if (pgg_symbol_module("__memprof_profile_dump") == heap)
        pgrt_gate_set(PGRT_GATE_OFF);
    else
        pgrt_off("nothing is recorded, because malloc belongs to",
                 heap == program ? "the program itself" : heap->l_name);
    return true;
}

__attribute__((constructor(101))) static void at_load(void)
{
    *(void **)&pgrt_free_behind = pgg_symbol_behind("free");
    *(void **)&pgrt_realloc_behind = pgg_symbol_behind("realloc");
    if (!must_stay_out())
        pgrt_ready();
}
