/* Tests of lib/views/sample_sections.c: the table of an extensible binary as it is printed. */
#include "../sample_cases.h"

#include "pgokit/report.h"

static char folder[TEST_PATH_SIZE], path[TEST_PATH_SIZE];

static int make_folder(void **state)
{
    (void)state;
    test_folder(folder);
    test_join(path, folder, "t.prof");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    test_folder_remove(folder);
    return 0;
}

/* What is printed of the file, to be freed. */
static char *printed(void)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct pgk_err err = {0};
    char why[8192];
    if (pgk_sample_print_sections(path, out, &err))
        fail_msg("%s", test_printed(why, &err));
    fclose(out);
    return text;
}

static void write_encoded(const char *text, const struct pgk_sample_write_opts *opts)
{
    size_t size;
    struct pgk_sink *encoded = case_encode(text, opts);
    const uint8_t *bytes = pgk_sink_data(encoded, &size);
    test_write_file(path, bytes, size);
    pgk_sink_drop(&encoded);
}

/* The columns of the line of a section; fails if there is no such line. */
struct line {
    unsigned long off, bytes, unpacked;
    char flags[100];
};
static struct line line_of(const char *text, const char *section)
{
    struct line l = {0};
    char numbers[64] = "";
    const char *name = strstr(text, section), *start = name;
    assert_non_null(name);
    while (start[-1] != '\n')
        start--;
    snprintf(numbers, sizeof numbers, "%.*s", (int)(name - start), start);
    assert_true(sscanf(numbers, "%lu %lu %lu", &l.off, &l.bytes, &l.unpacked) >= 2);
    sscanf(name + strlen(section), " %99[^\n]", l.flags);
    return l;
}

static void every_byte_belongs_to_a_section_or_the_header(void **state)
{
    (void)state;
    write_encoded(CASE_PLAIN, &(struct pgk_sample_write_opts){
                                  .struct_size = sizeof(struct pgk_sample_write_opts)});
    char *text = printed();
    unsigned long sections, header;
    struct stat st;
    const char *sums = strstr(text, "  sections together ");
    assert_non_null(sums);
    assert_int_equal(sscanf(sums, " sections together %lu B, header %lu B", &sections, &header), 2);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(sections + header, st.st_size);
    struct line profiles = line_of(text, "  profiles");
    assert_in_range(profiles.bytes, 1, sections);
    assert_int_equal(profiles.unpacked, 0);
    free(text);
}

static void flags_are_spelled_out(void **state)
{
    (void)state;
    struct pgk_sample_write_opts opts = {.struct_size = sizeof opts, .md5 = true, .partial = true,
                                         .compress = true};
    write_encoded(CASE_CONTEXTS, &opts);
    char *text = printed();
    assert_string_equal(line_of(text, "summary").flags,
                        "compressed, partial profile, contexts, pre-inlined");
    assert_non_null(strstr(line_of(text, "name table").flags, "names are GUIDs, of fixed length"));
    assert_true(line_of(text, "summary").unpacked > 0);
    free(text);
}

/* The table begins behind magic, version and number of sections; bit 40 of the first flags. */
static void unknown_flags_are_shown_as_a_number(void **state)
{
    (void)state;
    write_encoded(CASE_PLAIN, &(struct pgk_sample_write_opts){
                                  .struct_size = sizeof(struct pgk_sample_write_opts)});
    size_t size;
    char *bytes = test_read_file(path, &size);
    size_t at = 0;
    for (int numbers = 0; numbers < 2; at++)
        numbers += !(bytes[at] & 0x80);
    at += 8 /* number of sections */ + 8 /* type of the first */;
    bytes[at + 5] = (char)(bytes[at + 5] | 1);
    test_write_file(path, bytes, size);
    free(bytes);
    char *text = printed();
    assert_non_null(strstr(text, "flags 0x10000000000 that pgokit does not know\n"));
    free(text);
}

static void what_has_no_sections_is_refused(void **state)
{
    (void)state;
    struct pgk_err err = {0};
    write_encoded(CASE_PLAIN, &(struct pgk_sample_write_opts){
                                  .struct_size = sizeof(struct pgk_sample_write_opts),
                                  .encoding = PGK_SAMPLE_BINARY});
    assert_int_equal(pgk_sample_print_sections(path, stdout, &err), PGK_E_ARG);
    assert_string_equal(err.field, "magic");
    assert_string_equal(err.file, path);
    err = (struct pgk_err){0};
    test_write_file(path, "", 0);
    assert_int_equal(pgk_sample_print_sections(path, stdout, &err), PGK_E_ARG);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(pgk_sample_print_sections(path, stdout, &err), PGK_E_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_belongs_to_a_section_or_the_header),
        cmocka_unit_test(flags_are_spelled_out),
        cmocka_unit_test(unknown_flags_are_shown_as_a_number),
        cmocka_unit_test(what_has_no_sections_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
