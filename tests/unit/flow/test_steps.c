/* Steps of branch stacks, and what unwinding makes of them. */
#include "call_trie.h"
#include "../small_program.h"

#define OUT PGK_STEP_OUT
#define ELSEWHERE PGK_ADDR_EXTERNAL

static struct pgk_code code;
static struct pgk_steps steps;

static uint32_t off(uint64_t addr)
{
    return addr == ELSEWHERE ? OUT : pgk_code_offset(&code, addr);
}

static uint32_t step(uint64_t from, uint64_t to, uint64_t end)
{
    uint32_t number;
    assert_true(pgk_steps_need(&steps, &code, off(from), off(to), off(end), &number));
    return number;
}

static const struct pgk_step *step_at(uint64_t from, uint64_t to, uint64_t end)
{
    uint32_t number = step(from, to, end);
    assert_int_not_equal(number, PGK_STEP_NONE);
    return &steps.list.v[number];
}

static void test_kinds(void **state)
{
    (void)state;
    const struct pgk_step *s = step_at(F_CALL, G, G);
    assert_int_equal(s->kind, PGK_STEP_CALL);
    assert_true(s->call == F_CALL && !s->impossible);
    s = step_at(H_RET, F_RET, ELSEWHERE);
    assert_int_equal(s->kind, PGK_STEP_RETURN);
    assert_true(s->call == F_CALL && s->end == PGK_STEP_OUT);
    assert_int_equal(step_at(G, H, H_RET)->kind, PGK_STEP_OTHER);

    s = step_at(ELSEWHERE, F, F_BRANCH);
    assert_int_equal(s->kind, PGK_STEP_CALL);
    assert_true(s->call == PGK_ADDR_EXTERNAL);
    s = step_at(ELSEWHERE, F_RET, F_RET); /* right behind a call */
    assert_int_equal(s->kind, PGK_STEP_RETURN);
    assert_true(s->call == F_CALL);
    s = step_at(F_RET, ELSEWHERE, F); /* nothing runs elsewhere */
    assert_true(s->call == PGK_ADDR_EXTERNAL && s->end == PGK_STEP_OUT);

    assert_true(step_at(G, F, F_RET)->impossible); /* over the call */
    assert_true(step_at(G, H_RET, H)->impossible); /* backwards */
}

static void test_same_step(void **state)
{
    (void)state;
    uint32_t number = step(F_CALL, G, G);
    size_t n = steps.list.n;
    assert_int_equal(step(F_CALL, G, G), number);
    assert_int_equal(pgk_steps_find(&steps, off(F_CALL), off(G), off(G)), number);
    assert_int_equal(steps.list.n, n);
    /* What is no instruction is elsewhere. */
    assert_int_equal(step(F_CALL + 1, F, F_BRANCH), step(ELSEWHERE, F, F_BRANCH));
    assert_int_equal(step(F_RET, F + 1, F_BRANCH), step(F_RET, ELSEWHERE, ELSEWHERE));
    assert_int_equal(step(F_CALL + 1, F + 1, ELSEWHERE), PGK_STEP_NONE);
    assert_int_equal(off(F - 0x10000), OUT);
}

static void add(struct pgk_step_table *counts, struct pgk_counters *c, uint64_t from, uint64_t to,
                uint64_t end, uint64_t count)
{
    uint32_t source = off(from), target = off(to);
    assert_true(pgk_step_counts_add(counts, &code, c, &source, &target, off(end), count));
}

static void test_counters(void **state)
{
    (void)state;
    struct pgk_step_table counts = {0};
    struct pgk_counters c = {0};
    add(&counts, &c, F_CALL, G, G, 3);
    add(&counts, &c, F_CALL, G, ELSEWHERE, 4);
    add(&counts, &c, F_RET, ELSEWHERE, ELSEWHERE, 5);
    add(&counts, &c, F_CALL, G, G + 1, 0); /* nothing */
    assert_int_equal(counts.used, 3);
    assert_int_equal(c.branches.list.n, 0);
    assert_true(pgk_step_counts_move(&counts, &code, &c));
    assert_null(counts.v);
    assert_int_equal(c.branches.list.n, 1);
    assert_int_equal(c.branches.list.v[0].count, 7);
    assert_int_equal(c.ranges.list.n, 1);
    assert_true(c.ranges.list.v[0].from == G && c.ranges.list.v[0].to == G);
    assert_int_equal(c.ranges.list.v[0].count, 3);
    pgk_counters_free(&c);
}

/* More than an entry holds. */
static void test_high_counts(void **state)
{
    (void)state;
    struct pgk_step_table counts = {0};
    struct pgk_counters c = {0};
    uint64_t sum = 0;
    for (uint64_t count = 1; count && count <= UINT64_C(1) << 40; count *= 7, sum += count / 7)
        add(&counts, &c, F_CALL, G, G, count);
    add(&counts, &c, F_CALL, G, G, 1);
    assert_true(pgk_step_counts_move(&counts, &code, &c));
    assert_int_equal(c.branches.list.n, 1);
    assert_true(c.branches.list.v[0].count == sum + 1);
    assert_true(c.ranges.list.v[0].count == sum + 1);
    pgk_counters_free(&c);
}

