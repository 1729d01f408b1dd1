/* Tests of lib/object/elf_file.c, with images made by hand. */
#include "../elf_image.h"

#include "elf_priv.h"
#include "machine.h"
#include "pgokit/log.h"

#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

static unsigned warnings;

static void count_warning(void *ctx, enum pgk_log_level level, const char *text)
{
    (void)ctx, (void)text;
    warnings += level == PGK_LOG_WARNING;
}

static int open_program(struct pgk_elf **elf, const struct test_bytes *b, struct pgk_err *err)
{
    memset(err, 0, sizeof *err);
    return pgk_elf_open_memory(elf, b->v, b->n, "image", PGK_ELF_PROGRAM, err);
}

static void refuse(const struct test_bytes *b, int status, const char *field)
{
    struct pgk_elf *elf = NULL;
    struct pgk_err err;
    assert_int_equal(open_program(&elf, b, &err), status);
    assert_null(elf);
    assert_int_equal(err.status, status);
    assert_string_equal(err.file, "image");
    assert_string_not_equal(err.found, "");
    if (field)
        assert_string_equal(err.field, field);
}

static void wrong_files_are_refused(void **state)
{
    (void)state;
    struct test_bytes good = test_elf(ET_EXEC, NULL, 0);
    struct pgk_elf *elf;
    struct pgk_err err;
    assert_int_equal(open_program(&elf, &good, &err), 0);
    pgk_elf_close(&elf);
    pgk_elf_close(&elf);

    refuse(&(struct test_bytes){(uint8_t[]){0}, 0, 0}, PGK_E_FORMAT, NULL);
    refuse(&(struct test_bytes){(uint8_t[]){"#!/bin/sh\n"}, 10, 0}, PGK_E_FORMAT, NULL);
    for (size_t n = 4; n < sizeof(Elf64_Ehdr); n += 7)
        assert_true(open_program(&elf, &(struct test_bytes){good.v, n, 0}, &err) < 0);
    static const struct {
        size_t at;
        uint8_t value;
    } changes[] = {{EI_CLASS, ELFCLASS32},
                   {EI_DATA, ELFDATA2MSB},
                   {offsetof(Elf64_Ehdr, e_machine), EM_386},
                   {offsetof(Elf64_Ehdr, e_type), ET_REL},
                   {offsetof(Elf64_Ehdr, e_type), ET_CORE}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        uint8_t old = good.v[changes[i].at];
        good.v[changes[i].at] = changes[i].value;
        refuse(&good, PGK_E_FORMAT, NULL);
        good.v[changes[i].at] = old;
    }
    tb_free(&good);
}

static void a_missing_file_names_itself(void **state)
{
    (void)state;
    struct pgk_elf *elf;
    struct pgk_err err = {0};
    assert_int_equal(pgk_elf_open(&elf, "/nowhere/prog", &err), PGK_E_IO);
    assert_string_equal(err.file, "/nowhere/prog");
}

static void objects_are_debug_files_only(void **state)
{
    (void)state;
    struct test_bytes b = test_elf(ET_REL, NULL, 0);
    struct pgk_elf *elf;
    struct pgk_err err = {0};
    refuse(&b, PGK_E_FORMAT, NULL);
    assert_int_equal(pgk_elf_open_memory(&elf, b.v, b.n, "x.dwo", PGK_ELF_DEBUG, &err), 0);
    pgk_elf_close(&elf);
    tb_free(&b);
}

static void a_cut_file_says_so(void **state)
{
    (void)state;
    static const uint8_t data[1000];
    struct test_section s = {.name = ".data", .bytes = data, .size = sizeof data};
    struct test_bytes b = test_elf(ET_EXEC, &s, 1);
    struct pgk_elf *elf;
    struct pgk_err err;
    b.n -= 10; /* inside the section headers, which are last */
    assert_true(open_program(&elf, &b, &err) < 0);
    assert_true(err.status == PGK_E_TRUNCATED || err.status == PGK_E_CORRUPT);
    tb_free(&b);
}

