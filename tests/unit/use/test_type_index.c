/* Types at chains of inlined calls, next to each row compared with each chain. */
#include "type_index.h"

#include "pgk_test.h"

enum { CONTEXTS = 60, ROWS = 90, DEEP = 5, LOOKUPS = 60, TRIES = 300, MANY = 20000 };

static uint32_t few(uint64_t *state, uint32_t n)
{
    return (uint32_t)(test_random(state) % n);
}

/* Contexts of few functions and places, so that many are alike; callers have lower numbers. */
static void fill(struct pgc_type_index *rows, uint64_t *state)
{
    for (uint32_t i = 1; i <= CONTEXTS; i++)
        pgc_type_index_context(rows, i, (struct pgc_type_context){
            few(state, 3), few(state, 2), rows->probes ? 0 : few(state, 2),
            i > 6 ? few(state, i) : 0});
    for (size_t i = 0; i < ROWS; i++) {
        const uint32_t context = 1 + few(state, CONTEXTS);
        pgc_type_index_add(rows, (struct pgc_type_row){
            .function = rows->contexts[context].function, .line = few(state, 2),
            .context = context, .use = PGK_USE_NO_FUNCTION,
            .of = {few(state, 9), 1 + few(state, 50)}});
    }
    pgc_type_index_sort(rows);
}

static size_t random_chain(struct pgc_place chain[DEEP], uint64_t *state)
{
    const size_t n = few(state, DEEP + 1);
    for (size_t i = 0; i < n; i++)
        chain[i] = (struct pgc_place){.function = few(state, 3), .line_offset = few(state, 2),
                                      .discriminator = i ? few(state, 2) : 0,
                                      .probe = few(state, 2)};
    return n;
}

enum agreement { OTHER, MAY_BE, SAME };

static enum agreement compare(const struct pgc_type_index *rows, const struct pgc_type_row *row,
                              const struct pgc_place *chain, size_t n)
{
    const bool probes = rows->probes;
    const struct pgc_type_context *c = &rows->contexts[row->context];
    if (row->function != chain->function || row->discriminator != 0 ||
        row->line != (probes ? chain->probe : chain->line_offset))
        return OTHER;
    for (size_t i = 1; i < n; i++) {
        if (!c->caller)
            return MAY_BE;
        if (c->line != (probes ? chain[i].probe : chain[i].line_offset) ||
            c->discriminator != (probes ? 0 : chain[i].discriminator) ||
            rows->contexts[c->caller].function != chain[i].function)
            return OTHER;
        c = &rows->contexts[c->caller];
    }
    return c->caller ? MAY_BE : SAME;
}

/* Counts by type of the rows that agree best, and marks them. */
static size_t plainly(const struct pgc_type_index *rows, const struct pgc_place *chain, size_t n,
                      uint64_t counts[9], bool marked[ROWS])
{
    enum agreement best = OTHER;
    size_t types = 0;
    for (size_t i = 0; n && i < rows->n; i++) {
        const enum agreement how = compare(rows, &rows->all[i], chain, n);
        best = how > best ? how : best;
    }
    for (size_t i = 0; i < rows->n; i++) {
        const struct pgc_type_row *row = &rows->all[i];
        marked[i] = best != OTHER && compare(rows, row, chain, n) == best;
        if (!marked[i])
            continue;
        types += !counts[row->of.type];
        counts[row->of.type] += row->of.count;
    }
    return types;
}

static void look_up(struct pgc_type_index *rows, uint64_t *state)
{
    struct pgc_place chain[DEEP];
    struct pgc_type_count types[PGC_TYPES];
    uint64_t counts[9] = {0};
    bool marked[ROWS], found[ROWS] = {false};
    const size_t length = random_chain(chain, state);
    const size_t usable = rows->probes && length && !chain->probe ? 0 : length;
    const size_t wanted = plainly(rows, chain, usable, counts, marked);
    const size_t n = pgc_type_index_at(rows, chain, length, types);
    assert_int_equal(n, wanted < PGC_TYPES ? wanted : PGC_TYPES);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(types[i].count, counts[types[i].type]);
        assert_true(!i || types[i].count < types[i - 1].count ||
                    (types[i].count == types[i - 1].count && types[i].type > types[i - 1].type));
    }
    for (size_t i = 0; i < rows->n_found; i++)
        for (struct pgc_type_row *row = rows->found[i].first; row < rows->found[i].end; row++)
            found[row - rows->all] = true;
    assert_memory_equal(found, marked, sizeof found);
    for (size_t i = 0; i < rows->n; i++)
        if (marked[i])
            assert_int_equal(rows->all[i].use, PGK_USE_OTHER_CALLER);
}

static void lookups_find_what_comparing_all_rows_finds(void **state)
{
    uint64_t seed = 1;
    (void)state;
    for (size_t try = 0; try < TRIES; try++) {
        struct pgc_type_index rows = {.probes = try % 2};
        fill(&rows, &seed);
        for (size_t i = 0; i < LOOKUPS; i++)
            look_up(&rows, &seed);
        for (uint64_t function = 0; function < 4; function++) {
            const struct pgc_type_range of = pgc_type_index_of(&rows, function);
            size_t n = 0;
            for (size_t i = 0; i < rows.n; i++)
                n += rows.all[i].function == function;
            assert_int_equal(of.end - of.first, n);
            assert_true(!n || of.first->function == function);
        }
        pgc_type_index_close(&rows);
    }
}

/* Each lookup compared all places at which an accessor is inlined. */
static void accessors_may_be_inlined_anywhere(void **state)
{
    struct pgc_type_index rows = {0};
    (void)state;
    pgc_type_index_context(&rows, 1, (struct pgc_type_context){.function = 1});
    for (uint32_t i = 0; i < MANY; i++) {
        pgc_type_index_context(&rows, 2 + i, (struct pgc_type_context){2, i, 0, 1});
        pgc_type_index_add(&rows, (struct pgc_type_row){.function = 2, .line = 3, .context = 2 + i,
                                                       .of = {i, 5}});
    }
    pgc_type_index_sort(&rows);
    for (uint32_t i = 0; i < MANY; i++) {
        const struct pgc_place chain[] = {{.function = 2, .line_offset = 3},
                                          {.function = 1, .line_offset = i}};
        struct pgc_type_count types[PGC_TYPES];
        assert_int_equal(pgc_type_index_at(&rows, chain, 2, types), 1);
        assert_int_equal(types[0].type, i);
    }
    pgc_type_index_close(&rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lookups_find_what_comparing_all_rows_finds),
        cmocka_unit_test(accessors_may_be_inlined_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
