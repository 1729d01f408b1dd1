/* Text of perf script and perf report -D. */
#include "perf_text.h"

#include "pgk_test.h"

#include <inttypes.h>

/* What was read, as text. */
struct printed {
    char text[4096];
    size_t len;
};

#define PRINT(printed, ...)                                                  \
    ((printed)->len += (size_t)snprintf((printed)->text + (printed)->len,    \
                                        sizeof (printed)->text - (printed)->len, __VA_ARGS__))

static int print_mapping(void *ctx, const struct pgk_perf_mapping *m)
{
    PRINT((struct printed *)ctx, "map %d %" PRIx64 "+%" PRIx64 "@%" PRIx64 " %u %.*s id%u\n",
          m->pid,
         m->start, m->size, m->file_offset, m->prot, (int)m->path_len, m->path,
         m->build_id_size);
    return 0;
}

static int print_task(void *ctx, const struct pgk_perf_task *t)
{
    PRINT((struct printed *)ctx, "task %d %d/%d parent %d %.*s\n", t->kind, t->pid, t->tid,
          t->parent,
         (int)t->name_len, t->name ? t->name : "");
    return 0;
}

static int print_sample(void *ctx, const struct pgk_perf_sample *s)
{
    struct printed *printed = ctx;
    PRINT(printed, "sample x%" PRIu64 " ip %" PRIx64, s->count, s->ip);
    if (s->pid != PGK_PID_UNKNOWN && !(s->has & PGK_PERF_HAS_ADDR))
        PRINT(printed, " pid %d", s->pid);
    if (s->comm.n)
        PRINT(printed, " '%.*s'", (int)s->comm.n, s->comm.s);
    if (s->event_name.n)
        PRINT(printed, " %.*s", (int)s->event_name.n, s->event_name.s);
    if (s->has & PGK_PERF_HAS_ADDR)
        PRINT(printed, " addr %" PRIx64 " pid %d", s->addr, s->pid);
    for (size_t i = 0; i < s->n_chain; i++)
        PRINT(printed, " <%" PRIx64, s->chain[i]);
    for (size_t i = 0; i < s->n_branches; i++)
        PRINT(printed, " %" PRIx64 ">%" PRIx64, s->branches[i].from, s->branches[i].to);
    PRINT(printed, "\n");
    return 0;
}

static int print_trace(void *ctx, const struct pgk_perf_trace *t)
{
    PRINT((struct printed *)ctx, "trace");
    for (size_t i = 0; i < t->size; i++)
        PRINT((struct printed *)ctx, " %02x", t->bytes[i]);
    PRINT((struct printed *)ctx, "\n");
    return 0;
}

static int read_text(const char *text, struct printed *printed, struct pgk_perf_info *info,
                     struct pgk_err *err)
{
    struct pgk_source src = {.file = "t"};
    const struct pgk_perf_handler handler = {printed, print_mapping, print_task, print_sample,
                                             print_trace};
    /* a copy of its own, so that reading past the end is noticed */
    size_t size = strlen(text);
    uint8_t *bytes = malloc(size ? size : 1);
    assert_non_null(bytes);
    memcpy(bytes, text, size);
    struct pgk_filemap map = {.bytes = bytes, .size = size};
    int status = pgk_perf_text_read(&map, &src, &handler, info, err);
    free(bytes);
    return status;
}

static struct pgk_perf_info check(const char *text, const char *expected)
{
    struct printed printed = {.len = 0};
    struct pgk_perf_info info;
    assert_int_equal(read_text(text, &printed, &info, NULL), 0);
    assert_string_equal(printed.text, expected);
    return info;
}

static void refused(const char *text, const char *found, const char *hint)
{
    struct printed printed = {.len = 0};
    struct pgk_perf_info info;
    struct pgk_err err = {0};
    assert_int_equal(read_text(text, &printed, &info, &err), PGK_E_FORMAT);
    if (!strstr(err.found, found) || !strstr(err.hint, hint))
        fail_msg("found '%s', hint '%s'", err.found, err.hint);
}

