/* Reader of .proftext. */
#include "instr_text.h"

#include "format_row.h"
#include "hash.h"

#include <ctype.h>
#include <inttypes.h>
#include <strings.h>

/* A line without its end; comments and empty lines are passed over. */
struct line {
    const char *s;
    size_t len;
    uint64_t off;
};

struct reader {
    struct pgk_instr_adder *a;
    struct pgk_source src;
    struct pgk_err *err;
    const char *start, *at, *end;
    uint64_t flags;
    struct pgk_value_data values;
    PGK_VEC(uint64_t) counts;
    PGK_VEC(uint8_t) bitmap;
    const char *function; /* for messages: the name's start in the text */
    size_t function_len;
};

static bool peek_line(const struct reader *r, struct line *line, const char **after)
{
    const char *at = r->at;
    while (at < r->end) {
        const char *stop = memchr(at, '\n', (size_t)(r->end - at));
        const char *next = stop ? stop + 1 : r->end;
        if (!stop)
            stop = r->end;
        if (stop > at && stop[-1] == '\r')
            stop--;
        if (stop > at && *at != '#') {
            *line = (struct line){at, (size_t)(stop - at), (uint64_t)(at - r->start)};
            *after = next;
            return true;
        }
        at = next;
    }
    return false;
}

static bool next_line(struct reader *r, struct line *line)
{
    return peek_line(r, line, &r->at);
}

/* ---- messages ---- */

static const char *record_text(const struct reader *r, char buf[64])
{
    size_t n = r->function_len < 50 ? r->function_len : 50;
    pgk_format(buf, 64, "function %.*s", (int)n, r->function ? r->function : "");
    return r->function ? buf : "header";
}

static int refuse(const struct reader *r, const struct line *line, const char *field,
                  const char *expected)
{
    char record[64];
    return pgk_fail(r->err, PGK_E_CORRUPT, .file = r->src.file, .format = r->src.format,
                    .offset = &(uint64_t){line->off}, .record = record_text(r, record),
                    .field = field,
                    .found = PGK_F("'%.*s'", (int)(line->len < 60 ? line->len : 60), line->s),
                    .expected = expected, .hint = "correct the line, or write the text again");
}

static int want_line(struct reader *r, struct line *line, const char *field)
{
    char record[64];
    if (next_line(r, line))
        return 0;
    return pgk_fail(r->err, PGK_E_TRUNCATED, .file = r->src.file, .format = r->src.format,
                    .offset = &(uint64_t){(uint64_t)(r->end - r->start)},
                    .record = record_text(r, record), .field = field,
                    .found = "the end of the text", .expected = "a further line",
                    .hint = "the text is cut short; write it again");
}

/* ---- numbers ---- */

/* Digits only; base 0: with the prefixes of C. */
static bool parse_u64(const char *s, size_t len, unsigned base, uint64_t *v)
{
    if (!base && len > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X')) {
        base = 16;
        s += 2;
        len -= 2;
    } else if (!base) {
        base = len > 1 && s[0] == '0' ? 8 : 10;
    }
    uint64_t n = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned c = (unsigned char)s[i], lower = c | 0x20,
                 digit = c >= '0' && c <= '9'           ? c - '0'
                         : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10
                                                        : 99;
        if (digit >= base || __builtin_mul_overflow(n, base, &n) ||
            __builtin_add_overflow(n, digit, &n))
            return false;
    }
    *v = n;
    return len > 0;
}

static int want_number(struct reader *r, const char *field, unsigned base, uint64_t *v)
{
    struct line line = {0};
    PGK_TRY(want_line(r, &line, field));
    return parse_u64(line.s, line.len, base, v) ? 0
                                                : refuse(r, &line, field, "a number below 2^64");
}

/* A number of lines that follow, at least two bytes each. */
static int want_count(struct reader *r, const char *field, uint64_t *v)
{
    struct line line = {0};
    PGK_TRY(want_line(r, &line, field));
    /* The last line may lack its end. */
    uint64_t most = ((uint64_t)(r->end - r->at) + 1) / 2;
    if (parse_u64(line.s, line.len, 10, v) && *v <= most)
        return 0;
    return refuse(r, &line, field,
                  PGK_F("a number up to %" PRIu64 ", the lines left at most", most));
}