static void segments_and_build_id_are_found(void **state)
{
    (void)state;
    struct test_bytes note = test_build_id("0123456789abcdefghij", 20);
    struct test_section s = {
        .name = ".note.gnu.build-id", .type = SHT_NOTE, .bytes = note.v, .size = note.n};
    struct test_bytes b = test_elf(ET_DYN, &s, 1);
    struct pgk_elf *elf;
    struct pgk_err err;
    assert_int_equal(open_program(&elf, &b, &err), 0);
    assert_true(pgk_elf_is_pie(elf));
    assert_int_equal(pgk_elf_machine(elf)->number, EM_X86_64);
    assert_string_equal(pgk_elf_path(elf), "image");
    size_t n;
    const struct pgk_segment *segments = pgk_elf_segments(elf, &n);
    assert_int_equal(n, 1);
    assert_int_equal(segments->vaddr, TEST_CODE);
    assert_int_equal(segments->memsz, TEST_CODE_SIZE);
    assert_true(segments->executable);
    const uint8_t *id = pgk_elf_build_id(elf, &n);
    assert_int_equal(n, 20);
    assert_memory_equal(id, "0123456789abcdefghij", 20);
    pgk_elf_close(&elf);

    /* A note that is longer than its section is none. */
    uint32_t huge = 0xfffffff0;
    for (size_t at = 0; at < 8; at += 4) {
        memcpy(note.v + at, &huge, 4);
        struct test_bytes bad = test_elf(ET_DYN, &s, 1);
        assert_int_equal(open_program(&elf, &bad, &err), 0);
        assert_null(pgk_elf_build_id(elf, &n));
        assert_int_equal(n, 0);
        pgk_elf_close(&elf);
        tb_free(&bad);
    }
    tb_free(&b);
    tb_free(&note);
}

enum { PLAIN_SIZE = 5000 };

static void fill_plain(uint8_t plain[PLAIN_SIZE])
{
    for (size_t i = 0; i < PLAIN_SIZE; i++)
        plain[i] = (uint8_t)(i * i >> 5);
}

/* The contents of a compressed section: header and packed bytes. */
static struct test_bytes pack(uint32_t method, uint64_t claimed)
{
    uint8_t plain[PLAIN_SIZE], packed[PLAIN_SIZE + 1000];
    fill_plain(plain);
    uLongf size = sizeof packed;
    if (method == ELFCOMPRESS_ZLIB)
        assert_int_equal(compress(packed, &size, plain, sizeof plain), Z_OK);
    else
        size = ZSTD_compress(packed, sizeof packed, plain, sizeof plain, 3);
    struct test_bytes b = {0};
    tb_put(&b, &(Elf64_Chdr){.ch_type = method, .ch_size = claimed, .ch_addralign = 1},
           sizeof(Elf64_Chdr));
    tb_put(&b, packed, size);
    return b;
}

static void expect_section(const struct test_section *s, const char *name, bool good)
{
    uint8_t plain[PLAIN_SIZE];
    struct test_bytes b = test_elf(ET_EXEC, s, 1);
    struct pgk_elf *elf;
    struct pgk_err err;
    fill_plain(plain);
    assert_int_equal(open_program(&elf, &b, &err), 0);
    for (int again = 0; again < 2; again++) {
        size_t size = 1;
        const uint8_t *bytes = pgk_elf_section(elf, name, &size);
        if (good) {
            assert_int_equal(size, sizeof plain);
            assert_memory_equal(bytes, plain, sizeof plain);
        } else {
            assert_null(bytes);
            assert_int_equal(size, 0);
        }
    }
    pgk_elf_close(&elf);
    tb_free(&b);
}

