/* Counters of one binary as text. docs/formats/address-counts.md */
#include "address_counts.h"

#include "sample_spelling.h"

#include <inttypes.h>
#include <stdlib.h>

uint64_t pgk_address_counts_base(const struct pgk_elf *elf, enum pgk_gen_raw_base from)
{
    enum { PAGE = 4096 };
    size_t n;
    const struct pgk_segment *s = pgk_elf_segments(elf, &n);
    for (size_t i = 0; i < n; i++)
        if (from != PGK_GEN_RAW_NONE && (s[i].executable || from == PGK_GEN_RAW_LOADABLE))
            return s[i].vaddr & ~(uint64_t)(PAGE - 1);
    return 0;
}

/* ---- reading ---- */

struct reader {
    struct pgk_address_counts *into;
    const uint8_t *start, *at, *end;
    const struct pgk_source *src;
    struct pgk_err *err;
    uint64_t line_number;
    const uint8_t *line, *line_end; /* without blanks around it */
    bool named;                     /* contexts are of names */
    uint32_t node;                  /* of the context: in the tree of calls or the profile */
    uint64_t divisor;               /* of counts */
    const char *unfit_what;         /* NULL: all was fit */
    const uint8_t *unfit_line, *unfit_end;
    uint64_t unfit_number;
    pgk_addr_vec callers;
};

static bool next_line(struct reader *r)
{
    if (r->at == r->end)
        return false;
    const uint8_t *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->line = r->at;
    r->line_end = newline ? newline : r->end;
    r->at = newline ? newline + 1 : r->end;
    r->line_number++;
    while (r->line < r->line_end && (*r->line == ' ' || *r->line == '\t'))
        r->line++;
    while (r->line_end > r->line &&
           (r->line_end[-1] == ' ' || r->line_end[-1] == '\r' || r->line_end[-1] == '\t'))
        r->line_end--;
    return true;
}

static int reject(struct reader *r, const char *field, const char *expected)
{
    uint64_t off = r->src->base_off + (uint64_t)(r->line - r->start);
    size_t n = (size_t)(r->line_end - r->line);
    return pgk_fail(r->err, PGK_E_CORRUPT, .file = r->src->file, .format = r->src->format,
                    .offset = &off, .record = PGK_F("line %" PRIu64, r->line_number),
                    .field = field,
                    .found = n ? PGK_F("'%.*s'", (int)(n < 60 ? n : 60), (const char *)r->line)
                               : "an empty line",
                    .expected = expected,
                    .hint = "is the file damaged, or of another program? generate it again");
}

static int ended(struct reader *r, const char *field)
{
    uint64_t off = r->src->base_off + (uint64_t)(r->end - r->start);
    return pgk_fail(r->err, PGK_E_TRUNCATED, .file = r->src->file, .format = r->src->format,
                    .offset = &off, .record = PGK_F("line %" PRIu64, r->line_number + 1),
                    .field = field, .found = "the end of the file", .expected = "more lines",
                    .hint = "is the file cut short? generate it again");
}

static const uint8_t *take_decimal(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    const uint8_t *start = p;
    for (*value = 0; p < end && *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(*value, 10, value) ||
            __builtin_add_overflow(*value, (uint64_t)(*p - '0'), value))
            return NULL;
    return p == start ? NULL : p;
}

static const uint8_t *take_hex(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    const uint8_t *start = p;
    for (*value = 0; p < end; p++) {
        unsigned digit = *p >= '0' && *p <= '9'   ? *p - (unsigned)'0'
                         : *p >= 'a' && *p <= 'f' ? *p - (unsigned)'a' + 10
                                                  : 16;
        if (digit == 16)
            break;
        *value = *value << 4 | digit;
    }
    return p == start || p - start > 16 ? NULL : p;
}

/* FROM-TO:COUNT of a range, FROM->TO:COUNT of a branch. */
static bool parse_pair(const uint8_t *p, const uint8_t *end, bool branch, struct pgk_pair *pair)
{
    if (!(p = take_hex(p, end, &pair->from)) || p == end || *p++ != '-' ||
        (branch && (p == end || *p++ != '>')) || !(p = take_hex(p, end, &pair->to)) || p == end ||
        *p++ != ':')
        return false;
    return take_decimal(p, end, &pair->count) == end;
}