/* ---- header ---- */

/* Functions of a trace are kept by the hashes of their names: they may come later in the text. */
static int read_trace(struct reader *r)
{
    struct pgk_instr *p = r->a->profile;
    uint64_t weight;
    struct line line = {0};
    PGK_TRY(want_number(r, "weight of the trace", 10, &weight));
    PGK_TRY(want_line(r, &line, "names of the trace"));
    r->counts.n = 0;
    for (size_t at = 0; at < line.len;) {
        const char *s = line.s + at, *comma = memchr(s, ',', line.len - at);
        size_t len = comma ? (size_t)(comma - s) : line.len - at;
        at += len + 1;
        while (len && (*s == ' ' || *s == '\t')) {
            s++;
            len--;
        }
        while (len && (s[len - 1] == ' ' || s[len - 1] == '\t'))
            len--;
        if (len && !pgk_vec_push(&r->counts, pgk_md5_low64(s, len)))
            return pgk_fail_nomem(r->err);
    }
    return pgk_instr_add_trace(p, pgk_count_add(0, weight, r->a->weight, UINT64_MAX), r->counts.v,
                               r->counts.n)
               ? 0
               : pgk_fail_nomem(r->err);
}

static int read_traces(struct reader *r)
{
    struct pgk_instr *p = r->a->profile;
    uint64_t n, stream;
    PGK_TRY(want_count(r, "number of traces", &n));
    PGK_TRY(want_number(r, "size of the stream of traces", 10, &stream));
    p->trace_stream = pgk_count_add(p->trace_stream, stream, 1, UINT64_MAX);
    while (n--)
        PGK_TRY(read_trace(r));
    return 0;
}

#define BIT(name) (UINT64_C(1) << PGK_INDEXED_##name)

static const struct {
    const char *word;
    uint64_t set, clear;
} words[] = {
    {"ir", BIT(IR), 0},
    {"fe", 0, BIT(IR)},
    {"csir", BIT(IR) | BIT(CONTEXT_SENSITIVE), 0},
    {"entry_first", BIT(ENTRY_FIRST), 0},
    {"not_entry_first", 0, BIT(ENTRY_FIRST)},
    {"instrument_loop_entries", BIT(LOOP_ENTRIES), 0},
    {"single_byte_coverage", BIT(BYTE_COVERAGE), 0},
    {"temporal_prof_traces", BIT(TEMPORAL), 0},
};

/* The word after the colon; PGK_COUNTOF(words) if unknown. */
static size_t find_word(const struct line *line)
{
    for (size_t i = 0; i < PGK_COUNTOF(words); i++)
        if (strlen(words[i].word) == line->len - 1 &&
            !strncasecmp(words[i].word, line->s + 1, line->len - 1))
            return i;
    return PGK_COUNTOF(words);
}

static int read_header(struct reader *r)
{
    struct line line = {0};
    const char *after;
    while (peek_line(r, &line, &after) && *line.s == ':') {
        r->at = after;
        size_t i = find_word(&line);
        if (i == PGK_COUNTOF(words))
            return refuse(r, &line, "header word",
                          ":ir, :fe, :csir, :entry_first, :not_entry_first, "
                          ":instrument_loop_entries, :single_byte_coverage or "
                          ":temporal_prof_traces");
        r->flags = (r->flags | words[i].set) & ~words[i].clear;
        if (words[i].set == BIT(TEMPORAL))
            PGK_TRY(read_traces(r));
    }
    return 0;
}

/* ---- functions ---- */

static int add_name(struct reader *r, struct pgk_instr_names *t, const char *s, size_t len,
                    uint64_t *ref, uint32_t *name)
{
    *ref = pgk_md5_low64(s, len);
    *name = pgk_names_add(t, &r->a->profile->arena, *ref, s, len);
    return *name == PGK_INDEX_NONE ? pgk_fail_nomem(r->err) : 0;
}

