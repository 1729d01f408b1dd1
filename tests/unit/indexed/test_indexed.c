/* Indexed profiles: round trips, targets, merging, refusals. */
#include "indexed.h"

#include "format_row.h"
#include "heap_samples.h"
#include "stack_order.h"

#include <inttypes.h>

static const struct {
    uint32_t index, memprof, frame_ids;
} versions[] = {{11, 2, 1}, {11, 3, 1}, {12, 2, 1}, {12, 3, 1}, {12, 4, 2},
                {13, 2, 2}, {13, 3, 2}, {13, 4, 2}};

struct fixture {
    char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];
};

static struct pgk_indexed_write_opts opts_at(size_t v, bool full)
{
    return (struct pgk_indexed_write_opts){
        .struct_size = sizeof(struct pgk_indexed_write_opts),
        .target = {.name = "test", .index_version = versions[v].index,
                   .memprof_version = versions[v].memprof, .frame_ids = versions[v].frame_ids},
        .full_schema = full};
}

static uint8_t *write_bytes(const struct pgk_heap *h, const struct pgk_indexed_write_opts *opts,
                            size_t *size)
{
    struct fixture f;
    test_folder(f.folder);
    test_join(f.path, f.folder, "out.profdata");
    assert_int_equal(pgk_indexed_write(h, NULL, f.path, opts, NULL), 0);
    uint8_t *bytes = (uint8_t *)test_read_file(f.path, size);
    test_folder_remove(f.folder);
    return bytes;
}

/* A copy has the same stacks in another order, and may be used up. */
static void assert_copy_writes(const struct pgk_heap *h, const struct pgk_indexed_write_opts *opts,
                               const uint8_t *bytes, size_t size)
{
    struct fixture f;
    struct pgk_heap *copy;
    size_t again;
    test_folder(f.folder);
    test_join(f.path, f.folder, "out.profdata");
    assert_int_equal(pgk_heap_new(&copy, NULL), 0);
    assert_int_equal(pgk_heap_merge(copy, h, NULL), 0);
    assert_true(stacks_in_order(&copy->stacks) && !stacks_in_order(&h->stacks));
    struct pgk_indexed_write_opts consuming = *opts;
    consuming.consumed = copy;
    assert_int_equal(pgk_indexed_write(copy, NULL, f.path, &consuming, NULL), 0);
    uint8_t *second = (uint8_t *)test_read_file(f.path, &again);
    assert_int_equal(size, again);
    assert_memory_equal(bytes, second, size);
    free(second);
    pgk_heap_close(&copy);
    test_folder_remove(f.folder);
}

static int read_bytes(const uint8_t *bytes, size_t size, struct pgk_heap **h,
                      struct pgk_indexed_info *info, struct pgk_err *err)
{
    struct pgk_source src = {.file = "t.profdata", .format = "indexed profile"};
    assert_int_equal(pgk_heap_new(h, NULL), 0);
    return pgk_indexed_read(*h, bytes, size, &src, info, err);
}

static struct pgk_heap *sample(uint64_t seed, bool callees)
{
    struct pgk_heap *h;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill(h, seed, 1 + (unsigned)(seed * 37 % 300), 1 + (unsigned)(seed % 20), callees);
    return h;
}

/* The text of a target names its release and those that the rows of both versions have. */
static void test_readers_of_targets(void **state)
{
    (void)state;
    static const char *const names[] = {"any",
#define PGK_LLVM_RELEASE(number, ...) "llvm" #number,
#include "llvm_releases.def"
#undef PGK_LLVM_RELEASE
    };
    for (size_t i = 0; i < PGK_COUNTOF(names); i++) {
        const struct pgk_indexed_target *t = pgk_indexed_target(names[i]);
        assert_non_null(t);
        const bool holds_heap = t->index_version >= PGK_INDEX_FIRST_HEAP;
        const struct pgk_memprof_version *v = pgk_memprof_version(t->memprof_version);
        uint32_t first = pgk_index_since(t->index_version), named = first;
        char want[64];
        sscanf(t->name, "llvm%" SCNu32, &named);
        if (holds_heap && v->since > first)
            first = v->since;
        first = named < first ? named : first;
        if (holds_heap && v->until < PGK_LLVM_NOW)
            snprintf(want, sizeof want, "LLVM %u to %u", first, v->until);
        else
            snprintf(want, sizeof want, "LLVM %u and later", first);
        assert_string_equal(t->readers, want);
        if (holds_heap)
            assert_true((named <= v->until || v->until == PGK_LLVM_NOW) &&
                        pgk_index_since(t->index_version) <= v->until);
    }
    assert_non_null(pgk_indexed_target("llvm" PGK_LLVM_NOW_TEXT));
}

