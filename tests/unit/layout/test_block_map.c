/* .llvm_bb_addr_map of every version: blocks, features that are passed over, damage. */
#include "../elf_image.h"

#include "block_map.h"
#include "elf_priv.h"

enum {
    SECTION = 0x6fff4c0a,
    OLD_SECTION = 0x6fff4c08,
    MAIN = TEST_CODE + 0x100,
    PART = TEST_CODE + 0x4000,
    OTHER = TEST_CODE + 0x200,
    ENTRY_COUNT = 1,
    FREQUENCY = 2,
    PROBABILITY = 4,
    RANGES = 8,
    NO_BLOCKS = 0x10,
    CALLS = 0x20,
    HASH = 0x40,
    POST_LINK = 0x80,
};

/* ---- writing ---- */

static void put_head(struct test_bytes *b, unsigned version, unsigned features)
{
    if (version)
        tb_u8(b, version);
    if (version >= 5)
        tb_u16(b, features);
    else if (version)
        tb_u8(b, features);
}

static void put_block(struct test_bytes *b, unsigned version, unsigned features, uint64_t id,
                      uint64_t offset, uint64_t size, uint64_t flags)
{
    if (version >= 2)
        tb_uleb(b, id);
    tb_uleb(b, offset);
    if (features & CALLS) { /* two, or none */
        tb_uleb(b, size > 2 ? 2 : 0);
        if (size > 2) {
            tb_uleb(b, 1);
            tb_uleb(b, 1);
            size -= 2;
        }
    }
    tb_uleb(b, size);
    tb_uleb(b, flags);
    if (features & HASH)
        tb_u64(b, id * 0x100000001);
}

static void put_figures(struct test_bytes *b, unsigned features, unsigned blocks)
{
    if (features & ENTRY_COUNT)
        tb_uleb(b, 1000);
    for (unsigned i = 0; i < blocks && features & (FREQUENCY | PROBABILITY); i++) {
        if (features & FREQUENCY)
            tb_uleb(b, 1 << 20);
        if (features & POST_LINK)
            tb_uleb(b, 7);
        if (features & PROBABILITY) {
            tb_uleb(b, 1);
            tb_uleb(b, i + 1);
            tb_uleb(b, UINT32_MAX / 2);
            if (features & POST_LINK)
                tb_uleb(b, 5);
        }
    }
}

/* Blocks 0, 9 and 4 of one function, the last in another place if there are ranges, and block 0 of
 * another one. */
static struct test_bytes map_of(unsigned version, unsigned features)
{
    struct test_bytes b = {0};
    put_head(&b, version, features);
    if (features & RANGES)
        tb_uleb(&b, 2);
    tb_u64(&b, MAIN);
    tb_uleb(&b, features & RANGES ? 2 : 3);
    put_block(&b, version, features, 0, 0, 0x10, 8);
    put_block(&b, version, features, 9, version ? 0 : 0x10, 0x90, 8);
    if (features & RANGES) {
        tb_u64(&b, PART);
        tb_uleb(&b, 1);
    }
    put_block(&b, version, features, 4, features & RANGES ? 0 : version ? 2 : 0xa2, 6, 1);
    put_figures(&b, features, 3);
    put_head(&b, version, features & ~(unsigned)RANGES);
    tb_u64(&b, OTHER);
    tb_uleb(&b, 1);
    put_block(&b, version, features, 0, 0, 0x30, 1);
    put_figures(&b, features, 1);
    return b;
}

static int open_map(struct pgk_block_map *map, const struct test_bytes *b, unsigned version,
                    struct pgk_err *err)
{
    struct test_section s = {
        ".llvm_bb_addr_map", version ? SECTION : OLD_SECTION, 0, b->v, b->n, 0, 0};
    struct test_bytes image = test_elf(ET_EXEC, &s, 1);
    struct pgk_elf *elf;
    assert_int_equal(
        pgk_elf_open_memory(&elf, image.v, image.n, "/nowhere/image", PGK_ELF_PROGRAM, NULL), 0);
    int status = pgk_block_map_open(map, elf, err);
    pgk_elf_close(&elf);
    tb_free(&image);
    return status;
}

