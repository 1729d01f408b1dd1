#include "build_index.h"
#include "function_name.h"
#include "hash.h"
#include "pgk_test.h"

static void names_without_what_compilers_add(void **state)
{
    (void)state;
    static const char *const same[] = {
        "parse", "parse.llvm.123456", "parse.part.0", "parse.constprop.0", "parse.isra.0.cold",
        "parse.constprop.1.isra.0", "parse.cold", "parse.cold.1", "parse.lto_priv.0",
        "parse.__uniq.252421818133265408705984179079699146064",
        "parse.__uniq.29.llvm.77",
    };
    static const char *const other[] = {"parse.", ".cold", "parse.llvm.", "parse.x.0", ""};
    for (size_t i = 0; i < PGK_COUNTOF(same); i++)
        assert_int_equal(pgk_build_plain_len(same[i], strlen(same[i])), strlen("parse"));
    for (size_t i = 0; i < PGK_COUNTOF(other); i++)
        assert_int_equal(pgk_build_plain_len(other[i], strlen(other[i])), strlen(other[i]));
    assert_int_equal(pgk_build_guid("parse.isra.0", 12), pgk_heap_guid("parse", 5));
}

static void statics_of_c_with_unique_names(void **state)
{
    (void)state;
    static const char unique[] = "_ZL5parsei.__uniq.29", cut[] = "_ZL99parse.__uniq.29",
                      cpp[] = "_ZL5parsei";
    assert_int_equal(pgk_build_bare_guid(unique, strlen(unique)), pgk_md5_low64("parse", 5));
    assert_int_equal(pgk_build_bare_guid(cut, strlen(cut)), pgk_build_guid(cut, strlen(cut)));
    assert_int_equal(pgk_build_bare_guid(cpp, strlen(cpp)), pgk_md5_low64(cpp, strlen(cpp)));
}

static void one_name_for_all_bodies_of_a_constructor(void **state)
{
    (void)state;
    /* The second of each has the name that all have. */
    static const char *const bodies[][2] = {
        {"_ZN3mup7ParserXC1Ej", "_ZN3mup7ParserXC2Ej"},
        {"_ZN3mup7ParserXC4Ej", "_ZN3mup7ParserXC2Ej"},
        {"_ZN3BoxD1Ev", "_ZN3BoxD2Ev"},
        {"_ZN3BoxC1Ei.constprop.0", "_ZN3BoxC2Ei"},
        {"_ZN4ListIiLj3ELb1EEC5IS0_EERKT_", "_ZN4ListIiLj3ELb1EEC2IS0_EERKT_"},
        {"_ZNSt6vectorI4AC1EE3setC1Ev", "_ZNSt6vectorI4AC1EE3setC2Ev"},
    };
    /* Identifiers, a deleting destructor, and what is no nested name. */
    static const char *const as_they_are[] = {"_ZN4AC1E3getEv", "_ZN3BoxD0Ev", "_ZN3Box2C1Ev",
                                              "C1Ev", "_ZN99C1Ev", "_ZN", "_ZN3BoxC"};
    for (size_t i = 0; i < PGK_COUNTOF(bodies); i++)
        assert_int_equal(pgk_build_bare_guid(bodies[i][0], strlen(bodies[i][0])),
                         pgk_md5_low64(bodies[i][1], strlen(bodies[i][1])));
    for (size_t i = 0; i < PGK_COUNTOF(as_they_are); i++)
        assert_int_equal(pgk_build_bare_guid(as_they_are[i], strlen(as_they_are[i])),
                         pgk_md5_low64(as_they_are[i], strlen(as_they_are[i])));
}

/* gcc's debug information has no more of them than the identifier. */
static void identifiers_of_internal_functions(void **state)
{
    (void)state;
    static const char *const internal[][2] = {
        {"_ZN7leveldb12_GLOBAL__N_18PosixEnv8LockFileERKSs", "LockFile"},
        {"_ZNK12_GLOBAL__N_13Box3getEv", "get"},
        {"_ZN12_GLOBAL__N_13BoxC2Ei", "Box"},
        {"_ZL5parsei", "parse"},
        {"_ZL5parsei.part.0", "parse"},
        {"_ZN7leveldbL19DoWriteStringToFileEv", "DoWriteStringToFile"},
        {"_ZN1a9Benchmark4ReadEPN12_GLOBAL__N_15StateE", "Read"},
        {"_ZN12_GLOBAL__N_14ListIN1a1bELi3EXsr1c1dELb0EE4pushB5cxx11Ev", "push"},
    };
    static const char *const others[] = {
        "_ZN7leveldb6Status2OKEv", "_ZN12_GLOBAL__N_13BoxD2Ev", "_ZN12_GLOBAL__N_1E", "parse", "_Z",
        "_ZN12_GLOBAL__N_1", "_ZN12_GLOBAL__N_1I", "_ZNL", "", "_ZN",
    };
    for (size_t i = 0; i < PGK_COUNTOF(internal); i++)
        assert_int_equal(pgk_build_identifier_guid(internal[i][0], strlen(internal[i][0])),
                         pgk_md5_low64(internal[i][1], strlen(internal[i][1])));
    for (size_t i = 0; i < PGK_COUNTOF(others); i++)
        assert_int_equal(pgk_build_identifier_guid(others[i], strlen(others[i])), 0);
}

static void files_without_where_they_were_built(void **state)
{
    (void)state;
    assert_string_equal(pgk_build_file_tail("/home/a/app/src/book.c"), "src/book.c");
    assert_string_equal(pgk_build_file_tail("src/book.c"), "src/book.c");
    assert_string_equal(pgk_build_file_tail("book.c"), "book.c");
    assert_string_equal(pgk_build_file_tail(""), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_without_what_compilers_add),
        cmocka_unit_test(statics_of_c_with_unique_names),
        cmocka_unit_test(one_name_for_all_bodies_of_a_constructor),
        cmocka_unit_test(identifiers_of_internal_functions),
        cmocka_unit_test(files_without_where_they_were_built),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