static void test_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 24; seed++)
        for (size_t v = 0; v < sizeof versions / sizeof *versions; v++) {
            bool full = seed & 1;
            struct pgk_indexed_write_opts opts = opts_at(v, full);
            struct pgk_heap *h = sample(seed, versions[v].memprof >= 4), *back;
            struct pgk_indexed_info info;
            size_t size, again;
            uint8_t *first = write_bytes(h, &opts, &size);
            assert_int_equal(read_bytes(first, size, &back, &info, NULL), 0);
            assert_int_equal(info.index_version, versions[v].index);
            assert_int_equal(info.memprof_version, versions[v].memprof);
            assert_int_equal(info.full_schema, full);
            assert_false(info.has_counters);
            assert_int_equal(pgk_heap_contexts(back), pgk_heap_contexts(h));
            uint8_t *second = write_bytes(back, &opts, &again);
            assert_int_equal(size, again);
            assert_memory_equal(first, second, size);
            assert_copy_writes(h, &opts, first, size);
            free(first);
            free(second);
            pgk_heap_close(&h);
            pgk_heap_close(&back);
        }
}

/* Merging in any order and grouping, through files, gives the same bytes. */
static void test_merge_order(void **state)
{
    (void)state;
    const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    struct pgk_indexed_write_opts opts = opts_at(7, true);
    struct pgk_heap *parts[3], *sum;
    uint8_t *files[3], *want = NULL;
    size_t sizes[3], want_size = 0;
    for (uint64_t i = 0; i < 3; i++) {
        parts[i] = sample(i + 5, true);
        files[i] = write_bytes(parts[i], &opts, &sizes[i]);
    }
    for (int o = 0; o < 6; o++) {
        assert_int_equal(pgk_heap_new(&sum, NULL), 0);
        for (int i = 0; i < 3; i++) {
            int p = orders[o / 2][i];
            struct pgk_source src = {.file = "t", .format = "indexed profile"};
            assert_int_equal(o & 1 ? pgk_indexed_read(sum, files[p], sizes[p], &src, NULL, NULL)
                                   : pgk_heap_merge(sum, parts[p], NULL),
                             0);
        }
        size_t size;
        uint8_t *bytes = write_bytes(sum, &opts, &size);
        if (!want) {
            want = bytes;
            want_size = size;
        } else {
            assert_int_equal(size, want_size);
            assert_memory_equal(bytes, want, size);
            free(bytes);
        }
        pgk_heap_close(&sum);
    }
    free(want);
    for (int i = 0; i < 3; i++) {
        free(files[i]);
        pgk_heap_close(&parts[i]);
    }
}

static void test_truncations(void **state)
{
    (void)state;
    for (size_t v = 5; v < 8; v++) {
        struct pgk_indexed_write_opts opts = opts_at(v, false);
        struct pgk_heap *h, *back;
        size_t size;
        assert_int_equal(pgk_heap_new(&h, NULL), 0);
        sample_fill(h, v, 4, 3, true);
        uint8_t *bytes = write_bytes(h, &opts, &size);
        /* The last 16 bytes are the empty lists of binary ids and vtable names, which hold
         * no heap data. */
        for (size_t n = 0; n < size - 16; n++) {
            struct pgk_err err = {0};
            uint8_t *part = malloc(n + 1);
            memcpy(part, bytes, n);
            assert_true(read_bytes(part, n, &back, NULL, &err) < 0);
            assert_true(*err.field && *err.found && *err.expected);
            pgk_heap_close(&back);
            free(part);
        }
        free(bytes);
        pgk_heap_close(&h);
    }
}

static void test_mutations(void **state)
{
    (void)state;
    uint64_t seed = 99;
    size_t refused = 0;
    for (size_t v = 5; v < 8; v++) {
        struct pgk_indexed_write_opts opts = opts_at(v, v & 1);
        struct pgk_heap *h = sample(3, true), *back;
        size_t size;
        uint8_t *bytes = write_bytes(h, &opts, &size);
        for (int i = 0; i < 2000; i++) {
            struct pgk_err err = {0};
            uint8_t *bad = malloc(size);
            memcpy(bad, bytes, size);
            for (int k = 0; k < 3; k++)
                bad[test_random(&seed) % size] = (uint8_t)test_random(&seed);
            if (read_bytes(bad, size, &back, NULL, &err) < 0) {
                refused++;
                assert_true(*err.field && *err.file);
            }
            pgk_heap_close(&back);
            free(bad);
        }
        free(bytes);
        pgk_heap_close(&h);
    }
    assert_in_range(refused, 100, 6000);
}