/* Addresses of another program than the given one are mostly no instructions of this one. */
static bool is_place(struct reader *r, const struct pgk_pair *p, bool branch)
{
    struct pgk_code *code = r->into->code;
    return pgk_code_is(code, p->to) &&
           (pgk_code_is(code, p->from) || (branch && p->from == PGK_ADDR_EXTERNAL));
}

/* Makes a range one from instruction to instruction, by leaving off what is none. False if nothing
 * is left of it. */
static bool fit(struct reader *r, struct pgk_pair *range)
{
    struct pgk_code *code = r->into->code;
    if (range->from > range->to || !code->span)
        return false;
    const uint64_t last = code->base + code->span - 1;
    range->from = range->from < code->base ? code->base : range->from;
    range->to = range->to > last ? last : range->to;
    range->from = pgk_code_first(code, range->from, range->to);
    if (range->from == UINT64_MAX)
        return false;
    while (!pgk_code_is(code, range->to))
        range->to--;
    return true;
}

/* Whether a range can be is looked at once. */
static bool add_named(struct reader *r, const struct pgk_pair *p, bool branch)
{
    struct pgk_address_counts *c = r->into;
    struct pgk_call_count count = {
        .node = r->node, .from = p->from, .to = p->to, .count = p->count};
    if (branch)
        return pgk_vec_push(&c->named->branches.list, count);
    count.impossible = !pgk_code_is_straight(c->code, p->from, p->to);
    return pgk_vec_push(&c->named->ranges.list, count);
}

static bool add_pair(struct reader *r, const struct pgk_pair *p, bool branch)
{
    struct pgk_address_counts *c = r->into;
    if (!c->contexts)
        return pgk_pairs_add(branch ? &c->counters->branches : &c->counters->ranges, p->from, p->to,
                             p->count);
    if (r->named)
        return add_named(r, p, branch);
    return branch ? pgk_call_counts_add(&c->calls->branches, r->node, p->from, p->to, p->count)
                  : pgk_call_trie_add_range(c->calls, c->code, r->node, p->from, p->to, p->count);
}

/* A branch from elsewhere to elsewhere is none of the program: it has the scale. */
static bool is_scale(const struct pgk_pair *p, bool branch)
{
    return branch && p->from == PGK_ADDR_EXTERNAL && p->to == PGK_ADDR_EXTERNAL;
}

/* It is a branch, and those come after the ranges. 1: there is none. */
static uint64_t find_scale(struct reader r)
{
    struct pgk_pair p;
    while (next_line(&r)) {
        if (!parse_pair(r.line, r.line_end, true, &p))
            continue;
        p.from += r.into->base;
        p.to += r.into->base;
        if (is_scale(&p, true) && p.count)
            return p.count;
    }
    return 1;
}

/* To the nearest. What was counted is not forgotten. */
static uint64_t divide(uint64_t count, uint64_t by)
{
    const uint64_t whole = count / by + (count % by >= by - by / 2);
    return whole ? whole : count != 0;
}

/* The first one is kept for the message. */
static void note_unfit(struct reader *r, const char *what, uint64_t count)
{
    if (!r->unfit_what) {
        r->unfit_what = what;
        r->unfit_line = r->line;
        r->unfit_end = r->line_end;
        r->unfit_number = r->line_number;
    }
    r->into->unfit = pgk_add_saturated(r->into->unfit, count);
}

/* Some addresses are of code without sections, or of broken samples. */
static int check_fit(struct reader *r)
{
    const struct pgk_address_counts *c = r->into;
    if (!r->unfit_what || c->any_ranges ||
        (double)c->unfit < PGK_GEN_UNFIT_PERCENT / 100.0 * (double)c->seen)
        return 0;
    r->line = r->unfit_line;
    r->line_end = r->unfit_end;
    r->line_number = r->unfit_number;
    return reject(r, r->unfit_what, "addresses of instructions of the given program (-b)");
}

