/* What the unit tests of sample profiles share: profiles from text and back, in memory. */
#ifndef PGK_SAMPLE_CASES_H
#define PGK_SAMPLE_CASES_H

#include "pgk_test.h"

#include "sample_gcc.h"
#include "sample_text.h"

static const struct pgk_source case_source = {.file = "t.prof", .format = "sample profile"};

/* A plain profile with everything that one can hold, as LLVM prints it but for the vtables of
 * line 9, which it prints twice. */
static const char CASE_PLAIN[] =
    "main:184019:7\n"
    " 4: 534\n"
    " 4.2: 534\n"
    " 5: vtables _ZTV1C:1 \n"
    " 9: 2064 _Z3bari:1471 _Z3fooi:631\n"
    " 9: vtables _ZTV1A:100 _ZTV1B:200 \n"
    " 10: inline1:1000\n"
    "  1: 1000\n"
    "  2: deep:10\n"
    "   1: 10 _Z3fooi:10\n"
    "  2: vtables _ZTV1A:3 \n"
    "_Z3bari:20301:1437\n"
    " 1: 1437\n"
    "_Z3fooi:7711:610\n"
    " 1: 610\n";
static const char CASE_CONTEXTS[] =
    "[main:3.1 @ foo]:5:2\n"
    " 1: 5\n"
    " !CFGChecksum: 99\n"
    " !Attributes: 2\n"
    "[main]:3:0\n"
    " 3.1: 3 foo:2\n"
    " !CFGChecksum: 7\n";
static const char CASE_PROBES[] =
    "main:100:1\n"
    " 1: 60\n"
    " 2: foo:40\n"
    "  1: 40\n"
    "  !CFGChecksum: 22\n"
    " !CFGChecksum: 11\n"
    "foo:7:7\n"
    " 1: 7\n"
    " !CFGChecksum: 22\n";

static inline int case_try_text(const char *text, size_t size, struct pgk_sample **p,
                                struct pgk_err *err)
{
    *p = NULL;
    *err = (struct pgk_err){0};
    int status = pgk_sample_new(p, err);
    if (!status)
        status = pgk_sample_text_read(*p, (const uint8_t *)text, size, &case_source, 1, err);
    return status;
}

static inline struct pgk_sample *case_read(const char *text)
{
    struct pgk_sample *p;
    struct pgk_err err;
    char printed[8192];
    if (case_try_text(text, strlen(text), &p, &err))
        fail_msg("%s", test_printed(printed, &err));
    return p;
}

/* The profile as text, to be freed. */
static inline char *case_text(struct pgk_sample *p)
{
    struct pgk_sink *out;
    size_t size;
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    assert_int_equal(pgk_sample_text_write(p, p->by_heat.n, false, true, out, NULL), 0);
    const uint8_t *bytes = pgk_sink_data(out, &size);
    char *text = malloc(size + 1);
    memcpy(text, bytes, size);
    text[size] = '\0';
    pgk_sink_drop(&out);
    return text;
}

/* Consumes the profile. */
static inline void case_expect(struct pgk_sample *p, const char *text)
{
    char *found = case_text(p);
    assert_string_equal(found, text);
    free(found);
    pgk_sample_close(&p);
}

/* For a release of gcc; 0: 15. */
static inline int case_gcc_write(const struct pgk_sample *p, unsigned release,
                                 struct pgk_sink *out)
{
    struct pgk_gcc_compiler compiler;
    struct pgk_gcc_changes changes;
    struct pgk_sample *adapted;
    assert_true(pgk_gcc_compiler(release ? release : PGK_GCC_DEFAULT, &compiler));
    assert_int_equal(pgk_gcc_adapt(&adapted, p, &compiler, &changes, NULL), 0);
    int status = pgk_sample_gcc_write(adapted, adapted->by_heat.n, &compiler, out, NULL);
    pgk_sample_close(&adapted);
    return status;
}

/* Bytes of the profile in an encoding, to be dropped with the sink. */
static inline struct pgk_sink *case_encode(const char *text,
                                           const struct pgk_sample_write_opts *opts)
{
    struct pgk_sink *out;
    struct pgk_sample *p = case_read(text);
    assert_int_equal(pgk_sample_finish(p, NULL), 0);
    assert_int_equal(pgk_sink_memory(&out, NULL), 0);
    int status = opts->encoding == PGK_SAMPLE_BINARY
                     ? pgk_sample_raw_write(p, p->by_heat.n, out, NULL)
                 : opts->encoding == PGK_SAMPLE_GCC
                     ? case_gcc_write(p, opts->gcc_release, out)
                     : pgk_sample_ext_write(p, p->by_heat.n, opts, out, NULL);
    assert_int_equal(status, 0);
    pgk_sample_close(&p);
    return out;
}

#endif