static void test_branch_lines(void **state)
{
    (void)state;
    struct pgk_perf_info info =
        check("     558c4317a260 0x1a/0x2b/P/-/-/0/  0x3c/0x4d/P/-/-/0/COND/SPEC \n"
              " 0x5/0x6/M/-/-/0  0x7/0x8\r\n"
              "7\n"
              " 9 0xa/0xb/P/-/-/0\n"
              " 1 0xffffffffffffffff/0x0/-/-/-/0",
              "sample x1 ip 558c4317a260 1a>2b 3c>4d\n"
              "sample x1 ip 0 5>6 7>8\n"
              "sample x7 ip 9 a>b\n"
              "sample x1 ip 1 ffffffffffffffff>0\n");
    assert_int_equal(info.samples, 4);
    assert_int_equal(info.unreadable.n, 0);
}

/* Of the same length and not, with what only looks like a digit in every place. */
static void test_lengths_of_addresses(void **state)
{
    (void)state;
    char line[256], expected[256];
    const uint64_t digits = 0x1a2b3c4d5e6f7089;
    for (unsigned n = 1; n <= 16; n++) {
        for (unsigned m = 1; m <= 16; m++) {
            uint64_t a = digits >> 4 * (16 - n), b = digits >> 4 * (16 - m);
            snprintf(line, sizeof line,
                     " 1 0x%" PRIx64 "/0x%" PRIx64 "/P/-/-/0  0x%" PRIX64 "/0X%" PRIx64
                     "/P  0x%" PRIx64 "/0x%" PRIx64 "/P/-/-/17/",
                     a, b, b, a, a, a);
            snprintf(expected, sizeof expected,
                     "sample x1 ip 1 %" PRIx64 ">%" PRIx64 " %" PRIx64 ">%" PRIx64 " %" PRIx64
                     ">%" PRIx64 "\n",
                     a, b, b, a, a, a);
            check(line, expected);
        }
    }
    const char *good = " 1 0x5555557c1cc8/0x5555556392d9/P  0x5555557c1cc8/0x5555556392d9/P";
    const size_t from = strlen(" 1 0x5555557c1cc8/0x5555556392d9/P  0x");
    for (size_t i = from; i < strlen(good) - 2; i++) {
        const char *no = i < from + 12 ? "/:?@G`g\x10\x19\x80\xb1" : ":?@G`g\x80\xb1";
        for (; *no; no++) {
            snprintf(line, sizeof line, "%s%60s", good, "");
            line[i] = *no;
            check(line, "sample x1 ip 1 5555557c1cc8>5555556392d9\n");
        }
    }
}

/* What separates branches is looked for in two ways. */
static void test_tails_of_branches(void **state)
{
    (void)state;
    enum { MOST = 24 };
    char word[MOST + 1], blanks[MOST + 1], text[256];
    for (int n = 0; n < MOST; n++) {
        for (int m = 1; m < MOST; m++) {
            memset(word, 'x', sizeof word);
            memset(blanks, ' ', sizeof blanks);
            word[0] = '/';
            word[n] = blanks[m] = '\0';
            if (m > 2)
                blanks[m / 2] = "\t\r\x01\x1f"[n % 4];
            snprintf(text, sizeof text,
                     " 1 0x5555557c1cc8/0x5555556392d9%s%s0x12345678abcd/0x1/P%s\n%60s", word,
                     blanks, blanks, "");
            check(text, "sample x1 ip 1 5555557c1cc8>5555556392d9 12345678abcd>1\n");
            snprintf(text, sizeof text, " 1 0x5555557c1cc8/0x5555556392d9%s%s\n 2 0x3/0x4", word,
                     blanks);
            check(text, "sample x1 ip 1 5555557c1cc8>5555556392d9\nsample x1 ip 2 3>4\n");
        }
    }
}

