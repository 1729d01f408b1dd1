/* Tests of lib/probe/probe_index.c and probe_query.c, on random programs, against the plain
 * decoder. */
#include "../probe_samples.h"

#include "mem.h"

enum { FUNCTIONS = 12, NAME = 16 };

struct sample {
    struct program p;
    uint64_t random;
    char names[FUNCTIONS][NAME];
    struct plain plain;
    struct pgk_elf *elf;
    struct pgk_probes *probes;
};

static unsigned below(struct sample *s, unsigned n)
{
    return (unsigned)(test_random(&s->random) % n);
}

static uint64_t address_of(unsigned function)
{
    return TEXT + 0x200 * (uint64_t)function;
}

static uint64_t start_of(void *ctx, uint64_t guid)
{
    struct sample *s = ctx;
    for (unsigned i = 0; i < FUNCTIONS; i++)
        if (guid_of(s->names[i]) == guid)
            return address_of(i);
    fail();
    return 0;
}

static void random_body(struct sample *s, unsigned depth, unsigned function, int64_t *at)
{
    unsigned probes = below(s, 9), children = depth < 5 ? below(s, 4) : 0;
    if (depth)
        add_child(&s->p, 1 + below(s, 4), s->names[below(s, FUNCTIONS)], probes, children);
    else
        add_body(&s->p, s->names[function], probes, children);
    for (unsigned i = 0; i < probes; i++) {
        int64_t to = (int64_t)below(s, 0x200);
        bool discriminator = !below(s, 6);
        add_probe(&s->p, 1 + below(s, 5), below(s, 3) | (discriminator ? HAS_DISCRIMINATOR : 0),
                  to - *at);
        if (discriminator)
            tb_uleb(&s->p.probe, 1 + below(s, 100000));
        *at = to;
    }
    for (unsigned i = 0; i < children; i++)
        random_body(s, depth + 1, function, at);
}

static struct sample *new_sample(uint64_t seed)
{
    struct sample *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->random = seed;
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        snprintf(s->names[i], NAME, "f%u_%u", i, (unsigned)seed);
        add_desc(&s->p, s->names[i], i);
        add_symbol(&s->p, s->names[i], address_of(i), 0x200);
    }
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        int64_t at = 0;
        if (i % 5 != 3)
            random_body(s, 0, i, &at);
    }
    s->plain.start = start_of;
    s->plain.ctx = s;
    plain_decode(&s->plain, &s->p.probe);
    s->elf = link_program(&s->p);
    assert_int_equal(pgk_probes_open_elf(&s->probes, s->elf, NULL), 0);
    return s;
}

static void free_sample(struct sample *s)
{
    pgk_probes_close(&s->probes);
    pgk_elf_close(&s->elf);
    program_free(&s->p);
    free(s);
}

/* Everything of node `node` of the index is that of node `plain` of the plain decoder. */
static void same_context(struct sample *s, const struct pgk_probe_index *ix, uint32_t node,
                         unsigned plain)
{
    const struct plain_node *nodes = s->plain.nodes;
    for (;;) {
        struct pgk_probe_node n = pgk_probe_node_at(ix, node);
        assert_true(n.guid == nodes[plain].guid);
        assert_int_equal(n.site, nodes[plain].site);
        assert_int_equal(n.parent == PGK_PROBE_NONE, nodes[plain].parent == 0);
        if (n.parent == PGK_PROBE_NONE)
            return;
        node = n.parent;
        plain = nodes[plain].parent - 1;
    }
}

static void everything_is_as_in_the_plain_decoder(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct sample *s = new_sample(seed);
        struct pgk_probe_index *ix;
        assert_int_equal(pgk_probe_index_all(&ix, s->probes, NULL), 0);
        assert_int_equal(pgk_probe_count(ix), s->plain.n_probes);
        assert_int_equal(pgk_probe_node_count(ix), s->plain.n_nodes);
        for (uint32_t i = 0; i < s->plain.n_probes; i++) {
            struct pgk_probe p = pgk_probe_get(ix, i);
            const struct plain_probe *q = &s->plain.probes[i];
            assert_true(p.addr == q->addr);
            assert_int_equal(p.index, q->index);
            assert_int_equal(p.type, q->type);
            same_context(s, ix, p.node, q->node);
        }
        pgk_probe_index_close(&ix);
        free_sample(s);
    }
}

/* All probes at an address, by looking at each. */
static size_t plain_at(const struct sample *s, uint64_t addr, uint32_t *found)
{
    size_t n = 0;
    for (uint32_t i = 0; i < s->plain.n_probes; i++)
        if (s->plain.probes[i].addr == addr)
            found[n++] = i;
    return n;
}

