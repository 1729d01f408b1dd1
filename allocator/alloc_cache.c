/* Whether jemalloc's cache of a thread is as alloc_cache.h has it: jemalloc is asked for objects
 * and given them back, until each of its steps was seen, and all were as they are expected. */
#include "alloc_cache.h"

ptrdiff_t pgal_cache_off;
size_t pgal_cached_end;
uint16_t pgal_place_of[PGAL_CACHED_MOST / 8 + 1];

/* jemalloc's variables of a thread, and in how many words the cache begins. */
extern PGG_TLS char je_tsd_tls[] __attribute__((weak));
enum { SEARCHED = 256 };

/* The cache that is used where jemalloc's is not known. */
static PGG_TLS struct pgal_cache none;

enum seen {
    BY_CACHE = 1,
    NOT_BY_BIN = 2, /* which was empty, or full */
    WAS_DUE = 4,    /* something else */
    ALL = BY_CACHE | NOT_BY_BIN | WAS_DUE,
    OTHERWISE = 8,
};

/* Objects of a size of which jemalloc keeps few, less than HELD. Something is due after each
 * 64 KiB. */
enum {
    BYTES = PGG_PAGE_MOST == 4096 ? 512 : 4096,
    HELD = PGG_PAGE_MOST == 4096 ? 24 : 40,
    PAIRS = (64 << 10) / BYTES + 1,
};

static uint16_t low(void *const *place)
{
    return (uint16_t)(uintptr_t)place;
}

static enum seen take(struct pgal_cache *cache, size_t place, void **p)
{
    const u64 bytes = pgal_class_at(place)->bytes, until = cache->allocated_until,
              allocated = cache->allocated + bytes;
    const struct pgal_cached *bin = pgal_bin_at(cache, place), was = *bin;
    *p = pgal_je_malloc(bytes);
    if (cache->allocated != allocated)
        return OTHERWISE;
    if (allocated >= until)
        return cache->allocated_until > allocated ? WAS_DUE : OTHERWISE;
    if (low(was.first) == was.empty)
        return *p && bin->first < was.first && bin->empty == was.empty ? NOT_BY_BIN : OTHERWISE;
    const uint16_t fewest = low(was.first) == was.fewest ? low(was.first + 1) : was.fewest;
    return bin->first == was.first + 1 && *was.first == *p && bin->fewest == fewest ? BY_CACHE
                                                                                   : OTHERWISE;
}

static enum seen put(struct pgal_cache *cache, size_t place, void *p)
{
    const u64 bytes = pgal_class_at(place)->bytes, until = cache->freed_until,
              freed = cache->freed + bytes;
    const struct pgal_cached *bin = pgal_bin_at(cache, place), was = *bin;
    pgal_je_free(p);
    if (cache->freed != freed)
        return OTHERWISE;
    if (freed >= until)
        return cache->freed_until > freed ? WAS_DUE : OTHERWISE;
    if (low(was.first) == was.full)
        return bin->first >= was.first && bin->full == was.full ? NOT_BY_BIN : OTHERWISE;
    return bin->first == was.first - 1 && *bin->first == p ? BY_CACHE : OTHERWISE;
}

static bool is_known(struct pgal_cache *cache)
{
    const size_t place = pgal_place_of[BYTES / 8];
    enum seen taken = 0, given = 0;
    void *held[HELD];
    for (u32 i = 0; i < PAIRS; i++) {
        taken |= take(cache, place, held);
        given |= put(cache, place, held[0]);
    }
    for (u32 i = 0; i < HELD; i++)
        taken |= take(cache, place, &held[i]);
    for (u32 i = 0; i < HELD; i++)
        given |= put(cache, place, held[i]);
    return taken == ALL && given == ALL;
}

/* The cache among jemalloc's variables of a thread, by the bytes that it counts in it. NULL: it is
 * not found, or not there only. (mallctl says where it is, too, but first makes memory and sums of
 * its statistics, which takes ten times as long.) */
static struct pgal_cache *find(void)
{
    u64 *words = (u64 *)(void *)je_tsd_tls, was[SEARCHED], *found = NULL;
    u32 n = 0;
    void *warm = pgal_je_malloc(BYTES);
    for (u32 i = 0; i < SEARCHED; i++)
        was[i] = words[i];
    pgal_je_free(pgal_je_malloc(BYTES));
    for (u32 i = 0; i + 2 < SEARCHED; i++)
        if (words[i] == was[i] + BYTES && words[i + 2] == was[i + 2] + BYTES) {
            found = &words[i];
            n++;
        }
    pgal_je_free(warm);
    return n == 1 ? (struct pgal_cache *)(void *)found : NULL;
}

static void fill_classes(void)
{
    u32 class = 0;
    for (u32 i = 0; i <= PGAL_CACHED_MOST / 8; i++) {
        class += i * 8 > pgal_classes[class].bytes;
        pgal_place_of[i] = (uint16_t)(class * sizeof *pgal_classes);
    }
}

void pgal_cache_init(void)
{
    pgal_cache_off = (char *)&none - pgg_thread_pointer();
    if (!pgal_map || je_tsd_tls == pgg_thread_pointer())
        return;
    struct pgal_cache *cache = find();
    fill_classes();
    if (!cache || !is_known(cache))
        return;
    pgal_cache_off = (char *)cache - pgg_thread_pointer();
    __atomic_store_n(&pgal_cached_end, PGAL_CACHED_MOST + 1, __ATOMIC_RELEASE);
}