static void test_broken_branches(void **state)
{
    (void)state;
    struct pgk_perf_info info = check(" 1 0x1/0x2/P 0x3/x/P 0x4/0x5/P\n"
                                      " 1 0x11112222333344445/0x2/P\n"
                                      "something else\n"
                                      " 2 0x6/0x7/P\n",
                                      "sample x1 ip 1 1>2\nsample x1 ip 2 6>7\n");
    assert_int_equal(info.unreadable.n, 3);
    assert_int_equal(info.unreadable.first, 1);
    assert_string_equal(info.unreadable.example, "0x1/0x2/P 0x3/x/P 0x4/0x5/P");
}

static void test_call_chains(void **state)
{
    (void)state;
    check("\n\t    401150\n\t    7f0000001000\n 0x1/0x2/P/-/-/0/\n\n"
          "5\n\t  a1 main+0x3 (/opt/a)\n\t  a2\n\n"
          "\t  b1\n",
          "sample x1 ip 401150 <401150 <7f0000001000 1>2\n"
          "sample x5 ip a1 <a1 <a2\n"
          "sample x1 ip b1 <b1\n");
}

/* Which may name branches. */
static void test_notes(void **state)
{
    (void)state;
    struct pgk_perf_info info = check("// 0x1/0x2/P is a call\n\n"
                                      "// 0x5/0x6/P\n\t  a1\n\t  a2\n 0x1/0x2/P\n",
                                      "sample x1 ip a1 <a1 <a2 1>2\n");
    assert_int_equal(info.unreadable.n, 0);
}

static void test_addresses_alone(void **state)
{
    (void)state;
    check("    401150\n    401151\n", "sample x1 ip 401150\nsample x1 ip 401151\n");
}

/* What handles a text may make blanks of its tabs. */
static void test_call_chains_of_blanks(void **state)
{
    (void)state;
    check("\n        401150\n        401160 main+0x3 (/opt/a)\n 0x1/0x2/P/-/-/0/\n\n",
          "sample x1 ip 401150 <401150 <401160 1>2\n");
    check("        a1\n        a2\n\n        b1\n        b2\n",
          "sample x1 ip a1 <a1 <a2\nsample x1 ip b1 <b1 <b2\n");
    check("        a1\n        a2\n", "sample x1 ip a1\nsample x1 ip a2\n");
    check("a 1 1.5: cycles: \n        a1\n        a2\n",
          "sample x1 ip a1 'a' cycles <a1 <a2\n");
}

static void test_inlined_frames(void **state)
{
    (void)state;
    check("\t  a1 f+0x1 (inlined)\n\t  a1 main+0x3 (/opt/a)\n\t  a2\n\n",
          "sample x1 ip a1 <a1 <a2\n");
}

#define MAP "PERF_RECORD_MMAP2 7/7: [0x555500001000(0x1000) @ 0x1000 08:01 7 0]: r-xp /opt/a\n"
#define MAPPED "map 7 555500001000+1000@1000 5 /opt/a id0\n"