static int read_pairs(struct reader *r, bool branch)
{
    const char *what = branch ? "branch" : "range";
    uint64_t n;
    if (!next_line(r))
        return ended(r, branch ? "number of branches" : "number of ranges");
    if (take_decimal(r->line, r->line_end, &n) != r->line_end)
        return reject(r, branch ? "number of branches" : "number of ranges", "a decimal number");
    for (; n; n--) {
        struct pgk_pair p;
        if (!next_line(r))
            return ended(r, what);
        if (!parse_pair(r->line, r->line_end, branch, &p))
            return reject(r, what, branch ? "FROM->TO:COUNT, addresses in small hexadecimal digits"
                                          : "FIRST-LAST:COUNT, addresses in small hexadecimal "
                                            "digits");
        p.from += r->into->base;
        p.to += r->into->base;
        if (is_scale(&p, branch)) {
            r->into->scale = p.count;
            continue;
        }
        r->into->seen = pgk_add_saturated(r->into->seen, p.count);
        if (!is_place(r, &p, branch)) {
            note_unfit(r, what, p.count);
            if (branch || !r->into->any_ranges || !fit(r, &p))
                continue;
        }
        p.count = divide(p.count, r->divisor);
        if (!add_pair(r, &p, branch))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

/* 0x1 @ 0x2: calls, outermost first. */
static int read_calls(struct reader *r, const uint8_t *p, const uint8_t *end)
{
    const char *expected = "[ADDRESS @ ADDRESS ...]";
    uint64_t addr;
    r->callers.n = 0;
    while (p < end) {
        if (end - p < 3 || memcmp(p, "0x", 2) != 0 || !(p = take_hex(p + 2, end, &addr)))
            return reject(r, "context", expected);
        if (!pgk_vec_push(&r->callers, addr + r->into->base))
            return pgk_fail_nomem(r->err);
        if (p < end && (end - p < 4 || memcmp(p, " @ ", 3) != 0))
            return reject(r, "context", expected);
        p += p < end ? 3 : 0;
    }
    for (size_t i = 0; i < r->callers.n / 2; i++) {
        uint64_t other = r->callers.v[r->callers.n - 1 - i];
        r->callers.v[r->callers.n - 1 - i] = r->callers.v[i];
        r->callers.v[i] = other;
    }
    r->node = pgk_call_trie_find(r->into->calls, r->callers.v, r->callers.n);
    return r->node == PGK_INDEX_NONE ? pgk_fail_nomem(r->err) : 0;
}

static const uint8_t *find_last(const uint8_t *p, const uint8_t *end, char c)
{
    return p < end ? memrchr(p, c, (size_t)(end - p)) : NULL;
}

/* :LINE or :LINE.DISCRIMINATOR, from `p` to `end`. */
static bool parse_place(const uint8_t *p, const uint8_t *end, uint64_t *loc)
{
    uint64_t line, discriminator = 0;
    if (!(p = take_decimal(p + 1, end, &line)) || (p < end && *p != '.') ||
        (p < end && take_decimal(p + 1, end, &discriminator) != end) || line > UINT16_MAX ||
        discriminator > UINT32_MAX)
        return false;
    *loc = pgk_sample_loc((uint32_t)line, (uint32_t)discriminator);
    return true;
}

/* main:3 @ twice:1.2 @ leaf: functions and the lines of calls, outermost first. */
static int read_names(struct reader *r, const uint8_t *p, const uint8_t *end)
{
    struct pgk_sample *profile = r->into->profile;
    uint64_t loc = 0;
    unsigned depth = 0;
    r->node = 0;
    for (const uint8_t *next; p < end; p = next) {
        const uint8_t *at = memmem(p, (size_t)(end - p), " @ ", 3), *name_end = at ? at : end;
        uint64_t call = loc;
        next = at ? at + 3 : end;
        if (at && (!(name_end = find_last(p, at, ':')) || !parse_place(name_end, at, &loc)))
            return reject(r, "context", "[FUNCTION:LINE @ FUNCTION ...]");
        bool address = name_end - p > 1 && !memcmp(p, "0x", 2);
        if (name_end == p || address || (at && next == end) || depth++ == PGK_SAMPLE_MAX_DEPTH)
            return reject(r, "context", "functions with names, at most 1000");
        uint32_t name = pgk_sample_name(profile, (const char *)p, (size_t)(name_end - p));
        if (name)
            r->node = r->node ? pgk_sample_context(profile, r->node, call, name)
                              : pgk_sample_root(profile, name);
        if (!name || !r->node)
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static int read_context(struct reader *r)
{
    const uint8_t *p = r->line + 1, *end = r->line_end - 1;
    if (r->line_end - r->line < 2 || *end != ']')
        return reject(r, "context", "[CONTEXT]");
    return r->named ? read_names(r, p, end) : read_calls(r, p, end);
}

/* Decided by the first known context: contexts of names, unless it is an address. */
static bool has_names(const uint8_t *p, const uint8_t *end)
{
    for (; p && p < end; p = memchr(p, '[', (size_t)(end - p))) {
        p += *p == '[';
        if (p < end && *p != ']')
            return end - p < 2 || memcmp(p, "0x", 2) != 0;
    }
    return false;
}

static int read_all(struct reader *r)
{
    if (r->start < r->end && *r->start == '[') {
        r->into->contexts = true;
        r->named = has_names(r->start, r->end);
        while (next_line(r)) {
            if (r->line == r->line_end || *r->line != '[')
                return reject(r, "context", "[CONTEXT]");
            PGK_TRY(read_context(r));
            PGK_TRY(read_pairs(r, false));
            PGK_TRY(read_pairs(r, true));
        }
        return 0;
    }
    PGK_TRY(read_pairs(r, false));
    PGK_TRY(read_pairs(r, true));
    return next_line(r) ? reject(r, "end", "no more lines") : 0;
}

int pgk_address_counts_read(struct pgk_address_counts *into, const uint8_t *bytes, size_t size,
                          const struct pgk_source *src, struct pgk_err *err)
{
    struct reader r = {.into = into,
                       .start = bytes,
                       .at = bytes,
                       .end = bytes + size,
                       .src = src,
                       .err = err};
    into->contexts = false;
    into->scale = 0;
    r.divisor = into->as_seen ? find_scale(r) : 1;
    into->seen = into->unfit = 0;
    int status = read_all(&r);
    if (!status)
        status = check_fit(&r);
    pgk_vec_free(&r.callers);
    return status;
}

bool pgk_address_counts_sniff(const uint8_t *bytes, size_t size)
{
    struct reader r = {.start = bytes, .at = bytes, .end = bytes + size};
    struct pgk_pair pair;
    uint64_t n, more;
    if (!next_line(&r))
        return false;
    if (bytes[0] == '[')
        return r.line_end[-1] == ']' && next_line(&r) &&
               take_decimal(r.line, r.line_end, &n) == r.line_end;
    if (take_decimal(r.line, r.line_end, &n) != r.line_end || !next_line(&r))
        return false;
    return n ? parse_pair(r.line, r.line_end, false, &pair)
             : take_decimal(r.line, r.line_end, &more) == r.line_end;
}

/* ---- writing ---- */

static void write_pair(struct pgk_sink *out, uint64_t base, const char *indent, const char *arrow,
                       uint64_t from, uint64_t to, uint64_t count)
{
    pgk_sink_printf(out, "%s%" PRIx64 "%s%" PRIx64 ":%" PRIu64 "\n", indent, from - base, arrow,
                    to - base, count);
}

/* With the scale before them, if there is one. */
static void write_pairs(struct pgk_sink *out, uint64_t base, const char *indent, const char *arrow,
                        const struct pgk_pairs *pairs, uint64_t scale)
{
    pgk_sink_printf(out, "%s%zu\n", indent, pairs->list.n + (scale > 1));
    if (scale > 1)
        write_pair(out, base, indent, arrow, PGK_ADDR_EXTERNAL, PGK_ADDR_EXTERNAL, scale);
    for (size_t i = 0; i < pairs->list.n; i++)
        write_pair(out, base, indent, arrow, pairs->list.v[i].from, pairs->list.v[i].to,
                   pairs->list.v[i].count);
}

/* Counts of the nodes of one context. */
struct context {
    char *text;
    struct pgk_pairs ranges, branches;
};

struct writer {
    const struct pgk_address_counts *from;
    PGK_VEC(struct context) contexts;
    uint32_t *context_of; /* by node: number from 1 on */
    pgk_addr_vec calls;
};

static char *calls_text(struct writer *w, uint32_t node)
{
    enum { ADDRESS = 2 + 16 + 3 }; /* 0x, digits, " @ " */
    if (!pgk_call_trie_path(w->from->calls, node, &w->calls))
        return NULL;
    size_t n = pgk_context_calls(&w->from->limits, w->calls.v, w->calls.n);
    char *text = pgk_mem_alloc(n + 1, ADDRESS);
    char *at = text;
    for (size_t i = 0; text && i < n; i++)
        at += sprintf(at, "%s0x%" PRIx64, i ? " @ " : "", w->calls.v[i] - w->from->base);
    if (text)
        *at = 0;
    return text;
}

static char *names_text(struct writer *w, uint32_t node)
{
    struct pgk_line line = {0};
    pgk_sample_put_identity(w->from->profile, node, &line);
    pgk_line_byte(&line, 0);
    if (!line.failed)
        return (char *)line.bytes.v;
    pgk_line_free(&line);
    return NULL;
}

static int compare_contexts(const void *a, const void *b)
{
    const struct context *x = a, *y = b;
    return strcmp(x->text, y->text);
}

/* The context of a node, made on first use; NULL when out of memory. */
static struct context *need_context(struct writer *w, uint32_t node)
{
    if (!w->context_of[node]) {
        struct context c = {.text = w->from->named ? names_text(w, node) : calls_text(w, node)};
        if (!c.text || !pgk_vec_push(&w->contexts, c)) {
            pgk_mem_free(c.text);
            return NULL;
        }
        w->context_of[node] = (uint32_t)w->contexts.n;
    }
    return &w->contexts.v[w->context_of[node] - 1];
}

static bool add_counts(struct writer *w, const struct pgk_call_counts *counts, bool branches)
{
    for (size_t i = 0; i < counts->list.n; i++) {
        const struct pgk_call_count *c = &counts->list.v[i];
        struct context *into = need_context(w, c->node);
        if (!into || !pgk_pairs_add(branches ? &into->branches : &into->ranges, c->from, c->to,
                                    c->count))
            return false;
    }
    return true;
}

static bool list_contexts(struct writer *w)
{
    const struct pgk_address_counts *from = w->from;
    size_t nodes = from->named ? from->profile->nodes.n : from->calls->nodes.n;
    w->context_of = pgk_mem_zalloc(nodes + 1, sizeof *w->context_of);
    if (!w->context_of ||
        !add_counts(w, from->named ? &from->named->ranges : &from->calls->ranges, false) ||
        !add_counts(w, from->named ? &from->named->branches : &from->calls->branches, true))
        return false;
    if (w->contexts.n)
        qsort(w->contexts.v, w->contexts.n, sizeof *w->contexts.v, compare_contexts);
    return true;
}

static bool add_pairs(struct pgk_pairs *to, const struct pgk_pairs *from)
{
    for (size_t i = 0; i < from->list.n; i++)
        if (!pgk_pairs_add(to, from->list.v[i].from, from->list.v[i].to, from->list.v[i].count))
            return false;
    return true;
}

/* Nodes that differ in recursion only are one context. */
static bool write_contexts(struct writer *w, struct pgk_sink *out)
{
    uint64_t scale = w->from->scale;
    for (size_t i = 0, end; i < w->contexts.n; i = end) {
        struct context *c = &w->contexts.v[i];
        for (end = i + 1; end < w->contexts.n && !strcmp(w->contexts.v[end].text, c->text); end++)
            if (!add_pairs(&c->ranges, &w->contexts.v[end].ranges) ||
                !add_pairs(&c->branches, &w->contexts.v[end].branches))
                return false;
        pgk_pairs_sort(&c->ranges);
        pgk_pairs_sort(&c->branches);
        pgk_sink_printf(out, "[%s]\n", c->text);
        write_pairs(out, w->from->base, "  ", "-", &c->ranges, 0);
        write_pairs(out, w->from->base, "  ", "->", &c->branches, scale);
        scale = 0; /* once is enough */
    }
    return true;
}

int pgk_address_counts_write(const struct pgk_address_counts *from, struct pgk_sink *out,
                           struct pgk_err *err)
{
    struct writer w = {.from = from};
    bool ok = true;
    if (from->contexts) {
        ok = list_contexts(&w) && write_contexts(&w, out);
    } else {
        write_pairs(out, from->base, "", "-", &from->counters->ranges, 0);
        write_pairs(out, from->base, "", "->", &from->counters->branches, from->scale);
    }
    for (size_t i = 0; i < w.contexts.n; i++) {
        pgk_mem_free(w.contexts.v[i].text);
        pgk_pairs_free(&w.contexts.v[i].ranges);
        pgk_pairs_free(&w.contexts.v[i].branches);
    }
    pgk_vec_free(&w.contexts);
    pgk_mem_free(w.context_of);
    pgk_vec_free(&w.calls);
    return ok ? 0 : pgk_fail_nomem(err);
}