static void test_elsewhere(void **state)
{
    (void)state;
    struct pgk_step_table counts = {0};
    struct pgk_counters c = {0};
    uint32_t from = off(F_CALL + 1), to = off(F + 1);
    assert_true(pgk_step_counts_add(&counts, &code, &c, &from, &to, off(G), 1));
    assert_true(from == OUT && to == OUT && !counts.v);
    from = off(F_CALL + 1);
    to = off(F);
    assert_true(pgk_step_counts_add(&counts, &code, &c, &from, &to, off(F_BRANCH), 1));
    assert_true(from == OUT && to == off(F));
    pgk_step_table_free(&counts);
    pgk_counters_free(&c);
}

static void check_count(const struct pgk_call_counts *counts, size_t i, uint32_t node,
                        uint64_t from, uint64_t to, uint64_t count)
{
    assert_true(i < counts->list.n);
    const struct pgk_call_count *c = &counts->list.v[i];
    assert_int_equal(c->node, node);
    assert_true(c->from == from && c->to == to && c->count == count);
}

static void unwind(struct pgk_call_trie *trie, const uint32_t *list, size_t n)
{
    struct pgk_call_sample sample = {.count = 2};
    for (size_t i = 0; i < n; i++)
        assert_true(pgk_vec_push(&sample.steps, list[i]));
    assert_true(pgk_call_trie_unwind(trie, &steps, &sample));
    assert_true(pgk_call_trie_unwind(trie, &steps, &sample));
    assert_true(pgk_call_trie_count(trie, &steps, &code));
    pgk_call_counts_sort(&trie->ranges);
    pgk_call_counts_sort(&trie->branches);
    pgk_vec_free(&sample.steps);
}

static void test_unwind(void **state)
{
    (void)state;
    struct pgk_call_trie trie = {0};
    const uint32_t list[] = {step(H_RET, F_RET, ELSEWHERE), step(G, H, H_RET), step(F_CALL, G, G)};
    unwind(&trie, list, 3);
    const uint64_t call = F_CALL;
    uint32_t callee = pgk_call_trie_find(&trie, &call, 1);
    assert_int_equal(trie.ranges.list.n, 2);
    check_count(&trie.ranges, 0, callee, G, G, 4);
    check_count(&trie.ranges, 1, callee, H, H_RET, 4);
    assert_int_equal(trie.branches.list.n, 3);
    check_count(&trie.branches, 0, PGK_CALL_ROOT, F_CALL, G, 4);
    check_count(&trie.branches, 1, callee, G, H, 4);
    check_count(&trie.branches, 2, callee, H_RET, F_RET, 4);
    pgk_call_trie_free(&trie);
}

/* What ran before an impossible range, or before branches were lost, has no known caller. */
static void test_lost(void **state)
{
    (void)state;
    struct pgk_call_trie trie = {0};
    const uint32_t broken[] = {step(H_RET, F_RET, ELSEWHERE), step(G, H_RET, H),
                               step(F_CALL, G, G)};
    unwind(&trie, broken, 3);
    assert_int_equal(trie.ranges.list.n, 2);
    check_count(&trie.ranges, 0, PGK_CALL_ROOT, G, G, 4);
    assert_true(trie.ranges.list.v[1].impossible && trie.ranges.list.v[1].node != PGK_CALL_ROOT);
    check_count(&trie.branches, 0, PGK_CALL_ROOT, F_CALL, G, 4);
    check_count(&trie.branches, 1, PGK_CALL_ROOT, G, H_RET, 4);
    pgk_call_trie_free(&trie);

    const uint32_t torn[] = {step(H_RET, F_RET, ELSEWHERE), step(H_RET, ELSEWHERE, ELSEWHERE),
                             step(F_CALL, G, H)};
    trie = (struct pgk_call_trie){0};
    unwind(&trie, torn, 3);
    check_count(&trie.ranges, 0, PGK_CALL_ROOT, G, H, 4);
    check_count(&trie.branches, 0, PGK_CALL_ROOT, F_CALL, G, 4);
    pgk_call_trie_free(&trie);
}

int main(void)
{
    struct test_bytes b;
    struct pgk_elf *elf = open_small_program(&b);
    assert_int_equal(pgk_code_open(&code, elf, NULL), 0);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_same_step),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_high_counts),
        cmocka_unit_test(test_elsewhere),
        cmocka_unit_test(test_unwind),
        cmocka_unit_test(test_lost),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pgk_steps_free(&steps);
    pgk_code_close(&code);
    pgk_elf_close(&elf);
    tb_free(&b);
    return failed;
}
