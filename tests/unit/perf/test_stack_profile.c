/* Tests of what the forms of other profilers' profiles have in common. */
#include "pgk_test.h"

#include "stack_profile.h"

static struct pgk_perf_name name(const char *text)
{
    return (struct pgk_perf_name){text, strlen(text)};
}

static struct pgk_stack_value value(const char *type, const char *unit)
{
    return (struct pgk_stack_value){name(type), name(unit)};
}

static void time_becomes_samples_by_the_period(void **state)
{
    (void)state;
    const struct pgk_stack_value cpu = value("cpu", "nanoseconds"),
                                 samples = value("samples", "count"),
                                 wall = value("wall", "nanoseconds"),
                                 cycles = value("cpu", "cycles");
    const uint64_t period = 10000000;
    assert_true(pgk_stacks_in_rank(&samples) && pgk_stacks_in_rank(&cpu));
    assert_true(pgk_stacks_in_rank(&samples) < pgk_stacks_in_rank(&cpu));
    assert_int_equal(pgk_stacks_in_rank(&wall), 0);
    assert_int_equal(pgk_stacks_in_count(&cpu, 30000000, &cpu, period), 3);
    assert_int_equal(pgk_stacks_in_count(&cpu, 36000000, &cpu, period), 4);
    assert_int_equal(pgk_stacks_in_count(&cpu, 1, &cpu, period), 1);
    assert_int_equal(pgk_stacks_in_count(&cpu, 0, &cpu, period), 0);
    assert_true(pgk_stacks_in_count(&cpu, UINT64_MAX, &cpu, 2) == UINT64_C(1) << 63);
    assert_int_equal(pgk_stacks_in_count(&samples, 30000000, &cpu, period), 30000000);
    assert_int_equal(pgk_stacks_in_count(&cycles, 700, &cpu, period), 700);
}

struct seen {
    uint64_t start[8], size[8], ip, chain[4];
    bool linked[8];
    size_t mappings, samples;
    int32_t pid;
    enum pgk_perf_mode mode;
};

static int see_mapping(void *ctx, const struct pgk_perf_mapping *m)
{
    struct seen *s = ctx;
    s->start[s->mappings] = m->start;
    s->size[s->mappings] = m->size;
    s->linked[s->mappings++] = m->linked;
    return 0;
}

static int see_sample(void *ctx, const struct pgk_perf_sample *s)
{
    struct seen *seen = ctx;
    seen->samples += s->count;
    seen->ip = s->ip;
    memcpy(seen->chain, s->chain, s->n_chain * sizeof *s->chain);
    seen->pid = s->pid;
    seen->mode = s->mode;
    return 0;
}

/* Two processes have files at the same address; a third one has the first of them, too. */
static void mappings_do_not_meet(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct pgk_err err = {0};
    struct pgk_perf_info info = {0};
    const struct pgk_source src = {.file = "a", .format = "pprof"};
    const struct pgk_perf_handler handler = {
        .ctx = &seen, .mapping = see_mapping, .sample = see_sample};
    struct pgk_stack_reader r = {.src = &src, .handler = &handler, .info = &info, .err = &err};
    struct pgk_stack_mapping a = {.start = 0x400000, .limit = 0x402000, .path = name("/bin/a")},
                             b = a, c = a,
                             kernel = {.start = 0xffffffff81000000,
                                       .path = name("[kernel.kallsyms]")};
    uint32_t at[4], nowhere;
    b.path = name("/bin/b");
    assert_false(pgk_stacks_in_is_linked(&a, 0x401fff));
    assert_true(pgk_stacks_in_is_linked(&a, 0x1fff) && pgk_stacks_in_is_linked(&a, 0x402000));
    assert_int_equal(pgk_stacks_in_map(&r, &a, &at[0]), 0);
    assert_int_equal(pgk_stacks_in_map(&r, &b, &at[1]), 0);
    assert_int_equal(pgk_stacks_in_map(&r, &c, &at[2]), 0);
    assert_int_equal(pgk_stacks_in_map(&r, &kernel, &at[3]), 0);
    assert_int_equal(pgk_stacks_in_map(&r, &(struct pgk_stack_mapping){.path = name("")}, &nowhere),
                     0);
    assert_int_equal(seen.mappings, 3);
    assert_int_equal(at[0], at[2]);
    assert_int_equal(nowhere, PGK_STACK_NOWHERE);
    assert_true(seen.size[0] == 0x2000 && seen.start[0] + seen.size[0] <= seen.start[1]);
    pgk_stacks_in_begin(&r);
    assert_int_equal(pgk_stacks_in_push(&r, at[1], 0x400123, 0), 0);
    assert_int_equal(pgk_stacks_in_push(&r, at[0], 0x402000, 0), 0); /* after its end */
    assert_int_equal(pgk_stacks_in_push(&r, nowhere, 0x400123, 0), 0);
    assert_int_equal(pgk_stacks_in_label(&r, name("process.pid"), name("4711")), 0);
    assert_int_equal(pgk_stacks_in_pass(&r, 3, 0), 0);
    assert_int_equal(seen.samples, 3);
    assert_true(seen.ip == seen.start[1] + 0x123 && !seen.chain[1] && !seen.chain[2]);
    assert_int_equal(seen.pid, 4711);
    assert_int_equal(seen.mode, PGK_PERF_USER);
    pgk_stacks_in_begin(&r);
    assert_int_equal(pgk_stacks_in_pass(&r, 3, 0), 0); /* without a frame */
    assert_int_equal(pgk_stacks_in_push(&r, at[3], 0xffffffff81000001, 0), 0);
    assert_int_equal(pgk_stacks_in_pass(&r, 0, 0), 0); /* of no sample */
    assert_int_equal(seen.samples, 3);
    assert_int_equal(pgk_stacks_in_pass(&r, 1, 0), 0);
    assert_int_equal(seen.mode, PGK_PERF_KERNEL);
    pgk_vec_free(&r.regions);
    pgk_intern_free(&r.known);
    pgk_vec_free(&r.chain);
    pgk_vec_free(&r.labels);
}

static void stacks_have_a_limit(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    const struct pgk_source src = {.file = "a", .format = "pprof"};
    struct pgk_stack_reader r = {.src = &src, .err = &err};
    int status = 0;
    for (int i = 0; !status && i <= PGK_STACK_FRAMES_MAX; i++)
        status = pgk_stacks_in_push(&r, PGK_STACK_NOWHERE, 1, 5);
    assert_int_equal(status, PGK_E_CORRUPT);
    assert_int_equal(r.chain.n, PGK_STACK_FRAMES_MAX);
    pgk_vec_free(&r.chain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_becomes_samples_by_the_period),
        cmocka_unit_test(mappings_do_not_meet),
        cmocka_unit_test(stacks_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