static void test_refused_targets(void **state)
{
    (void)state;
    struct fixture f;
    struct pgk_heap *h = sample(3, false), *empty, *addresses;
    struct pgk_err err = {0};
    struct pgk_indexed_write_opts opts = opts_at(7, false);
    test_folder(f.folder);
    test_join(f.path, f.folder, "out.profdata");
    assert_int_equal(pgk_heap_new(&empty, NULL), 0);
    assert_int_equal(pgk_indexed_write(empty, NULL, f.path, &opts, &err), PGK_E_EMPTY);

    uint64_t seed = 1;
    struct pgk_mib m = sample_mib(&seed);
    assert_int_equal(pgk_heap_new(&addresses, NULL), 0);
    uint32_t frame = pgk_heap_frame(addresses, PGK_FRAME_ADDRESS, PGK_INDEX_NONE, 99);
    assert_int_equal(pgk_heap_add(addresses, pgk_stack_add(&addresses->stacks, &frame, 1), &m,
                                  NULL),
                     0);
    assert_int_equal(pgk_indexed_write(addresses, NULL, f.path, &opts, &err), PGK_E_ARG);

    opts.target.index_version = PGK_INDEX_NOW + 1;
    assert_int_equal(pgk_indexed_write(h, NULL, f.path, &opts, &err), PGK_E_ARG);
    assert_string_equal(err.field, "index version");
    opts.target.index_version = 13;
    opts.target.memprof_version = 5;
    assert_int_equal(pgk_indexed_write(h, NULL, f.path, &opts, &err), PGK_E_ARG);
    assert_string_equal(err.field, "MemProf version");
    assert_int_equal(test_folder_entries(f.folder), 0);
    test_folder_remove(f.folder);
    pgk_heap_close(&h);
    pgk_heap_close(&empty);
    pgk_heap_close(&addresses);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct pgk_indexed_write_opts opts = opts_at(7, true);
    struct pgk_heap *h;
    struct fixture f;
    size_t size;
    test_folder(f.folder);
    test_join(f.path, f.folder, "out.profdata");
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    sample_fill(h, 3, 6, 4, true);
    uint8_t *bytes = write_bytes(h, &opts, &size);
    for (int reading = 0; reading < 2; reading++) {
        int status = PGK_E_NOMEM;
        for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++) {
            struct pgk_heap *back = NULL;
            struct pgk_err err = {0};
            struct pgk_source src = {.file = "t"};
            pgk_mem_fail_after(nth);
            if (reading) {
                status = pgk_heap_new(&back, &err);
                if (!status)
                    status = pgk_indexed_read(back, bytes, size, &src, NULL, &err);
            } else {
                status = pgk_indexed_write(h, NULL, f.path, &opts, &err);
                if (status)
                    assert_int_equal(test_folder_entries(f.folder), 0);
            }
            pgk_mem_fail_after(0);
            pgk_heap_close(&back);
            assert_in_range(nth, 1, 2000);
        }
        assert_int_equal(status, 0);
    }
    free(bytes);
    test_folder_remove(f.folder);
    pgk_heap_close(&h);
}

/* Chains of more functions than a first look has room for: each has the context in its record. */
static void test_long_chains(void **state)
{
    (void)state;
    enum { FUNCS = 150 };
    const size_t v = sizeof versions / sizeof *versions - 1;
    struct pgk_indexed_write_opts opts = opts_at(v, true);
    struct pgk_heap *h, *back;
    struct pgk_indexed_info info;
    uint32_t node = 0, funcs[FUNCS];
    uint64_t seed = 3;
    const struct pgk_mib mib = sample_mib(&seed);
    size_t size;
    assert_int_equal(pgk_heap_new(&h, NULL), 0);
    for (uint32_t i = 0; i < 2 * FUNCS; i++) {
        uint32_t func = pgk_heap_func(h, 1 + i % FUNCS, 0, 0, 0);
        node = pgk_stack_push(&h->stacks, node,
                              pgk_heap_frame(h, i ? PGK_FRAME_INLINED : PGK_FRAME_CALLER, func, i));
    }
    assert_int_equal(pgk_heap_add(h, node, &mib, NULL), 0);
    pgk_heap_own_by_chain(h, node);
    assert_in_range(pgk_heap_chain(h, node, funcs, 20), FUNCS, 2 * FUNCS);
    assert_int_equal(pgk_heap_chain(h, node, funcs, FUNCS), FUNCS);
    uint8_t *bytes = write_bytes(h, &opts, &size);
    assert_int_equal(read_bytes(bytes, size, &back, &info, NULL), 0);
    for (int i = 0; i < 2; i++) {
        pgk_heap_member_vec members = {0};
        assert_true(pgk_heap_members(i ? back : h, &members));
        assert_int_equal(members.n, FUNCS);
        pgk_vec_free(&members);
    }
    free(bytes);
    pgk_heap_close(&h);
    pgk_heap_close(&back);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers_of_targets),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_merge_order),
        cmocka_unit_test(test_truncations),
        cmocka_unit_test(test_mutations),
        cmocka_unit_test(test_refused_targets),
        cmocka_unit_test(test_out_of_memory),
        cmocka_unit_test(test_long_chains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