static void compressed_sections_are_unpacked(void **state)
{
    (void)state;
    static const uint32_t methods[] = {ELFCOMPRESS_ZLIB, ELFCOMPRESS_ZSTD};
    for (size_t i = 0; i < 2; i++) {
        struct test_bytes p = pack(methods[i], PLAIN_SIZE);
        struct test_section s = {
            .name = ".debug_info", .flags = SHF_COMPRESSED, .bytes = p.v, .size = p.n};
        expect_section(&s, ".debug_info", true);
        expect_section(&s, ".debug_line", false);
        tb_free(&p);
    }
    struct test_bytes p = pack(ELFCOMPRESS_ZLIB, PLAIN_SIZE), old = {0};
    uint64_t size = __builtin_bswap64(PLAIN_SIZE);
    tb_put(&old, "ZLIB", 4);
    tb_put(&old, &size, 8);
    tb_put(&old, p.v + sizeof(Elf64_Chdr), p.n - sizeof(Elf64_Chdr));
    struct test_section s = {.name = ".zdebug_info", .bytes = old.v, .size = old.n};
    expect_section(&s, ".debug_info", true);
    tb_free(&p);
    tb_free(&old);
}

static void damaged_compression_gives_no_section_and_a_warning(void **state)
{
    (void)state;
    static const uint64_t claims[] = {0,        1,          PLAIN_SIZE - 1, PLAIN_SIZE + 1,
                                      1u << 20, 1ull << 32, 1ull << 60,     UINT64_MAX};
    pgk_log_set(count_warning, NULL);
    for (uint32_t method = ELFCOMPRESS_ZLIB; method <= ELFCOMPRESS_ZSTD; method++)
        for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
            struct test_bytes p = pack(method, claims[i]);
            struct test_section s = {
                .name = ".debug_info", .flags = SHF_COMPRESSED, .bytes = p.v, .size = p.n};
            warnings = 0;
            expect_section(&s, ".debug_info", false);
            if (claims[i])
                assert_int_equal(warnings, 1);
            tb_free(&p);
        }
    struct test_bytes p = pack(ELFCOMPRESS_ZLIB, PLAIN_SIZE);
    struct test_section s = {.name = ".debug_info", .flags = SHF_COMPRESSED, .bytes = p.v};
    for (s.size = 1; s.size < p.n; s.size += 97)
        expect_section(&s, ".debug_info", false);
    p.v[0] = 77; /* an unknown method */
    s.size = p.n;
    expect_section(&s, ".debug_info", false);
    pgk_log_set(NULL, NULL);
    tb_free(&p);
}

/* 256 MiB of zeros in 256 KiB: as profiles that do so they are refused, and memory is not taken. */
static void sections_that_unpack_to_gigabytes_are_left_out(void **state)
{
    (void)state;
    enum { HUGE_BYTES = 256 << 20 };
    uLongf n = compressBound(HUGE_BYTES);
    uint8_t *plain = calloc(HUGE_BYTES, 1), *packed = malloc(n);
    assert_true(plain && packed);
    assert_int_equal(compress2(packed, &n, plain, HUGE_BYTES, 1), Z_OK);
    const Elf64_Chdr head = {.ch_type = ELFCOMPRESS_ZLIB, .ch_size = HUGE_BYTES,
                             .ch_addralign = 1};
    struct test_bytes p = {0};
    tb_put(&p, &head, sizeof head);
    tb_put(&p, packed, n);
    struct test_section s = {
        .name = ".debug_info", .flags = SHF_COMPRESSED, .bytes = p.v, .size = p.n};
    pgk_log_set(count_warning, NULL);
    warnings = 0;
    expect_section(&s, ".debug_info", false);
    assert_int_equal(warnings, 1);
    pgk_log_set(NULL, NULL);
    tb_free(&p);
    free(plain);
    free(packed);
}

static void sections_without_bytes_are_none(void **state)
{
    (void)state;
    struct test_section s = {.name = ".debug_info", .type = SHT_NOBITS, .size = 100};
    expect_section(&s, ".debug_info", false);
}