/* By how perf prints them, whatever fields there are. */
static void test_heads(void **state)
{
    (void)state;
    static const struct { const char *line, *said; } cases[] = {
        {"         my prog     7     0.000001:       1000 branches:u:      555500001146 f+0x16 "
         "(/opt/a b)", " pid 7 'my prog' branches:u"},
        {"         my prog     7      555500001146", " pid 7 'my prog'"},
        {"            dead     7      555500001146 f", " pid 7 'dead'"},
        {"          beef 8     7      555500001146", " pid 7 'beef 8'"},
        {"         my prog     7/9         0.000001: cycles:      555500001146 f",
         " pid 7 'my prog' cycles"},
        {"         my prog     9     0.000001: cycles:      555500001146 f", " 'my prog' cycles"},
        {"lua  7 [001]     0.000001: cycles:      555500001146", " pid 7 'lua' cycles"},
        {"7      555500001146", " pid 7"},
        {"cycles:      555500001146", " cycles"},
        {"BR_TAKEN:pdir:    555500001146", " BR_TAKEN:pdir"},
        {"    0.000001:      555500001146", ""},
        {"      1000      555500001146", ""},
        {"     555500001146 operator new(unsigned long)", ""},
        {"cycles:      7ffe00001146      555500001146 f", " cycles"}, /* of data, of code */
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++) {
        char text[512], expected[512];
        snprintf(text, sizeof text, MAP "%s\n", cases[i].line);
        snprintf(expected, sizeof expected, MAPPED "sample x1 ip 555500001146%s\n",
                 cases[i].said);
        struct pgk_perf_info info = check(text, expected);
        assert_int_equal(info.unreadable.n, 0);
        assert_true(pgk_perf_text_sniff((const uint8_t *)cases[i].line, strlen(cases[i].line)));
        snprintf(text, sizeof text, MAP "%s 0x555500001001/0x2/P/-/-/0/ \n", cases[i].line);
        snprintf(expected, sizeof expected, MAPPED "sample x1 ip 555500001146%s 555500001001>2\n",
                 cases[i].said);
        check(text, expected);
    }
    check(MAP "lua  7     0.000001:       1000 cycles: \n\t  555500001146 f\n\t  555500001148\n\n"
              "7 \n\t  555500001147\n\n7\n\t 555500001149\n",
          MAPPED "sample x1 ip 555500001146 pid 7 'lua' cycles <555500001146 <555500001148\n"
                 "sample x1 ip 555500001147 pid 7 <555500001147\n"
                 "sample x7 ip 555500001149 <555500001149\n");
}

static void test_files_beside_branches(void **state)
{
    (void)state;
    check("     401150 (/opt/a b) 0x1(/opt/a b)/0x2(/x(y)/P/-)/P/-/-/0/  0x3(/opt/a)/0x4(/b)/M\n",
          "sample x1 ip 401150 1>2 3>4\n");
    check("     401150 (/opt/a b) 0x1 (/opt/a b)/0x2 (/x (y)/P/-/-/0//-  0x3 (/opt/a)/0x4 (/b)/M\n",
          "sample x1 ip 401150 1>2 3>4\n");
}

static void test_source_lines(void **state)
{
    (void)state;
    struct pgk_perf_info info = check("    401150 f\n  t.c:12\n    401151\n  a[1020]\n",
                                      "sample x1 ip 401150\nsample x1 ip 401151\n");
    assert_int_equal(info.unreadable.n, 0);
    assert_int_equal(info.lines, 4);
}

/* Branches without 0x are no names; the sample's own address counts. */
static void test_bare_branches(void **state)
{
    (void)state;
    check(" 1 0x1/0x2/P/-/-/1\n 401150 401150/0x40116f/M/-/-/1\n",
          "sample x1 ip 1 1>2\nsample x1 ip 401150\n");
}

static void test_other_forms_are_refused(void **state)
{
    (void)state;
    refused("     401150 main+0x1/f+0x2/P/-/-/0/ \n", "brstacksym", "-F ip,brstack");
    refused("     401150[unknown]/f+0x2/P/-/-/0/ \n", "brstacksym", "-F ip,brstack");
    refused("     401150\n\tmain:\n\t0000000000401150\tinsn: 75 f4 \t# PRED\n", "brstackinsn",
            "-F ip,brstack");
    refused("     401150\nonce upon\na time\n", "'once upon', and 2 of 3 lines", "perf script");
    refused(MAP "\t            1146\n\t            1147\n\n", "call chains", "perf.data itself");
    refused(MAP "            1146 0x1146/0x1150/P/-/-/0/\n", "samples", "brstack");
}

static void test_dump_of_a_trace(void **state)
{
    (void)state;
    check("0x228@a.data [0x30]: event: 71\n.\n. ... raw event: size 48 bytes\n"
          ".  0000:  47 00 00\n\n"
          "0 0 0x228 [0x30]: PERF_RECORD_AUXTRACE size: 0x68  offset: 0  ref: 0x1  idx: 0\n.\n"
          ". ... ARM SPE data: size 0xc bytes\n"
          ".  00000000:  b0 00 10 40 00 00 00 00 80                      PC 0x401000 el0 ns=1\n"
          ".  00000009:  49 00                                           LD GP-REG\n"
          ".  0000000b:  01                                              END\n\n"
          ". ... ARM SPE data: size 0x1 bytes\n"
          ".  00000000:  01                                              END\n",
          "trace b0 00 10 40 00 00 00 00 80 49 00 01\ntrace 01\n");
}

