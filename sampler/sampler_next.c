/* The functions of the program's own allocator, looked up at the first call of any. The look-up
 * itself may allocate: it gets memory of the range, which is then freed like any other there. */
#include "sampler_next.h"

#include "guest_symbols.h"
#include "guest_sys.h"
#include "sampler_lock.h"
#include "sampler_object.h"

#include <dlfcn.h>
#include <errno.h>

static const char *const operator_names[] = {
#define PGSM_OPERATOR(name, symbol) symbol,
    PGSM_OPERATORS(PGSM_OPERATOR)
#undef PGSM_OPERATOR
};

static void find_all(void);

/* False: this is a call by the look-up. */
static bool find(void)
{
    static volatile u32 began;
    if (__atomic_exchange_n(&began, 1, __ATOMIC_ACQ_REL))
        return false;
    pgsm_range_open();
    pgsm_lock_init();
    find_all();
    return true;
}

void pgsm_next_find(void)
{
    find();
}

static void *few(size_t n, size_t align)
{
    void *p = n < PTRDIFF_MAX && align <= PGG_PAGE ? pgsm_begin_unseen(n, align) : NULL;
    if (!p)
        errno = ENOMEM;
    return p;
}

static void *first_malloc(size_t n)
{
    return find() ? pgsm_next.malloc(n) : few(n, PGSM_ALIGN);
}

static void *first_calloc(size_t n, size_t size)
{
    size_t bytes;
    if (find())
        return pgsm_next.calloc(n, size);
    return few(__builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes, PGSM_ALIGN);
}

static void *first_realloc(void *p, size_t n)
{
    return find() ? pgsm_next.realloc(p, n) : p ? NULL : few(n, PGSM_ALIGN);
}

/* What is not of the range, no allocator has given out so far. */
static void first_free(void *p)
{
    if (find())
        pgsm_next.free(p);
}

static void *first_memalign(size_t align, size_t n)
{
    return find() ? pgsm_next.memalign(align, n) : few(n, align);
}

static void *first_aligned_alloc(size_t align, size_t n)
{
    return find() ? pgsm_next.aligned_alloc(align, n) : few(n, align);
}

static int first_posix_memalign(void **out, size_t align, size_t n)
{
    if (find())
        return pgsm_next.posix_memalign(out, align, n);
    *out = few(n, align);
    return *out ? 0 : ENOMEM;
}

static void *first_valloc(size_t n)
{
    return find() ? pgsm_next.valloc(n) : few(n, PGG_PAGE);
}

static void *first_pvalloc(size_t n)
{
    return find() ? pgsm_next.pvalloc(n) : few(pgg_whole_pages(n), PGG_PAGE);
}

static size_t first_usable(void *p)
{
    return find() && pgsm_next.usable ? pgsm_next.usable(p) : 0;
}

struct pgsm_next pgsm_next = {
    .malloc = first_malloc,
    .free = first_free,
    .calloc = first_calloc,
    .realloc = first_realloc,
    .memalign = first_memalign,
    .aligned_alloc = first_aligned_alloc,
    .posix_memalign = first_posix_memalign,
    .valloc = first_valloc,
    .pvalloc = first_pvalloc,
    .usable = first_usable,
};

/* ---- the look-up ---- */

static const void *module_of(const void *function, const char **name)
{
    Dl_info info;
    *name = "";
    if (!function || !dladdr(function, &info))
        return NULL;
    *name = info.dli_fname ? info.dli_fname : "";
    return info.dli_fbase;
}

static bool has_word(const char *text, const char *word)
{
    for (; *text; text++) {
        size_t i = 0;
        while (word[i] && text[i] == word[i])
            i++;
        if (!word[i])
            return true;
    }
    return false;
}

/* Those of the C++ library call malloc. Those of an allocator are one with its malloc. Any others
 * have memory of their own. */
static void find_operators(void)
{
    const char *name, *other;
    const void *found = pgg_symbol_behind(operator_names[PGSM_NEW]),
               *module = module_of(found, &name),
               *allocator = module_of(*(void **)&pgsm_next.malloc, &other);
    if (!module || has_word(name, "libstdc++") || has_word(name, "libc++"))
        return;
    pgsm_next.operators_are_others = module != allocator;
    for (u32 i = 0; i < PGSM_OPERATORS_ALL; i++)
        pgsm_next.operators[i] = pgsm_operator_next(i);
}

/* Where malloc belongs to the program, or to a library in front of ours, what reaches us is to use
 * the same memory. */
static void find_all(void)
{
    struct pgsm_next next = {0};
    const struct {
        void *to;
        const char *name;
    } rows[] = {
        {&next.malloc, "malloc"},
        {&next.free, "free"},
        {&next.calloc, "calloc"},
        {&next.realloc, "realloc"},
        {&next.memalign, "memalign"},
        {&next.aligned_alloc, "aligned_alloc"},
        {&next.posix_memalign, "posix_memalign"},
        {&next.valloc, "valloc"},
        {&next.pvalloc, "pvalloc"},
        {&next.usable, "malloc_usable_size"},
        {&next.dallocx, "dallocx"},
        {&next.sdallocx, "sdallocx"},
        {&next.sallocx, "sallocx"},
        {&next.rallocx, "rallocx"},
        {&next.xallocx, "xallocx"},
        {&next.mallocx, "mallocx"},
    };
    const struct link_map *heap = pgg_symbol_module("malloc");
    for (u32 i = 0; i < sizeof rows / sizeof *rows; i++)
        *(void **)rows[i].to = pgg_symbol_behind(rows[i].name);
    if (heap && heap != pgg_own_module()) {
        pgsm_next.theirs = heap;
        for (u32 i = 0; i < sizeof rows / sizeof *rows; i++)
            if (pgg_symbol_module(rows[i].name) == heap)
                *(void **)rows[i].to = dlsym(RTLD_DEFAULT, rows[i].name);
    }
    next.theirs = pgsm_next.theirs;
    if (!next.malloc || !next.free || !next.calloc || !next.realloc) {
        pgsm_say("the program has no malloc of its own", NULL);
        pgg_sys_exit(1);
    }
    pgsm_next = next;
    find_operators();
}

pgsm_function *pgsm_operator_next(enum pgsm_operator which)
{
    pgsm_function *function;
    *(void **)&function = pgg_symbol_behind(operator_names[which]);
    return function;
}
