/* Tests of lib/object/program.c, with images made by hand. Real programs are recorded in
 * tests/runtime/record.py. */
#include "../elf_image.h"

#include "pgokit/program.h"

#include <unistd.h>

static char path[TEST_PATH_SIZE];

/* Programs that are recorded are of the machine that records them. */
#ifdef __aarch64__
enum { OWN_MACHINE = EM_AARCH64, OTHER_MACHINE = EM_X86_64 };
#else
enum { OWN_MACHINE = EM_X86_64, OTHER_MACHINE = EM_AARCH64 };
#endif

static struct test_bytes own_elf(const struct test_section *sections, size_t n)
{
    struct test_bytes image = test_elf(ET_EXEC, sections, n);
    ((Elf64_Ehdr *)(void *)image.v)->e_machine = OWN_MACHINE;
    return image;
}

static int set_up(void **state)
{
    char folder[TEST_PATH_SIZE];
    (void)state;
    test_folder(folder);
    test_join(path, folder, "program");
    return 0;
}

static struct pgk_program inspect(const void *bytes, size_t size)
{
    struct pgk_program program = {.struct_size = sizeof program, .kind = 99};
    struct pgk_err err = {0};
    test_write_file(path, bytes, size);
    assert_int_equal(pgk_program_inspect(&program, path, &err), 0);
    return program;
}

static struct pgk_program inspect_sections(const struct test_section *sections, size_t n)
{
    struct test_bytes image = own_elf(sections, n);
    struct pgk_program program = inspect(image.v, image.n);
    tb_free(&image);
    return program;
}

/* A section with a text, its terminator included. */
#define TEXT(section, text)                                                            \
    {.name = (section), .type = SHT_PROGBITS, .bytes = (const uint8_t *)(text),        \
     .size = sizeof(text)}

static void static_and_dynamic(void **state)
{
    (void)state;
    const struct test_section dynamic[] = {TEXT(".interp", "/lib64/ld-linux-x86-64.so.2")};
    struct pgk_program program = inspect_sections(NULL, 0);
    assert_int_equal(program.kind, PGK_PROGRAM_STATIC);
    assert_int_equal(program.heap_runtime, PGK_HEAP_RUNTIME_NONE);
    assert_false(program.histogram_known);
    assert_int_equal(inspect_sections(dynamic, 1).kind, PGK_PROGRAM_DYNAMIC);
}

static void machine_code(void **state)
{
    (void)state;
    const struct test_section sections[] = {
        {.name = ".text", .flags = SHF_ALLOC | SHF_EXECINSTR, .bytes = "12345", .size = 5},
        {.name = ".text.hot", .flags = SHF_ALLOC | SHF_EXECINSTR, .bytes = "123", .size = 3},
        {.name = ".rodata", .flags = SHF_ALLOC, .bytes = "1234", .size = 4}};
    assert_int_equal(inspect_sections(sections, 3).code_bytes, 8);
    assert_int_equal(inspect_sections(NULL, 0).code_bytes, 0);
}

static void built_by_go(void **state)
{
    (void)state;
    const struct test_section go[] = {TEXT(".go.buildinfo", "x")};
    assert_true(inspect_sections(go, 1).go);
    assert_false(inspect_sections(NULL, 0).go);
}

static void runtime_linked_in(void **state)
{
    (void)state;
    static const char ours[] = "x\0PGOKIT_HEAP_OPTIONS\0MEMPROF_OPTIONS";
    const struct test_section sections[] = {
        TEXT(".rodata", ours), TEXT(".preinit_array", "1234567")};
    const struct test_section llvm[] = {
        TEXT(".rodata", "MEMPROF_OPTIONS"), TEXT(".preinit_array", "1234567")};
    const struct test_section other[] = {
        TEXT(".rodata", "NO_MEMPROF_OPTIONS_2"), TEXT(".preinit_array", "1234567")};
    assert_int_equal(inspect_sections(sections, 2).heap_runtime, PGK_HEAP_RUNTIME_PGOKIT);
    /* A program that knows the name, as pgokit itself, but starts nothing early. */
    assert_int_equal(inspect_sections(sections, 1).heap_runtime, PGK_HEAP_RUNTIME_NONE);
    assert_int_equal(inspect_sections(llvm, 2).heap_runtime, PGK_HEAP_RUNTIME_LLVM);
    assert_int_equal(inspect_sections(other, 2).heap_runtime, PGK_HEAP_RUNTIME_NONE);
}