/* ---- reading ---- */

static void check_block(const struct pgk_block_map *m, size_t i, uint64_t low, uint32_t size,
                        uint32_t id, uint32_t function)
{
    const struct pgk_map_block *b = &m->blocks.v[i];
    assert_int_equal(b->low, low);
    assert_int_equal(b->size, size);
    assert_int_equal(b->id, id);
    assert_int_equal(b->function, function);
}

static void check_map(unsigned version, unsigned features)
{
    struct pgk_block_map m;
    struct pgk_err err = {0};
    struct test_bytes b = map_of(version, features);
    const uint64_t last = features & RANGES ? PART : MAIN + 0xa2;
    print_message("version %u, features 0x%x\n", version, features);
    assert_int_equal(open_map(&m, &b, version, &err), 0);
    assert_int_equal(m.functions.n, 2);
    assert_int_equal(m.blocks.n, 4);
    assert_int_equal(m.functions.v[0].entry, MAIN);
    assert_int_equal(m.functions.v[0].n, 3);
    assert_int_equal(m.functions.v[1].entry, OTHER);
    assert_int_equal(m.functions.v[1].first, 3);
    check_block(&m, 0, MAIN, 0x10, 0, 0);
    check_block(&m, 1, MAIN + 0x10, 0x90, version < 2 ? 1 : 9, 0);
    check_block(&m, 2, last, 6, version < 2 ? 2 : 4, 0);
    check_block(&m, 3, OTHER, 0x30, 0, 1);
    assert_int_equal(m.blocks.v[0].flags, PGK_BLOCK_FALLS_THROUGH);
    assert_int_equal(m.blocks.v[3].flags, PGK_BLOCK_RETURNS);
    assert_int_equal(m.list, version < 3 ? 0 : 1);
    assert_int_equal(m.by_address.v[pgk_block_map_at(&m, last + 5)], 2);
    assert_int_equal(m.by_address.v[pgk_block_map_at(&m, OTHER)], 3);
    assert_true(pgk_block_map_at(&m, MAIN + 0xa1) == SIZE_MAX); /* between two blocks */
    assert_true(pgk_block_map_at(&m, MAIN - 1) == SIZE_MAX);
    assert_true(pgk_block_map_at(&m, last + 6) == SIZE_MAX || !(features & RANGES));
    pgk_block_map_close(&m);
    tb_free(&b);
}

static void test_every_version(void **state)
{
    (void)state;
    check_map(0, 0);
    check_map(1, 0);
    check_map(2, 0);
    check_map(2, ENTRY_COUNT | FREQUENCY | PROBABILITY | RANGES);
    check_map(3, CALLS);
    check_map(4, CALLS | HASH | RANGES);
    check_map(5, 0);
    for (unsigned features = 0; features < 0x100; features++)
        if (!(features & NO_BLOCKS))
            check_map(5, features);
}

/* ---- bad input ---- */

static void check_cut(unsigned version, unsigned features)
{
    struct test_bytes b = map_of(version, features);
    size_t whole = 0;
    for (size_t n = 1; n < b.n; n++) {
        struct test_bytes part = {b.v, n, n};
        struct pgk_block_map m;
        struct pgk_err err = {0};
        int status = open_map(&m, &part, version, &err);
        whole += !status;
        if (!status) {
            assert_int_equal(m.functions.n, 1); /* cut after the first */
            pgk_block_map_close(&m);
            continue;
        }
        assert_int_equal(status, PGK_E_TRUNCATED);
        assert_true(*err.field && *err.file && err.offset != PGK_NO_OFFSET);
    }
    assert_int_equal(whole, 1);
    tb_free(&b);
}

static void test_cut(void **state)
{
    (void)state;
    check_cut(0, 0);
    check_cut(1, 0);
    check_cut(2, RANGES | FREQUENCY | PROBABILITY);
    check_cut(5, 0xef);
}