static int read_value(struct reader *r, enum pgk_value_kind kind)
{
    struct pgk_instr *p = r->a->profile;
    struct line line = {0};
    struct pgk_instr_value v = {0};
    PGK_TRY(want_line(r, &line, "value"));
    const char *colon = memrchr(line.s, ':', line.len);
    size_t len = colon ? (size_t)(colon - line.s) : 0;
    if (!len || !parse_u64(colon + 1, line.len - len - 1, 10, &v.count) ||
        (kind == PGK_VALUE_SIZE && !parse_u64(line.s, len, 10, &v.value)))
        return refuse(r, &line, "value",
                      kind == PGK_VALUE_SIZE ? "SIZE:COUNT, two numbers"
                                              : "NAME:COUNT, with a name that is not empty");
    if (kind != PGK_VALUE_SIZE &&
        !(len == strlen(PGK_EXTERNAL_SYMBOL) && !memcmp(line.s, PGK_EXTERNAL_SYMBOL, len))) {
        uint32_t name;
        PGK_TRY(add_name(r, kind == PGK_VALUE_VTABLE ? &p->vtables : &p->names, line.s, len,
                         &v.value, &name));
    }
    return pgk_vec_push(&r->values.kind[kind].values, v) ? 0 : pgk_fail_nomem(r->err);
}

static int read_kind(struct reader *r)
{
    struct line line = {0};
    uint64_t kind, sites, n;
    PGK_TRY(want_line(r, &line, "value kind"));
    if (!parse_u64(line.s, line.len, 10, &kind) || kind >= PGK_VALUE_KINDS ||
        r->values.kind[kind].counts.n)
        return refuse(r, &line, "value kind", "0, 1 or 2, each once");
    PGK_TRY(want_count(r, "number of value sites", &sites));
    while (sites--) {
        PGK_TRY(want_count(r, "number of values", &n));
        if (!pgk_vec_push(&r->values.kind[kind].counts, (uint32_t)n))
            return pgk_fail_nomem(r->err);
        while (n--)
            PGK_TRY(read_value(r, (enum pgk_value_kind)kind));
    }
    return 0;
}

/* Value data follow if the next line is a number; otherwise another function follows. */
static int read_values(struct reader *r, bool *any)
{
    struct line line = {0};
    const char *after;
    uint64_t kinds;
    pgk_value_data_clear(&r->values);
    *any = peek_line(r, &line, &after) && parse_u64(line.s, line.len, 10, &kinds);
    if (!*any)
        return 0;
    r->at = after;
    if (!kinds || kinds > PGK_VALUE_KINDS)
        return refuse(r, &line, "number of value kinds", "1 to 3");
    while (kinds--)
        PGK_TRY(read_kind(r));
    return 0;
}

/* The text after the `$`, without the blanks around it, which people write and LLVM's reader
 * trims. */
static struct line bitmap_size(const struct line *line)
{
    struct line text = {line->s + 1, line->len - 1, line->off};
    while (text.len && isspace((unsigned char)*text.s)) {
        text.s++;
        text.len--;
    }
    while (text.len && isspace((unsigned char)text.s[text.len - 1]))
        text.len--;
    return text;
}

