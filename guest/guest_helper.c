/* A thread that the C library does not know.
 *
 *     | stack ...  | thread variables | thread pointer: what the C library has of a thread |
 *     | stack ...  | what the C library has of a thread | thread pointer: thread variables |
 *
 * in the first way on x86-64, in the second on AArch64. */
#include "guest_helper.h"

#include "guest_memory.h"
#include "guest_processor.h"
#include "guest_sys.h"

#include <errno.h>
#include <sys/mman.h>

PGG_TLS u32 pgg_is_helper;

enum {
    STACK_BYTES = 256 << 10,
    THREAD_BYTES = 16 << 10,
    BELL_SIGNAL = 64,
};

/* The distance of the variable from the thread pointer, on the side of variables. */
static size_t distance(const void *variable)
{
    const ptrdiff_t above = (const char *)variable - pgg_thread_pointer();
    const ptrdiff_t far = PGG_VARIABLES_ABOVE ? above : -above;
    return far > 0 ? (size_t)far : 0;
}

/* Bytes of that side. */
static size_t variable_bytes(const struct pgg_helper *h)
{
    const void *const others[] = {&pgg_is_helper, &errno};
    size_t most = distance(h->furthest);
    for (u32 i = 0; i < sizeof others / sizeof *others; i++)
        if (distance(others[i]) > most)
            most = distance(others[i]);
    return pgg_whole_pages(most + PGG_PAGE);
}

/* Standard streams are the bell, too, which nothing can be written to: a message is lost, and does
 * not come into what is opened later. */
static int open_bell(void)
{
    const int err = pgg_sys_own_descriptors();
    const long bell = err < 0 ? err : pgg_sys_signal_descriptor(BELL_SIGNAL);
    if (bell < 0)
        return (int)bell;
    for (int i = 1; i <= 2; i++) {
        const long copy = pgg_sys_copy_descriptor((int)bell, i);
        if (copy < 0)
            return (int)copy;
    }
    return 0;
}

static void run(void *arg)
{
    struct pgg_helper *h = arg;
    pgg_is_helper = 1;
    int err = open_bell();
    pgg_sys_name_thread(h->name);
    if (!err)
        err = h->begin();
    h->error = err;
    __atomic_store_n(&h->began, 1, __ATOMIC_RELEASE);
    pgg_sys_wake(&h->began);
    if (!err)
        h->serve();
    pgg_sys_end_thread();
}

static void wait_for_end(struct pgg_helper *h, size_t bytes)
{
    for (u32 number; (number = __atomic_load_n(&h->number, __ATOMIC_ACQUIRE));)
        pgg_sys_wait_while(&h->number, number);
    pgg_unmap(h->memory, bytes);
    h->memory = NULL;
}

int pgg_helper_start(struct pgg_helper *h)
{
    const size_t variables = variable_bytes(h), bytes = STACK_BYTES + variables + THREAD_BYTES;
    u64 signals;
    h->memory = pgg_map(bytes);
    if (!h->memory)
        return -ENOMEM;
    pgg_sys_advise(h->memory, bytes, MADV_DONTFORK);
    char *pointer = h->memory + STACK_BYTES + (PGG_VARIABLES_ABOVE ? THREAD_BYTES : variables);
    *(char **)pointer = pointer;
    h->began = 0;
    pgg_sys_block_signals(&signals);
    const long number =
        pgg_sys_start_thread(h->memory + STACK_BYTES, &h->number, pointer, run, h);
    pgg_sys_restore_signals(signals);
    if (number < 0) {
        pgg_unmap(h->memory, bytes);
        h->memory = NULL;
        return (int)number;
    }
    while (!__atomic_load_n(&h->began, __ATOMIC_ACQUIRE))
        pgg_sys_wait_while(&h->began, 0);
    if (h->error)
        wait_for_end(h, bytes);
    return h->error;
}

void pgg_helper_ring(const struct pgg_helper *h)
{
    pgg_sys_signal_other((int)h->number, BELL_SIGNAL);
}

void pgg_helper_end(struct pgg_helper *h)
{
    if (!h->memory)
        return;
    pgg_helper_ring(h);
    wait_for_end(h, STACK_BYTES + variable_bytes(h) + THREAD_BYTES);
}

bool pgg_helper_runs(const struct pgg_helper *h)
{
    return h->memory && __atomic_load_n(&h->number, __ATOMIC_ACQUIRE);
}