static void expect_refused(const struct test_bytes *b, int status, const char *field)
{
    struct pgk_block_map m;
    struct pgk_err err = {0};
    assert_int_equal(open_map(&m, b, 2, &err), status);
    assert_string_equal(err.field, field);
    assert_true(*err.found && *err.expected && *err.hint);
    assert_true(err.offset != PGK_NO_OFFSET);
}

static void test_refused(void **state)
{
    struct test_bytes b = map_of(2, 0);
    (void)state;
    b.v[0] = 6;
    expect_refused(&b, PGK_E_VERSION, "version");
    b.v[0] = 0;
    expect_refused(&b, PGK_E_VERSION, "version");
    b.v[0] = 2;
    b.v[1] = CALLS; /* of version 3 */
    expect_refused(&b, PGK_E_VERSION, "features");
    tb_free(&b);
    put_head(&b, 2, 0);
    tb_u64(&b, MAIN);
    tb_uleb(&b, 1);
    put_block(&b, 2, 0, 0, 0, TEST_CODE_SIZE, 0);
    expect_refused(&b, PGK_E_CORRUPT, "address");
    b.n -= 6; /* the block */
    put_block(&b, 2, 0, 0, 0, UINT64_C(1) << 32, 0);
    expect_refused(&b, PGK_E_CORRUPT, "size");
    tb_free(&b);
}

/* What the linker left out has address 0; without another function there is no map. */
static void test_left_out(void **state)
{
    struct pgk_block_map m;
    struct pgk_err err = {0};
    struct test_bytes b = map_of(2, 0), none = {0};
    const uint64_t nowhere = 0;
    (void)state;
    memcpy(b.v + 2, &nowhere, sizeof nowhere);
    assert_int_equal(open_map(&m, &b, 2, &err), 0);
    assert_int_equal(m.outside, 1);
    assert_int_equal(m.functions.n, 1);
    assert_int_equal(m.blocks.n, 1);
    check_block(&m, 0, OTHER, 0x30, 0, 0);
    pgk_block_map_close(&m);
    tb_free(&b);
    tb_u8(&none, 0);
    none.n = 0;
    assert_int_equal(open_map(&m, &none, 2, &err), PGK_E_NODEBUG);
    assert_non_null(strstr(err.hint, "-fbasic-block-address-map"));
    tb_free(&none);
    put_head(&b, 5, NO_BLOCKS);
    tb_u64(&b, MAIN);
    tb_uleb(&b, 7);
    assert_int_equal(open_map(&m, &b, 5, &err), PGK_E_NODEBUG);
    tb_free(&b);
}

/* A jump leads to the first block at an address, whose bytes are of the last. */
static void test_empty_blocks(void **state)
{
    struct pgk_block_map m;
    struct test_bytes b = {0};
    (void)state;
    put_head(&b, 2, 0);
    tb_u64(&b, MAIN);
    tb_uleb(&b, 5);
    put_block(&b, 2, 0, 0, 0, 0x10, 0);
    put_block(&b, 2, 0, 1, 0, 0, 8);
    put_block(&b, 2, 0, 2, 0, 0, 8);
    put_block(&b, 2, 0, 3, 0, 0xf0, 0);
    put_block(&b, 2, 0, 4, 0, 0, 0); /* ends where another function begins */
    put_head(&b, 2, 0);
    tb_u64(&b, OTHER);
    tb_uleb(&b, 1);
    put_block(&b, 2, 0, 0, 0, 8, 0);
    assert_int_equal(open_map(&m, &b, 2, NULL), 0);
    assert_int_equal(m.by_address.v[pgk_block_map_at(&m, MAIN + 0x10)], 1);
    assert_int_equal(m.by_address.v[pgk_block_map_holds(&m, MAIN + 0x10)], 3);
    assert_int_equal(m.by_address.v[pgk_block_map_at(&m, OTHER)], 5);
    pgk_block_map_close(&m);
    tb_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_version), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_refused),       cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_empty_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