static void addresses_are_found(void **state)
{
    (void)state;
    static uint32_t expected[PLAIN_MAX];
    for (uint64_t seed = 100; seed < 110; seed++) {
        struct sample *s = new_sample(seed);
        struct pgk_probe_index *ix;
        assert_int_equal(pgk_probe_index_all(&ix, s->probes, NULL), 0);
        for (uint64_t addr = TEXT - 2; addr < address_of(FUNCTIONS) + 2; addr++) {
            size_t first, n = plain_at(s, addr, expected);
            uint32_t call = PGK_PROBE_NONE;
            assert_int_equal(pgk_probe_at(ix, addr, &first), n);
            for (size_t i = 0; i < n; i++) {
                assert_int_equal(pgk_probe_by_address(ix, first + i), expected[i]);
                if (call == PGK_PROBE_NONE && s->plain.probes[expected[i]].type)
                    call = expected[i];
            }
            assert_int_equal(pgk_probe_call_at(ix, addr), call);
        }
        assert_int_equal(pgk_probe_lower_bound(ix, 0), 0);
        assert_int_equal(pgk_probe_lower_bound(ix, UINT64_MAX), pgk_probe_count(ix));
        pgk_probe_index_close(&ix);
        free_sample(s);
    }
}

/* Index of a few functions: as large as those, and with the same contexts. */
static void only_what_is_asked_for_is_decoded(void **state)
{
    (void)state;
    for (uint64_t seed = 200; seed < 220; seed++) {
        struct sample *s = new_sample(seed);
        for (unsigned f = 0; f < FUNCTIONS; f++) {
            uint64_t guid = guid_of(s->names[f]);
            struct pgk_probe_range range = {address_of(f), address_of(f) + 0x200};
            struct pgk_probe_index *by_name, *by_range;
            size_t at = 0;
            assert_int_equal(pgk_probe_index_functions(&by_name, s->probes, &guid, 1, NULL), 0);
            assert_int_equal(pgk_probe_index_ranges(&by_range, s->probes, &range, 1, NULL), 0);
            for (uint32_t i = 0; i < s->plain.n_probes; i++) {
                unsigned root = s->plain.probes[i].node;
                while (s->plain.nodes[root].parent)
                    root = s->plain.nodes[root].parent - 1;
                if (s->plain.nodes[root].guid != guid)
                    continue;
                assert_true(pgk_probe_get(by_name, (uint32_t)at).addr == s->plain.probes[i].addr);
                assert_true(pgk_probe_get(by_range, (uint32_t)at).addr == s->plain.probes[i].addr);
                same_context(s, by_name, pgk_probe_get(by_name, (uint32_t)at).node,
                             s->plain.probes[i].node);
                at++;
            }
            assert_int_equal(pgk_probe_count(by_name), at);
            assert_int_equal(pgk_probe_count(by_range), at);
            pgk_probe_index_close(&by_name);
            pgk_probe_index_close(&by_range);
        }
        free_sample(s);
    }
}

static void copies_and_contexts_are_found(void **state)
{
    (void)state;
    for (uint64_t seed = 300; seed < 310; seed++) {
        struct sample *s = new_sample(seed);
        const struct plain *d = &s->plain;
        struct pgk_probe_index *ix;
        assert_int_equal(pgk_probe_index_all(&ix, s->probes, NULL), 0);
        for (uint32_t i = 0; i < d->n_probes; i++) {
            unsigned copies = 0;
            for (uint32_t k = 0; k < d->n_probes; k++)
                copies += d->probes[k].node == d->probes[i].node &&
                          d->probes[k].index == d->probes[i].index;
            assert_int_equal(pgk_probe_copies(ix, i), copies);
        }
        for (uint32_t n = 0; n < d->n_nodes; n++) {
            struct pgk_probe_frame frames[8];
            size_t depth = pgk_probe_context(ix, n, frames, 8);
            assert_in_range(depth, 0, 8);
            for (uint32_t k = n, at = (uint32_t)depth; at--; k = d->nodes[k].parent - 1) {
                assert_int_equal(frames[at].site, d->nodes[k].site);
                assert_int_equal(pgk_probe_desc_at(s->probes, frames[at].desc).guid,
                                 d->nodes[d->nodes[k].parent - 1].guid);
            }
        }
        pgk_probe_index_close(&ix);
        free_sample(s);
    }
}