static void add_symbol(struct test_bytes *b, unsigned name, unsigned info, unsigned section,
                       uint64_t value)
{
    Elf64_Sym s = {.st_name = name,
                   .st_info = (unsigned char)info,
                   .st_shndx = (Elf64_Half)section,
                   .st_value = value,
                   .st_size = 16};
    tb_put(b, &s, sizeof s);
}

static void symbols_are_sorted_by_address(void **state)
{
    (void)state;
    static const char names[] = "\0one\0two\0data\0gone";
    struct test_bytes t = {0};
    add_symbol(&t, 0, 0, 0, 0);
    add_symbol(&t, 5, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, 0x3000);
    add_symbol(&t, 1, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1, 0x2000);
    add_symbol(&t, 9, ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT), 1, 0x2800);
    add_symbol(&t, 14, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), SHN_UNDEF, 0);
    add_symbol(&t, 1, ELF64_ST_INFO(STB_LOCAL, STT_FILE), SHN_ABS, 0);
    add_symbol(&t, 100000, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, 0x1000);
    struct test_section s[] = {
        {.name = ".symtab", .type = SHT_SYMTAB, .bytes = t.v, .size = t.n, .link = 2},
        {.name = ".strtab", .type = SHT_STRTAB, .bytes = names, .size = sizeof names},
    };
    struct test_bytes b = test_elf(ET_EXEC, s, 2);
    struct pgk_elf *elf;
    struct pgk_err err;
    const struct pgk_elf_sym *syms;
    size_t n;
    assert_int_equal(open_program(&elf, &b, &err), 0);
    assert_int_equal(pgk_elf_symbols(elf, &syms, &n, &err), 0);
    assert_int_equal(n, 3);
    assert_string_equal(syms[0].name, "one");
    assert_true(syms[0].function && syms[0].local);
    assert_string_equal(syms[1].name, "data");
    assert_false(syms[1].function);
    assert_string_equal(syms[2].name, "two");
    assert_int_equal(syms[2].addr, 0x3000);
    assert_int_equal(syms[2].size, 16);
    assert_false(syms[2].local);
    pgk_elf_close(&elf);
    tb_free(&b);

    static const uint32_t links[] = {0, 1, 3, 77, UINT32_MAX};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        s[0].link = links[i];
        b = test_elf(ET_EXEC, s, 2);
        assert_int_equal(open_program(&elf, &b, &err), 0);
        if (pgk_elf_symbols(elf, &syms, &n, &err) == 0)
            for (size_t k = 0; k < n; k++)
                assert_true(strlen(syms[k].name) < 100);
        pgk_elf_close(&elf);
        tb_free(&b);
    }
    tb_free(&t);
}

static void build_ids_filled_with_zeros_are_equal(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        size_t a_size, b_size;
        bool equal;
    } cases[] = {
        {"12345678", "12345678\0\0\0\0\0\0\0\0\0\0\0", 8, 20, true},
        {"12345678", "12345678\0\0\0\0\0\0\0\0\0\0\1", 8, 20, false},
        {"12345678", "12345679\0\0\0\0\0\0\0\0\0\0\0", 8, 20, false},
        {"1234567", "12345678", 7, 8, false},
        {"12345678901234567890", "123456789012345678901234", 20, 24, true}, /* perf cut it */
        {"1234567890123456", "123456789012345678901234", 16, 24, false},
        {"", "\0\0\0\0", 0, 4, false},
        {"", "", 0, 0, false},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        const uint8_t *a = (const uint8_t *)cases[i].a, *b = (const uint8_t *)cases[i].b;
        assert_int_equal(pgk_build_ids_equal(a, cases[i].a_size, b, cases[i].b_size),
                         cases[i].equal);
        assert_int_equal(pgk_build_ids_equal(b, cases[i].b_size, a, cases[i].a_size),
                         cases[i].equal);
    }
}