static void test_records(void **state)
{
    (void)state;
    struct pgk_perf_info info = check(
        "lua  5 PERF_RECORD_MMAP2 12/13: [0x55(0x1000) @ 0x2000 08:01 7 0]: r-xp /opt/a b\n"
        "PERF_RECORD_MMAP2 12/12: [0x66(0x10) @ 0 <89bf1122>]: rw-p /x]: y\r\n"
        "PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x12) @ 0xffffffff81000000]: x [kernel]_text\n"
        "PERF_RECORD_MMAP2 12/12: [55(0x10) @ 0 <89bf1122>]: rw-p /bad\n"
        "PERF_RECORD_COMM exec: my program: 2:12/12\n"
        "PERF_RECORD_FORK(13:14):(12:12)\n"
        "PERF_RECORD_EXIT(13:14):(12:12)\n"
        "PERF_RECORD_FINISHED_ROUND\n",
        "map 12 55+1000@2000 5 /opt/a b id0\n"
        "map 12 66+10@0 3 /x]: y id4\n"
        "map -2 ffffffff81000000+12@ffffffff81000000 4 [kernel]_text id0\n"
        "task 3 12/12 parent 0 my program: 2\n"
        "task 0 13/14 parent 12 \n"
        "task 1 13/14 parent 12 \n");
    assert_int_equal(info.unreadable.n, 1);
    assert_int_equal(info.unreadable.first, 4);
}

static void test_dump(void **state)
{
    (void)state;
    struct pgk_perf_info info = check(
        "1 0x87b0 [0x60]: PERF_RECORD_SAMPLE(IP, 0x4002): 23884/23885: 0x56 period: 233 "
        "addr: 0x78\n"
        ".  0000:  09 00 00 00\n"
        " . data_src: 0x68100142\n"
        "1 0x87b0 [0x60]: PERF_RECORD_SAMPLE(IP, 0x1): 1/1: 0xff period: 2 addr: 0\n",
        "sample x1 ip 56 addr 78 pid 23884\nsample x1 ip ff pid 1\n");
    assert_int_equal(info.unreadable.n, 0);
}

static void test_sniff(void **state)
{
    (void)state;
    static const struct { const char *text; bool is; } cases[] = {
        {"PERF_RECORD_MMAP2 1/1: [0x1(0x1) @ 0]: r /a\n", true},
        {" 0x1/0x2/P/-/-/0\n", true},
        {"# comment\n\n    401150 0x1/0x2/P\n", true},
        {"\t    401150\n", true},
        {"", false},
        {"main:100:1\n 1: 5\n", false},
        {"deadbeef\n", false},
        {"once upon a time\n", false},
    };
    for (size_t i = 0; i < PGK_COUNTOF(cases); i++)
        assert_int_equal(pgk_perf_text_sniff((const uint8_t *)cases[i].text,
                                             strlen(cases[i].text)),
                         cases[i].is);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_branch_lines),
        cmocka_unit_test(test_lengths_of_addresses),
        cmocka_unit_test(test_tails_of_branches),
        cmocka_unit_test(test_broken_branches),
        cmocka_unit_test(test_call_chains),
        cmocka_unit_test(test_notes),
        cmocka_unit_test(test_addresses_alone),
        cmocka_unit_test(test_call_chains_of_blanks),
        cmocka_unit_test(test_inlined_frames),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_files_beside_branches),
        cmocka_unit_test(test_source_lines),
        cmocka_unit_test(test_bare_branches),
        cmocka_unit_test(test_other_forms_are_refused),
        cmocka_unit_test(test_dump_of_a_trace),
        cmocka_unit_test(test_records),
        cmocka_unit_test(test_dump),
        cmocka_unit_test(test_sniff),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
