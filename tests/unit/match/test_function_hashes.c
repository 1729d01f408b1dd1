/* Records of counters in programs: which functions they are of, and damaged ones. */
#include "elf_image.h"
#include "elf_priv.h"
#include "function_hashes.h"
#include "instr_raw_layout.h"

enum { LLVM_14 = 8, LLVM_18 = 9, LLVM_22 = 10, RECORDS = 2, ROOM = 128 };

/* Two functions with 3 and 4 counters. */
static struct test_bytes records(uint32_t version)
{
    struct test_bytes b = {0};
    const struct pgk_raw_record_layout l = pgk_raw_record_layout(version, 8);
    assert_in_range(l.bytes, 1, ROOM);
    for (uint64_t i = 0; i < RECORDS; i++) {
        uint8_t record[ROOM] = {0};
        const uint64_t name = 100 + i, hash = 200 + i;
        const uint32_t counters = 3 + (uint32_t)i;
        memcpy(record + l.name_ref.off, &name, sizeof name);
        memcpy(record + l.hash.off, &hash, sizeof hash);
        memcpy(record + l.n_counters.off, &counters, sizeof counters);
        tb_put(&b, record, l.bytes);
    }
    return b;
}

enum { COUNTERS = 1, DATA = 2 }; /* numbers of sections */

/* Reads a program with these records and bytes of counters; the header of the section of records
 * says `header_size`, if that is not 0. */
static int read_program(struct pgk_hashes *h, const struct test_bytes *data, size_t counters_size,
                        uint32_t type, uint64_t header_size, struct pgk_err *err)
{
    static const uint8_t counters[64];
    const struct test_section sections[] = {
        [COUNTERS - 1] = {.name = "__llvm_prf_cnts", .bytes = counters, .size = counters_size},
        [DATA - 1] = {.name = "__llvm_prf_data", .type = type, .bytes = data->v, .size = data->n},
    };
    struct test_bytes image = test_elf(ET_EXEC, sections, PGK_COUNTOF(sections));
    struct pgk_elf *elf;
    Elf64_Ehdr header;
    *h = (struct pgk_hashes){0};
    *err = (struct pgk_err){0};
    memcpy(&header, image.v, sizeof header);
    if (header_size)
        memcpy(image.v + header.e_shoff + DATA * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size),
               &header_size, sizeof header_size);
    assert_int_equal(pgk_elf_open_memory(&elf, image.v, image.n, "app", PGK_ELF_PROGRAM, err), 0);
    int status = pgk_hashes_of_records(h, elf, err);
    pgk_elf_close(&elf);
    tb_free(&image);
    return status;
}

static void functions_of_each_layout(void **state)
{
    (void)state;
    static const uint32_t versions[] = {LLVM_14, LLVM_18, LLVM_22};
    for (size_t i = 0; i < PGK_COUNTOF(versions); i++) {
        struct test_bytes data = records(versions[i]);
        struct pgk_hash_key key = {.guid = 101, .hash = 201};
        struct pgk_hashes h;
        struct pgk_err err;
        uint64_t now;
        assert_int_equal(read_program(&h, &data, 7 * 8, 0, 0, &err), 0);
        assert_int_equal(h.list.n, RECORDS);
        assert_int_equal(pgk_hashes_level(&h, &key, &now), PGK_MATCH_EXACT);
        key.hash = 200; /* of the other one */
        assert_int_equal(pgk_hashes_level(&h, &key, &now), PGK_MATCH_FUNCTIONS);
        assert_int_equal(now, 201);
        key.guid = 1;
        assert_int_equal(pgk_hashes_level(&h, &key, &now), PGK_MATCH_GONE);
        pgk_hashes_free(&h);
        assert_int_equal(read_program(&h, &data, 7, 0, 0, &err), 0); /* counters of a byte */
        assert_int_equal(h.list.n, RECORDS);
        pgk_hashes_free(&h);
        tb_free(&data);
    }
}

static void programs_without_records(void **state)
{
    (void)state;
    struct test_bytes data = records(LLVM_22), none = {0};
    struct pgk_hashes h;
    struct pgk_err err;
    assert_int_equal(read_program(&h, &data, 7 * 8, SHT_NOBITS, 0, &err), 0); /* a debug file */
    assert_int_equal(h.list.n, 0);
    assert_int_equal(read_program(&h, &none, 7 * 8, 0, 0, &err), 0);
    assert_int_equal(h.list.n, 0);
    tb_free(&data);
}

/* Says which section and field it is, and where. */
static void refused(const struct test_bytes *data, size_t counters_size, uint64_t header_size,
                    int status, const char *found)
{
    struct pgk_hashes h;
    struct pgk_err err;
    assert_int_equal(read_program(&h, data, counters_size, 0, header_size, &err), status);
    assert_int_equal(h.list.n, 0);
    assert_string_equal(err.file, "app");
    assert_string_equal(err.format, "__llvm_prf_data");
    assert_string_equal(err.field, "records");
    assert_non_null(strstr(err.found, found));
    assert_true(*err.expected && *err.hint && err.offset >= sizeof(Elf64_Ehdr));
    pgk_hashes_free(&h);
}

static void damaged_records(void **state)
{
    (void)state;
    struct test_bytes data = records(LLVM_22);
    char whole[32], cut[32];
    snprintf(whole, sizeof whole, "%zu bytes", data.n);
    snprintf(cut, sizeof cut, "%zu bytes", data.n - 1);
    refused(&data, 7 * 8, data.n - 1, PGK_E_VERSION, cut);     /* no number of records */
    refused(&data, 7 * 8, data.n / 2, PGK_E_VERSION, "bytes"); /* one is not there */
    refused(&data, 6 * 8, 0, PGK_E_VERSION, whole);            /* a counter is not there */
    refused(&data, 0, 0, PGK_E_VERSION, whole);
    refused(&data, 7 * 8, UINT32_MAX, PGK_E_CORRUPT, "outside of the file");
    refused(&data, 7 * 8, UINT64_MAX, PGK_E_CORRUPT, "outside of the file");
    tb_free(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_of_each_layout),
        cmocka_unit_test(programs_without_records),
        cmocka_unit_test(damaged_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
