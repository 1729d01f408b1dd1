/* Engines: their memory, and which thread uses which. */
#include "recorder_engine.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_sys.h"
#include "recorder_access.h"

#include <sys/mman.h>

/* So many that record, and then so many that count. */
enum {
    EACH_MAX = PGBR_WINDOWS_AT_ONCE,
    ENGINES_MAX = 2 * EACH_MAX,
    ALL_BYTES = 2 * PGBR_CODE_BYTES + sizeof(struct pgbr_engine) + PGG_PAGE
};

static struct pgbr_engine *engines[ENGINES_MAX];
static volatile u32 making;
static bool refused;

struct pgbr_engine *pgbr_engine_of_code(u64 pc)
{
    for (u32 i = 0; i < ENGINES_MAX; i++) {
        struct pgbr_engine *x = __atomic_load_n(&engines[i], __ATOMIC_ACQUIRE);
        if (x && pc - (u64)x->code < PGBR_CODE_BYTES)
            return x;
    }
    return NULL;
}

struct pgbr_engine *pgbr_engine_of_stack(u64 sp)
{
    for (u32 i = 0; i < ENGINES_MAX; i++) {
        struct pgbr_engine *x = __atomic_load_n(&engines[i], __ATOMIC_ACQUIRE);
        if (x && sp - (u64)x->space <= PGBR_STACK)
            return x;
    }
    return NULL;
}

/* Code is mapped twice, once executable and once writable; the engine follows it, within reach of
 * its instructions. A child of fork has no engines: they are not inherited. */
static struct pgbr_engine *make(bool counts, u32 number)
{
    const size_t bytes = pgg_whole_pages(ALL_BYTES);
    const long fd = pgg_sys_memory_file("pgokit-branches");
    long base = fd < 0 ? fd : pgg_sys_reserve(NULL, bytes);
    if (base >= 0) {
        char *at = (char *)base;
        long err = pgg_sys_truncate((int)fd, PGBR_CODE_BYTES);
        if (err >= 0)
            err = pgg_sys_map_code(at, PGBR_CODE_BYTES, (int)fd);
        if (err >= 0)
            err = pgg_sys_map_file(at + PGBR_CODE_BYTES, PGBR_CODE_BYTES, (int)fd, 0);
        if (err >= 0)
            err = pgg_sys_map_file(at + 2 * PGBR_CODE_BYTES, bytes - 2 * PGBR_CODE_BYTES, -1, 0);
        if (err >= 0)
            err = pgg_sys_advise(at, bytes, MADV_DONTFORK);
        if (err < 0) {
            pgg_sys_unmap(at, bytes);
            base = err;
        }
    }
    if (fd >= 0)
        pgg_sys_close((int)fd);
    if (base < 0) {
        pgbr_say("no memory for code of its own", pgg_errno_name(base));
        return NULL;
    }
    struct pgbr_engine *x = (struct pgbr_engine *)(base + 2 * PGBR_CODE_BYTES);
    x->code = (uint8_t *)base;
    x->counts = counts;
    x->number = number;
    x->stack = (u64)x->space + PGBR_STACK - 64;
    pgbr_prepare_code(x);
    return x;
}

struct pgbr_engine *pgbr_engine_take(bool counts)
{
    const u32 first = counts ? EACH_MAX : 0;
    for (u32 i = first; i < first + EACH_MAX; i++) {
        struct pgbr_engine *x = __atomic_load_n(&engines[i], __ATOMIC_ACQUIRE);
        if (!x && !refused && !__atomic_exchange_n(&making, 1, __ATOMIC_ACQUIRE)) {
            if (!engines[i]) {
                x = make(counts, i - first);
                refused = !x;
                __atomic_store_n(&engines[i], x, __ATOMIC_RELEASE);
            }
            __atomic_store_n(&making, 0, __ATOMIC_RELEASE);
        }
        if (x && !__atomic_exchange_n(&x->busy, 1, __ATOMIC_ACQUIRE))
            return x;
    }
    return NULL;
}

void pgbr_engine_free(struct pgbr_engine *x)
{
    __atomic_store_n(&x->busy, 0, __ATOMIC_RELEASE);
}

void pgbr_engines_forked(void)
{
    making = 0;
    for (u32 i = 0; i < ENGINES_MAX; i++)
        engines[i] = NULL;
}
