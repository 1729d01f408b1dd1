/* Functions of the program that are called at each allocation and free, as <sanitizer/
 * allocator_interface.h> of compiler-rt has them: two that the program defines, and pairs that it
 * installs. */
#include "runtime_hooks.h"

#include "guest_sys.h"

typedef void (*alloc_hook)(const volatile void *object, size_t n);
typedef void (*free_hook)(const volatile void *object);

extern void __sanitizer_malloc_hook(const volatile void *object, size_t n) __attribute__((weak));
extern void __sanitizer_free_hook(const volatile void *object) __attribute__((weak));
PGRT_EXPORT_WEAK int __sanitizer_install_malloc_and_free_hooks(alloc_hook on_alloc,
                                                               free_hook on_free);

enum { HOOKS = 5 }; /* as many as compiler-rt takes */
static struct {
    alloc_hook on_alloc;
    free_hook on_free;
} hooks[HOOKS];
static volatile u32 hooks_n;
bool pgrt_hooked;

void pgrt_hooks_init(void)
{
    pgrt_hooked = pgrt_hooked || __sanitizer_malloc_hook || __sanitizer_free_hook;
}

int __sanitizer_install_malloc_and_free_hooks(alloc_hook on_alloc, free_hook on_free)
{
    static volatile u32 lock;
    int number = 0;
    if (!on_alloc || !on_free)
        return 0;
    pgg_lock(&lock);
    if (hooks_n < HOOKS) {
        hooks[hooks_n].on_alloc = on_alloc;
        hooks[hooks_n].on_free = on_free;
        __atomic_store_n(&hooks_n, hooks_n + 1, __ATOMIC_RELEASE);
        pgrt_hooked = true;
        number = (int)hooks_n;
    }
    pgg_unlock(&lock);
    return number;
}

void pgrt_hook_alloc(const volatile void *object, size_t n)
{
    if (__sanitizer_malloc_hook)
        __sanitizer_malloc_hook(object, n);
    for (u32 i = 0; i < __atomic_load_n(&hooks_n, __ATOMIC_ACQUIRE); i++)
        hooks[i].on_alloc(object, n);
}

void pgrt_hook_free(const volatile void *object)
{
    if (__sanitizer_free_hook)
        __sanitizer_free_hook(object);
    for (u32 i = 0; i < __atomic_load_n(&hooks_n, __ATOMIC_ACQUIRE); i++)
        hooks[i].on_free(object);
}