static int read_bitmap(struct reader *r)
{
    struct line line = {0};
    const char *after;
    uint64_t n, byte;
    r->bitmap.n = 0;
    if (!peek_line(r, &line, &after) || *line.s != '$')
        return 0;
    r->at = after;
    struct line text = bitmap_size(&line);
    if (!parse_u64(text.s, text.len, 0, &n))
        return refuse(r, &line, "number of bitmap bytes", "$ and a number");
    while (n--) {
        PGK_TRY(want_line(r, &line, "bitmap byte"));
        if (!parse_u64(line.s, line.len, 0, &byte) || byte > UINT8_MAX)
            return refuse(r, &line, "bitmap byte", "0 to 0xff");
        if (!pgk_vec_push(&r->bitmap, (uint8_t)byte))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

static int read_function(struct reader *r, const struct line *first)
{
    struct pgk_instr_record out = {0};
    struct line line = {0};
    uint64_t ref = 0, n = 0, v = 0;
    bool any_values;
    r->function = first->s;
    r->function_len = first->len;
    PGK_TRY(want_number(r, "function hash", 0, &out.hash));
    line = (struct line){.off = (uint64_t)(r->at - r->start), .s = r->at};
    PGK_TRY(want_count(r, "number of counters", &n));
    if (!n)
        return refuse(r, &line, "number of counters", "1 or more");
    r->counts.n = 0;
    for (uint64_t i = 0; i < n; i++) {
        PGK_TRY(want_number(r, "counter", 10, &v));
        if (!pgk_vec_push(&r->counts, v))
            return pgk_fail_nomem(r->err);
    }
    PGK_TRY(read_bitmap(r));
    PGK_TRY(read_values(r, &any_values));
    PGK_TRY(add_name(r, &r->a->profile->names, first->s, first->len, &ref, &out.name));
    out.counts = r->counts.v;
    out.n_counts = n;
    out.bitmap = r->bitmap.v;
    out.n_bitmap = r->bitmap.n;
    out.values = any_values ? &r->values : NULL;
    return pgk_instr_add(r->a, &out, r->err);
}

static int read_text(struct reader *r)
{
    struct line line = {0};
    bool noted = false;
    PGK_TRY(read_header(r));
    while (next_line(r, &line)) {
        if (!noted)
            PGK_TRY(pgk_instr_note_flags(r->a, r->flags, r->src.format, r->err));
        noted = true;
        PGK_TRY(read_function(r, &line));
    }
    return 0;
}

int pgk_instr_text_read(struct pgk_instr_adder *a, const uint8_t *bytes, size_t size,
                        const struct pgk_source *src, struct pgk_err *err)
{
    struct reader r = {.a = a, .src = *src, .err = err, .start = (const char *)bytes};
    r.at = r.start;
    r.end = r.start + size;
    int status = read_text(&r);
    pgk_value_data_free(&r.values);
    pgk_vec_free(&r.counts);
    pgk_vec_free(&r.bitmap);
    return status;
}

bool pgk_instr_text_sniff(const uint8_t *bytes, size_t size)
{
    struct reader r = {
        .start = (const char *)bytes, .at = (const char *)bytes, .end = (const char *)bytes + size};
    struct line line = {0};
    uint64_t number;
    if (!next_line(&r, &line))
        return false;
    if (*line.s == ':')
        return find_word(&line) < PGK_COUNTOF(words);
    for (size_t i = 0; i < line.len; i++)
        if ((uint8_t)line.s[i] < ' ' && line.s[i] != '\t')
            return false;
    return next_line(&r, &line) && parse_u64(line.s, line.len, 0, &number) &&
           next_line(&r, &line) && parse_u64(line.s, line.len, 10, &number);
}

/* ---- among the formats ---- */

static int read(struct pgk_instr_adder *adder, const struct pgk_file_bytes *file,
                struct pgk_file_info *info, struct pgk_err *err)
{
    (void)info;
    return pgk_instr_text_read(adder, file->bytes, file->size, file->src, err);
}

static int write(const struct pgk_instr *profile, uint32_t version, struct pgk_sink *out,
                 struct pgk_err *err)
{
    (void)version;
    return pgk_instr_text_write(profile, out, err);
}

static int loss(const struct pgk_instr *profile, uint32_t version, struct pgk_instr_loss *loss,
                struct pgk_err *err)
{
    (void)version, (void)err;
    loss->uniform_functions = pgk_instr_text_uniform(profile);
    loss->binary_ids = profile->binary_ids.n;
    return 0;
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    (void)info;
    pgk_info_add(text, "LLVM 14 to " PGK_LLVM_NOW_TEXT);
}

const struct pgk_format_row pgk_format_instr_text = {
    .format = {.name = "text counters",
               .kind = PGK_KIND_INSTR,
               .reads = "of LLVM 14 to " PGK_LLVM_NOW_TEXT,
               .writes = "of LLVM 14 to " PGK_LLVM_NOW_TEXT,
               .made_by = "llvm-profdata, pgokit",
               .page = "instr-text.md"},
    .sniff = pgk_instr_text_sniff,
    .read_instr = read,
    .instr_writer = {.form = PGK_INSTR_TEXT, .name = "text", .write = write, .loss = loss},
    .readers = readers,
};
