/* Counters as text: any bytes are read or refused with a message that names a place, and what is
 * read is written so that it reads the same again. */
#include "address_counts.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { SPAN = 1 << PGK_CODE_PAGE_BITS };

/* Instructions of two bytes, one in eight of them a call. */
static struct pgk_code *some_code(void)
{
    static uint8_t marks[SPAN], pages[1] = {1};
    static struct pgk_code code = {.span = SPAN, .marks = marks, .pages = pages};
    for (size_t i = 0; i < SPAN; i += 2)
        marks[i] = (uint8_t)(2 | (i % 16 ? PGK_INSN_OTHER : PGK_INSN_CALL) << PGK_CODE_KIND_SHIFT);
    return &code;
}

struct counts {
    struct pgk_counters counters;
    struct pgk_call_trie calls;
    struct pgk_named_counts named;
    struct pgk_sample *profile;
    struct pgk_address_counts raw;
};

static int read_counts(struct counts *c, const uint8_t *bytes, size_t size, struct pgk_err *err)
{
    struct pgk_source src = {.file = "fuzz", .format = "address counts"};
    if (pgk_sample_new(&c->profile, err))
        abort();
    c->raw = (struct pgk_address_counts){.counters = &c->counters,
                                         .calls = &c->calls,
                                         .named = &c->named,
                                         .profile = c->profile,
                                         .code = some_code()};
    int status = pgk_address_counts_read(&c->raw, bytes, size, &src, err);
    if (status)
        return status;
    pgk_pairs_sort(&c->counters.ranges);
    pgk_pairs_sort(&c->counters.branches);
    pgk_call_counts_sort(&c->calls.ranges);
    pgk_call_counts_sort(&c->calls.branches);
    if (!c->named.ranges.list.n && !c->named.branches.list.n)
        c->raw.named = NULL;
    return 0;
}

static struct pgk_sink *print(const struct counts *c, const uint8_t **text, size_t *size)
{
    struct pgk_sink *out;
    if (pgk_sink_memory(&out, NULL) || pgk_address_counts_write(&c->raw, out, NULL))
        abort();
    *text = pgk_sink_data(out, size);
    return out;
}

static void release(struct counts *c)
{
    pgk_counters_free(&c->counters);
    pgk_call_trie_free(&c->calls);
    pgk_vec_free(&c->named.ranges.list);
    pgk_vec_free(&c->named.branches.list);
    pgk_sample_close(&c->profile);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct counts first = {0}, second = {0};
    struct pgk_err err = {0};
    pgk_address_counts_sniff(bytes, size);
    int status = read_counts(&first, bytes, size, &err);
    if (status && (err.status != status || !*err.field))
        abort();
    if (!status) {
        const uint8_t *text, *again;
        size_t n, n_again;
        struct pgk_sink *out = print(&first, &text, &n), *out_again = NULL;
        if (n) { /* a context without counts is not written */
            if (read_counts(&second, text, n, &err))
                abort();
            out_again = print(&second, &again, &n_again);
            if (n != n_again || memcmp(text, again, n))
                abort();
        }
        pgk_sink_drop(&out);
        pgk_sink_drop(&out_again);
    }
    release(&first);
    release(&second);
    return 0;
}