static void contexts_begin_outside(void **state)
{
    (void)state;
    struct program p = {0};
    struct pgk_probe_index *ix;
    struct pgk_probes *probes;
    struct pgk_probe_frame frames[2];
    add_desc(&p, "main", 1), add_desc(&p, "foo", 2), add_desc(&p, "bar", 3);
    add_symbol(&p, "main", TEXT, 64);
    add_body(&p, "main", 1, 1), add_probe(&p, 1, BLOCK, 0);
    add_child(&p, 3, "foo", 0, 1), add_child(&p, 2, "bar", 1, 0), add_probe(&p, 1, BLOCK, 9);
    struct pgk_elf *elf = link_program(&p);
    assert_int_equal(pgk_probes_open_elf(&probes, elf, NULL), 0);
    assert_int_equal(pgk_probe_index_all(&ix, probes, NULL), 0);
    assert_int_equal(pgk_probe_context(ix, pgk_probe_get(ix, 1).node, frames, 2), 2);
    assert_int_equal(frames[0].desc, 0);
    assert_int_equal(frames[0].site, 3);
    assert_int_equal(frames[1].desc, 1);
    assert_int_equal(frames[1].site, 2);
    frames[1] = (struct pgk_probe_frame){0};
    assert_int_equal(pgk_probe_context(ix, pgk_probe_get(ix, 1).node, frames, 1), 2);
    assert_int_equal(frames[0].site, 3);
    assert_int_equal(frames[1].site, 0);
    assert_int_equal(pgk_probe_next_copy(ix, guid_of("bar"), PGK_PROBE_NONE), 2);
    assert_int_equal(pgk_probe_next_copy(ix, guid_of("bar"), 2), PGK_PROBE_NONE);
    pgk_probe_index_close(&ix);
    pgk_probes_close(&probes);
    pgk_elf_close(&elf);
    program_free(&p);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct sample *s = new_sample(7);
    uint64_t nth = 1;
    int status = PGK_E_NOMEM;
    for (; status == PGK_E_NOMEM; nth++) {
        struct pgk_probes *probes = NULL;
        struct pgk_probe_index *ix = NULL;
        pgk_mem_fail_after(nth);
        status = pgk_probes_open_elf(&probes, s->elf, NULL);
        if (!status)
            status = pgk_probe_index_all(&ix, probes, NULL);
        pgk_mem_fail_after(0);
        pgk_probe_index_close(&ix);
        pgk_probes_close(&probes);
    }
    assert_int_equal(status, 0);
    assert_true(nth > 10);
    free_sample(s);
}

/* Any change of bytes gives an error or an index whose every part can be asked. */
static void random_damage_is_survived(void **state)
{
    (void)state;
    struct sample *s = new_sample(9);
    for (int turn = 0; turn < 3000; turn++) {
        size_t at = below(s, (unsigned)s->p.probe.n);
        uint8_t old = s->p.probe.v[at];
        s->p.probe.v[at] = (uint8_t)test_random(&s->random);
        struct pgk_elf *elf = link_program(&s->p);
        struct pgk_probes *probes = NULL;
        struct pgk_probe_index *ix = NULL;
        struct pgk_err err = {0};
        int status = pgk_probes_open_elf(&probes, elf, &err);
        if (!status)
            status = pgk_probe_index_all(&ix, probes, &err);
        assert_int_equal(status, err.status);
        for (uint32_t i = 0; ix && i < pgk_probe_count(ix); i++) {
            struct pgk_probe p = pgk_probe_get(ix, i);
            assert_in_range(p.addr, TEXT, TEXT + TEXT_SIZE);
            (void)pgk_probe_context(ix, p.node, NULL, 0);
        }
        pgk_probe_index_close(&ix);
        pgk_probes_close(&probes);
        pgk_elf_close(&elf);
        s->p.probe.v[at] = old;
    }
    free_sample(s);
}

static void ranges_must_ascend(void **state)
{
    (void)state;
    struct sample *s = new_sample(3);
    struct pgk_probe_index *ix = NULL;
    const struct pgk_probe_range wrong[] = {{0x2100, 0x2200}, {0x2000, 0x2100}};
    assert_int_equal(pgk_probe_index_ranges(&ix, s->probes, wrong, 2, NULL), PGK_E_ARG);
    assert_null(ix);
    assert_int_equal(pgk_probe_index_ranges(&ix, s->probes, NULL, 0, NULL), 0);
    assert_int_equal(pgk_probe_count(ix), 0);
    pgk_probe_index_close(&ix);
    free_sample(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_is_as_in_the_plain_decoder),
        cmocka_unit_test(addresses_are_found),
        cmocka_unit_test(only_what_is_asked_for_is_decoded),
        cmocka_unit_test(copies_and_contexts_are_found),
        cmocka_unit_test(contexts_begin_outside),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(random_damage_is_survived),
        cmocka_unit_test(ranges_must_ascend),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
