/* A part of a heap profile: the contexts that the plain rule chooses of the whole one. */
#include "indexed.h"

#include "heap_samples.h"
#include "u64_set.h"

#include <inttypes.h>

enum { DEEPEST = 256, FUNCTIONS = 8 };

static const struct pgk_source source = {.file = "t.profdata", .format = "indexed profile"};

static uint8_t *write_bytes(const struct pgk_heap *h, uint32_t version, size_t *size)
{
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];
    const struct pgk_indexed_write_opts opts = {
        .struct_size = sizeof opts, .full_schema = true,
        .target = {.name = "test", .index_version = 13, .memprof_version = version,
                   .frame_ids = 2}};
    test_folder(folder);
    test_join(path, folder, "out.profdata");
    assert_int_equal(pgk_indexed_write(h, NULL, path, &opts, NULL), 0);
    uint8_t *bytes = (uint8_t *)test_read_file(path, size);
    test_folder_remove(folder);
    return bytes;
}

static bool same_frame(const struct pgk_heap_frame *a, const struct pgk_heap_frame *b)
{
    return a->guid == b->guid && a->line_offset == b->line_offset && a->column == b->column &&
           a->inlined == b->inlined;
}

static bool same_frames(const struct pgk_heap_frame *a, const struct pgk_heap_frame *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!same_frame(&a[i], &b[i]))
            return false;
    return true;
}

/* Is the way from a call of `n` frames to the root one of an earlier context's, too? */
static bool known_before(const struct pgk_heap *h, size_t context,
                         const struct pgk_heap_frame *way, size_t n)
{
    struct pgk_heap_frame stack[DEEPEST];
    for (size_t i = 0; i < context; i++) {
        size_t frames = pgk_heap_stack(h, i, stack, DEEPEST);
        if (frames > n && same_frames(stack + frames - n, way, n))
            return true;
    }
    return false;
}

static bool is_wanted(const struct pgk_heap *h, size_t context, const uint64_t *set, size_t n)
{
    struct pgk_heap_frame stack[DEEPEST];
    size_t frames = pgk_heap_stack(h, context, stack, DEEPEST);
    for (size_t i = 0; i < frames; i++)
        if (pgk_u64_find(set, n, stack[i].guid) < n &&
            (!i || !known_before(h, context, stack + i, frames - i)))
            return true;
    return false;
}

static void assert_context(const struct pgk_heap *whole, size_t i, const struct pgk_heap *part,
                           size_t k)
{
    struct pgk_heap_frame a[DEEPEST], b[DEEPEST];
    assert_true(k < pgk_heap_contexts(part));
    size_t n = pgk_heap_stack(whole, i, a, DEEPEST);
    assert_int_equal(n, pgk_heap_stack(part, k, b, DEEPEST));
    assert_true(same_frames(a, b, n));
    for (int id = 0; id < PGK_MIB_FIELDS; id++) {
        assert_int_equal(pgk_heap_value(whole, i, id), pgk_heap_value(part, k, id));
        assert_int_equal(pgk_heap_knows(whole, i, id), pgk_heap_knows(part, k, id));
    }
}

static void assert_sums(const struct pgk_heap *whole, const struct pgk_heap *part)
{
    struct pgk_heap_sum a = {.struct_size = sizeof a}, b = {.struct_size = sizeof b};
    pgk_heap_sum(whole, &a);
    pgk_heap_sum(part, &b);
    assert_int_equal(a.contexts, b.contexts);
    assert_int_equal(a.bytes, b.bytes);
    assert_int_equal(a.columns, b.columns);
    assert_true(a.accesses_per_byte == b.accesses_per_byte);
}

static size_t choose(const struct pgk_heap *whole, uint64_t seed, uint64_t *set)
{
    size_t n = 0;
    for (; n < seed % FUNCTIONS && n < whole->funcs.n; n++)
        set[n] = whole->funcs.v[(seed * 31 + n * 7) % whole->funcs.n].guid;
    return pgk_u64_set(set, n);
}

static void check_bytes(const uint8_t *bytes, size_t size, uint64_t seed)
{
    struct pgk_heap *whole, *part;
    struct pgk_indexed_info info;
    uint64_t set[FUNCTIONS];
    assert_int_equal(pgk_heap_new(&whole, NULL), 0);
    assert_int_equal(pgk_heap_new(&part, NULL), 0);
    assert_int_equal(pgk_indexed_read(whole, bytes, size, &source, NULL, NULL), 0);
    size_t n = choose(whole, seed, set), k = 0;
    assert_int_equal(pgk_indexed_read_functions(part, bytes, size, &source, set, n, &info, NULL),
                     0);
    for (size_t i = 0; i < pgk_heap_contexts(whole); i++)
        if (is_wanted(whole, i, set, n))
            assert_context(whole, i, part, k++);
    assert_int_equal(k, pgk_heap_contexts(part));
    assert_sums(whole, part);
    pgk_heap_close(&part);
    pgk_heap_close(&whole);
}

static struct pgk_heap *sample(uint64_t seed)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill(h, seed, 1 + (unsigned)(seed * 37 % 200), 1 + (unsigned)(seed % 20), seed & 1);
    return h;
}

static void test_part_is_what_the_plain_rule_chooses(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct pgk_heap *h = sample(seed);
        size_t size;
        uint8_t *bytes = write_bytes(h, 3 + seed % 2, &size);
        check_bytes(bytes, size, seed);
        free(bytes);
        pgk_heap_close(&h);
    }
}

static void test_older_versions_are_read_as_a_whole(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(7), *part;
    struct pgk_indexed_info info;
    size_t size;
    uint64_t set[FUNCTIONS];
    uint8_t *bytes = write_bytes(h, 2, &size);
    assert_int_equal(pgk_heap_new(&part, NULL), 0);
    size_t n = choose(h, 7, set);
    assert_int_equal(pgk_indexed_read_functions(part, bytes, size, &source, set, n, &info, NULL),
                     PGK_E_ARG);
    assert_int_equal(pgk_heap_contexts(part), 0);
    pgk_heap_close(&part);
    free(bytes);
    pgk_heap_close(&h);
}

/* Read in part, or refused with an offset and a field; never beyond the bytes. */
static void read_damaged(const uint8_t *bytes, size_t size, const uint64_t *set, size_t n)
{
    struct pgk_heap *part;
    struct pgk_indexed_info info;
    struct pgk_err err = {0};
    assert_int_equal(pgk_heap_new(&part, NULL), 0);
    int status = pgk_indexed_read_functions(part, bytes, size, &source, set, n, &info, &err);
    assert_int_equal(status, err.status);
    if (status && status != PGK_E_ARG) /* that: an older version */
        assert_true(*err.field && err.offset != PGK_NO_OFFSET);
    pgk_heap_close(&part);
}

static void test_damage_is_refused(void **state)
{
    (void)state;
    struct pgk_heap *h = sample(11);
    size_t size;
    uint64_t set[FUNCTIONS];
    uint8_t *bytes = write_bytes(h, 4, &size);
    size_t n = choose(h, 5, set);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *some = malloc(cut + 1); /* of its own, so that sanitizers see its end */
        memcpy(some, bytes, cut);
        read_damaged(some, cut, set, n);
        free(some);
    }
    for (size_t at = 0; at < size; at++) {
        uint8_t before = bytes[at];
        bytes[at] ^= 0xff;
        read_damaged(bytes, size, set, n);
        bytes[at] = before;
    }
    free(bytes);
    pgk_heap_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_part_is_what_the_plain_rule_chooses),
        cmocka_unit_test(test_older_versions_are_read_as_a_whole),
        cmocka_unit_test(test_damage_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
