/* Walks that take over what the last walk found of a frame, against the plain one that leaves each
 * frame by its rule: over stacks that functions of all kinds of frames make at random. */
#include "../pgk_test.h"

#include "guest_walk.h"

#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

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

/* Whether the stack is left by jumps, too, and walks begin in handlers of signals and on other
 * stacks. */
static bool odd;
static jmp_buf *outer;

static __attribute__((noinline)) void of_jump(u32 times)
{
    jmp_buf here, *const before = outer;
    const u32 height_here = height;
    outer = &here;
    if (!setjmp(here))
        steps[dice(2)](times);
    outer = before;
    height = height_here;
}

static void on_signal(int number)
{
    (void)number;
    if (checks_left)
        check();
}

static __attribute__((noinline)) void of_signal(u32 times)
{
    while (times--)
        raise(dice(2) ? SIGUSR1 : SIGUSR2); /* the second one has a stack of its own */
}

static ucontext_t program, coroutine;

static void on_other_stack(void)
{
    for (;;) {
        if (checks_left)
            check();
        swapcontext(&coroutine, &program);
    }
}

static __attribute__((noinline)) void of_coroutine(u32 times)
{
    while (times--)
        swapcontext(&program, &coroutine);
}

static void begin_odd(void)
{
    static char stacks_of_others[2][1 << 16] __attribute__((aligned(16)));
    const stack_t other = {.ss_sp = stacks_of_others[0], .ss_size = sizeof *stacks_of_others};
    struct sigaction action = {.sa_handler = on_signal};
    assert_int_equal(sigaltstack(&other, NULL), 0);
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    action.sa_flags = SA_ONSTACK;
    assert_int_equal(sigaction(SIGUSR2, &action, NULL), 0);
    assert_int_equal(getcontext(&coroutine), 0);
    coroutine.uc_stack = (stack_t){.ss_sp = stacks_of_others[1], .ss_size = 1 << 16};
    makecontext(&coroutine, on_other_stack, 0);
}

/* Some calls from here, each of which walks, or goes on to another function. */
static __attribute__((noinline)) void step(u32 times)
{
    static void (*const functions[])(u32) = {of_no_pointer, of_saved_registers, of_any_size,
                                             of_aligned, of_pointer, of_jump, of_signal,
                                             of_coroutine};
    const u32 plain = sizeof functions / sizeof *functions - 3;
    height++;
    for (u32 i = 0; i < times && checks_left; i++)
        if (odd && outer && !dice(20))
            longjmp(*outer, 1);
        else if (height == highest || !dice(3))
            check();
        else
            functions[dice(odd ? plain + 3 : plain)](1 + dice(4));
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
    assert_true(depth > PGG_TRAIL_FRESH || odd ? kept > 0 : kept == checks);
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

static void signals_coroutines_and_jumps(void **state)
{
    (void)state;
    odd = true;
    begin_odd();
    compare(30, 60, false);
    compare(255, 60, false);
    compare(255, 300, false);
    odd = false;
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
        cmocka_unit_test(signals_coroutines_and_jumps),
        cmocka_unit_test(new_rules_empty_the_trail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
