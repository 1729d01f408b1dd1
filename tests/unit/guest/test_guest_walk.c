/* Walks that take over what the last walk found of a frame, against the plain one that leaves each
 * frame by its rule: over stacks that functions of all kinds of frames make at random. */
#include "../pgk_test.h"

#include "guest_walk.h"

#include <alloca.h>

enum { MOST = 600, STACKS = 1 << 18 };

static struct pgg_walker walker;
static uint64_t at_random = 1;
static u32 height, highest, checks_left, kept, known_again, ids;
/* What was remembered, by id. */
static struct {
    u64 hash;
    u32 n;
} stacks[STACKS];

static u32 dice(u32 sides)
{
    return (u32)(test_random(&at_random) % sides);
}

static u32 id_of(const struct pgg_stack_found *found)
{
    assert_true(ids + 1 < STACKS);
    stacks[++ids].hash = found->hash;
    stacks[ids].n = found->n;
    return ids;
}

static __attribute__((noinline)) void check(void)
{
    u64 pcs[MOST], plain[MOST + 1];
    const u32 depth = (u32)pgg_walk_options.depth,
              n = pgg_walk_first(&walker, PGG_HERE, plain, depth),
              known = pgg_walk_known(&walker, PGG_HERE);
    checks_left--;
    if (known) {
        known_again++;
        assert_int_equal(stacks[known].n, n);
        assert_true(stacks[known].hash == pgg_trail_hash_pcs(plain, n));
    }
    const struct pgg_stack_found found = pgg_walk(&walker, PGG_HERE, pcs);
    pgg_walk_pcs(&walker, &found, pcs);
    assert_int_equal(found.n, n);
    assert_memory_equal(pcs, plain, n * sizeof *pcs);
    assert_true(found.hash == pgg_trail_hash_pcs(plain, n));
    assert_int_equal(found.full, n == depth);
    if (found.full)
        assert_int_equal(pgg_walk_goes_on(&walker, PGG_HERE),
                         pgg_walk_first(&walker, PGG_HERE, plain, depth + 1) > depth);
    kept += found.in_trail;
    if (found.reads)
        pgg_walk_remember(found.reads, id_of(&found));
}

/* Calls of one place keep the frame pointer here or there. */
static void step(u32 times);
static void step_of_pointer(u32 times);
static void (*const steps[])(u32) = {step, step_of_pointer};

/* As a function does that keeps no frame pointer. */
static __attribute__((noinline)) void of_no_pointer(u32 times)
{
    steps[dice(2)](times);
    __asm__ volatile("" ::: "memory"); /* no tail call */
}

static __attribute__((noinline)) void of_saved_registers(u32 times)
{
    u64 a = dice(9), b = dice(9), c = dice(9), d = dice(9), e = dice(9), f = dice(9);
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f));
    steps[dice(2)](times);
    __asm__ volatile("" : : "r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
}

static __attribute__((noinline)) void of_any_size(u32 times)
{
    char *bytes = alloca(16 + dice(200));
    __asm__ volatile("" : : "r"(bytes) : "memory");
    steps[dice(2)](times);
    __asm__ volatile("" : : "r"(bytes) : "memory");
}

static __attribute__((noinline)) void of_aligned(u32 times)
{
    char bytes[64] __attribute__((aligned(64)));
    char *more = alloca(16 + dice(100));
    __asm__ volatile("" : : "r"(bytes), "r"(more) : "memory");
    steps[dice(2)](times);
    __asm__ volatile("" : : "r"(bytes), "r"(more) : "memory");
}

static __attribute__((noinline)) void of_pointer(u32 times)
{
    __asm__ volatile("" : : "r"(PGG_HERE));
    steps[dice(2)](times);
    __asm__ volatile("" ::: "memory");
}

/* Some calls from here, each of which walks, or goes on to another function. */
static __attribute__((noinline)) void step(u32 times)
{
    static void (*const functions[])(u32) = {of_no_pointer, of_saved_registers, of_any_size,
                                             of_aligned, of_pointer};
    height++;
    for (u32 i = 0; i < times && checks_left; i++)
        if (height == highest || !dice(3))
            check();
        else
            functions[dice(sizeof functions / sizeof *functions)](1 + dice(4));
    height--;
}

static __attribute__((noinline)) void step_of_pointer(u32 times)
{
    __asm__ volatile("" : : "r"(PGG_HERE));
    step(times);
    __asm__ volatile("" ::: "memory");
}

static void compare(u32 depth, u32 most_calls, bool frame_pointers)
{
    const u32 checks = depth < 100 ? 40000 : 8000; /* each reads the whole stack */
    pgg_walk_options.depth = depth;
    pgg_walk_options.frame_pointers = frame_pointers;
    pgg_frames_forget();
    pgg_walker_init(&walker);
    kept = 0;
    for (checks_left = checks; checks_left;) {
        highest = 1 + dice(most_calls);
        step(8);
    }
    /* Otherwise this compares a plain walk with itself. */
    assert_true(depth > PGG_TRAIL_FRESH || kept == checks);
}

static void walks_take_over_what_is_still_so(void **state)
{
    (void)state;
    pgg_frames_ready();
    compare(30, 20, false);
    compare(30, 60, false);
    assert_true(known_again > 0);
}

static void stacks_deeper_than_what_is_kept(void **state)
{
    (void)state;
    compare(3, 60, false);
    compare(30, 300, false);
    compare(128, 200, false);
    compare(255, 400, false);
}

static void stacks_too_deep_for_a_trail(void **state)
{
    (void)state;
    compare(MOST, 700, false);
}

static void new_rules_empty_the_trail(void **state)
{
    (void)state;
    for (u32 i = 0; i < 20; i++)
        compare(30, 40, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(walks_take_over_what_is_still_so),
        cmocka_unit_test(stacks_deeper_than_what_is_kept),
        cmocka_unit_test(stacks_too_deep_for_a_trail),
        cmocka_unit_test(new_rules_empty_the_trail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