/* Everything that can be asked of an image. */
static void use(const struct test_bytes *b)
{
    static const char *const names[] = {".debug_info", ".text", ".symtab", ""};
    struct pgk_elf *elf;
    const struct pgk_elf_sym *syms;
    size_t n;
    if (pgk_elf_open_memory(&elf, b->v, b->n, "image", PGK_ELF_DEBUG, NULL) < 0)
        return;
    (void)pgk_elf_segments(elf, &n);
    (void)pgk_elf_build_id(elf, &n);
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const uint8_t *bytes = pgk_elf_section(elf, names[i], &n);
        for (size_t k = 0; k < n; k++)
            sum += bytes[k];
    }
    if (pgk_elf_symbols(elf, &syms, &n, NULL) == 0)
        for (size_t i = 0; i < n; i++)
            sum += strlen(syms[i].name);
    (void)sum;
    pgk_elf_close(&elf);
}

static void hostile_images_do_no_harm(void **state)
{
    (void)state;
    static const char names[] = "\0one\0two";
    struct test_bytes t = {0}, note = test_build_id("0123456789", 10);
    struct test_bytes packed = pack(ELFCOMPRESS_ZLIB, PLAIN_SIZE);
    add_symbol(&t, 5, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 1, 0x3000);
    add_symbol(&t, 1, ELF64_ST_INFO(STB_LOCAL, STT_FUNC), 1, 0x2000);
    struct test_section s[] = {
        {.name = ".symtab", .type = SHT_SYMTAB, .bytes = t.v, .size = t.n, .link = 2},
        {.name = ".strtab", .type = SHT_STRTAB, .bytes = names, .size = sizeof names},
        {.name = ".note.gnu.build-id", .type = SHT_NOTE, .bytes = note.v, .size = note.n},
        {.name = ".debug_info", .flags = SHF_COMPRESSED, .bytes = packed.v, .size = packed.n},
    };
    struct test_bytes b = test_elf(ET_EXEC, s, 4);
    pgk_log_set(count_warning, NULL);
    for (size_t n = 0; n < b.n; n++) {
        uint8_t *copy = malloc(n ? n : 1); /* exact, so that a sanitizer sees every overrun */
        assert_non_null(copy);
        memcpy(copy, b.v, n);
        use(&(struct test_bytes){copy, n, 0});
        free(copy);
    }
    uint64_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        uint8_t *copy = malloc(b.n);
        assert_non_null(copy);
        memcpy(copy, b.v, b.n);
        for (uint64_t k = test_random(&seed) % 4; k < 5; k++) {
            /* Mostly the headers, at both ends. */
            size_t span = round % 3 ? 400 : b.n;
            size_t at = test_random(&seed) % span;
            if (round % 3 == 2)
                at = b.n - 1 - at;
            uint8_t value = (uint8_t)test_random(&seed);
            copy[at] = round & 1 ? value : value & 1 ? 0xff : 0;
        }
        use(&(struct test_bytes){copy, b.n, 0});
        free(copy);
    }
    pgk_log_set(NULL, NULL);
    tb_free(&b);
    tb_free(&t);
    tb_free(&note);
    tb_free(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(a_missing_file_names_itself),
        cmocka_unit_test(objects_are_debug_files_only),
        cmocka_unit_test(a_cut_file_says_so),
        cmocka_unit_test(segments_and_build_id_are_found),
        cmocka_unit_test(build_ids_filled_with_zeros_are_equal),
        cmocka_unit_test(compressed_sections_are_unpacked),
        cmocka_unit_test(damaged_compression_gives_no_section_and_a_warning),
        cmocka_unit_test(sections_that_unpack_to_gigabytes_are_left_out),
        cmocka_unit_test(sections_without_bytes_are_none),
        cmocka_unit_test(symbols_are_sorted_by_address),
        cmocka_unit_test(hostile_images_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