static enum pgk_heap_runtime runtime_of_library(const char *strings, size_t size, uint64_t name)
{
    const Elf64_Dyn dynamic[] = {{.d_tag = DT_NEEDED, .d_un.d_val = name}, {.d_tag = DT_NULL}};
    const struct test_section sections[] = {
        {.name = ".dynamic", .type = SHT_PROGBITS, .bytes = (const uint8_t *)dynamic,
         .size = sizeof dynamic},
        {.name = ".dynstr", .type = SHT_PROGBITS, .bytes = (const uint8_t *)strings, .size = size},
    };
    return inspect_sections(sections, 2).heap_runtime;
}

static void runtime_as_library(void **state)
{
    (void)state;
    static const char strings[] = "\0libc.so.6\0libpgokit_heap.so\0libclang_rt.memprof-x86_64.so";
    static const char cut[] = "\0libpgokit_he";
    assert_int_equal(runtime_of_library(strings, sizeof strings, 1), PGK_HEAP_RUNTIME_NONE);
    assert_int_equal(runtime_of_library(strings, sizeof strings, 11), PGK_HEAP_RUNTIME_PGOKIT);
    assert_int_equal(runtime_of_library(strings, sizeof strings, 29),
                     PGK_HEAP_RUNTIME_LLVM_SHARED);
    assert_int_equal(runtime_of_library(strings, sizeof strings, 10000), PGK_HEAP_RUNTIME_NONE);
    assert_int_equal(runtime_of_library(strings, sizeof strings, UINT64_MAX),
                     PGK_HEAP_RUNTIME_NONE);
    assert_int_equal(runtime_of_library(cut, sizeof cut - 1, 1), PGK_HEAP_RUNTIME_NONE);
}

static void expect_interpreter(const char *text, size_t size, const char *interpreter)
{
    struct pgk_program program = inspect(text, size);
    assert_int_equal(program.kind, PGK_PROGRAM_SCRIPT);
    assert_string_equal(program.interpreter, interpreter);
}

static void scripts(void **state)
{
    (void)state;
    static char longer[1000];
    memset(longer, 'x', sizeof longer);
    memcpy(longer, "#!", 2);
    expect_interpreter("#!/bin/sh", 9, "/bin/sh");
    expect_interpreter("#! \t/usr/bin/env -S python3\nx", 30, "/usr/bin/env");
    expect_interpreter("#!", 2, "");
    expect_interpreter("#!a\0b", 5, "a");
    struct pgk_program program = inspect(longer, sizeof longer);
    assert_int_equal(strlen(program.interpreter), sizeof program.interpreter - 1);
}

static void refuse(const void *bytes, size_t size, int status, const char *field)
{
    struct pgk_program program = {.struct_size = sizeof program, .kind = 99};
    struct pgk_err err = {0};
    test_write_file(path, bytes, size);
    assert_int_equal(pgk_program_inspect(&program, path, &err), status);
    assert_int_equal(program.kind, 99);
    assert_string_equal(err.field, field);
    assert_string_not_equal(err.found, "");
}

static void others_are_refused(void **state)
{
    (void)state;
    struct pgk_program program = {.struct_size = sizeof program};
    struct pgk_err err = {0};
    struct test_bytes image = own_elf(NULL, 0);
    refuse("echo hello\n", 11, PGK_E_FORMAT, "magic");
    refuse("", 0, PGK_E_FORMAT, "magic");
    image.v[offsetof(Elf64_Ehdr, e_machine)] = OTHER_MACHINE;
    refuse(image.v, image.n, PGK_E_FORMAT, "machine");
    image.v[EI_CLASS] = ELFCLASS32;
    refuse(image.v, image.n, PGK_E_FORMAT, "class");
    tb_free(&image);
    unlink(path);
    assert_int_equal(pgk_program_inspect(&program, path, &err), PGK_E_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(static_and_dynamic),
        cmocka_unit_test(machine_code),
        cmocka_unit_test(built_by_go),
        cmocka_unit_test(runtime_linked_in),
        cmocka_unit_test(runtime_as_library),
        cmocka_unit_test(scripts),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
