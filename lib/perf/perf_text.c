/* Reading what `perf script` and `perf report -D` print. docs/formats/perf-text.md
 *
 * A line is, by the first of these that fits: blank, a count of the sample that follows, branches
 * (after a call chain in the lines before, or after an address of their own), an address of a call
 * chain, or a sentence about a PERF_RECORD. Addresses of the file are read once, byte by byte. */
#include "perf_text.h"

#include "vec.h"

#include <inttypes.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

struct text {
    const uint8_t *at, *end;
    struct pgk_source src;
    const struct pgk_perf_handler *handler;
    struct pgk_perf_info *info;
    struct pgk_err *err;
    uint64_t line;  /* number, from 1 */
    uint64_t count; /* of the sample that follows */
    bool is_dump;   /* of perf report -D, which prints much more than we want */
    PGK_VEC(uint64_t) chain;
    PGK_VEC(struct pgk_perf_branch) branches;
};

/* Value + 1 of a hexadecimal digit; 0: none. */
static const uint8_t hex_digits[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static bool is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static const uint8_t *end_of_line(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *newline = memchr(at, '\n', (size_t)(end - at));
    return newline ? newline : end;
}

static const uint8_t *skip_blanks(const uint8_t *p, const uint8_t *end)
{
    while (p < end && is_blank(*p))
        p++;
    return p;
}

enum { MOST_DIGITS = 16 };

/* The digits at `p`, at most 16 of them; NULL if there is none or there are more. */
static const uint8_t *take_hex(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    const uint8_t *start = p;
    uint64_t v = 0;
    for (uint8_t digit; p < end && (digit = hex_digits[*p]) != 0; p++)
        v = v << 4 | (digit - 1u);
    *value = v;
    return p == start || p - start > MOST_DIGITS ? NULL : p;
}

static const uint8_t *take_0x(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    return end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x' ? take_hex(p + 2, end, value) : NULL;
}

static const uint8_t *take_decimal(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    const uint8_t *start = p;
    uint64_t v = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        v = v * 10 + (uint64_t)(*p - '0');
    *value = v;
    return p == start || p - start > 19 ? NULL : p;
}

static const uint8_t *take_pid(const uint8_t *p, const uint8_t *end, int32_t *pid)
{
    uint64_t v;
    bool negative = p < end && *p == '-';
    p = take_decimal(p + negative, end, &v);
    *pid = negative ? PGK_PID_KERNEL : (int32_t)v;
    return p;
}

static const uint8_t *take_word(const uint8_t *p, const uint8_t *end, const char *word)
{
    size_t n = strlen(word);
    return p && (size_t)(end - p) >= n && !memcmp(p, word, n) ? p + n : NULL;
}

static void note_unreadable(struct text *t, const uint8_t *p, const uint8_t *end)
{
    struct pgk_perf_skipped *s = &t->info->unreadable;
    if (!s->n++) {
        s->first = t->line;
        snprintf(s->example, sizeof s->example, "%.*s", (int)(end - p < 79 ? end - p : 79),
                 (const char *)p);
    }
}

static int tell_sample(struct text *t, struct pgk_perf_sample *s)
{
    t->info->samples++;
    s->count = t->count;
    s->time = t->line;
    t->count = 1;
    t->chain.n = t->branches.n = 0;
    return t->handler->sample ? t->handler->sample(t->handler->ctx, s) : 0;
}

/* A sample of what was gathered: the call chain, or else the address of its own line. */
static int tell_gathered(struct text *t, uint32_t has, uint64_t ip)
{
    struct pgk_perf_sample s = {
        .has = has | PGK_PERF_HAS_IP | (t->chain.n ? PGK_PERF_HAS_CHAIN : 0),
        .pid = PGK_PID_UNKNOWN,
        .tid = PGK_PID_UNKNOWN,
        .cpu = UINT32_MAX,
        .period = 1,
        .ip = t->chain.n ? t->chain.v[0] : ip,
        .chain = t->chain.v,
        .n_chain = t->chain.n,
        .branches = t->branches.v,
        .n_branches = t->branches.n,
    };
    return tell_sample(t, &s);
}

/* Blanks, ends of lines and control characters end a word. */
static bool ends_word(uint8_t c)
{
    return c <= ' ';
}

/* Behind a word and what separates it from the next one; at the end of the line, at that. */
static const uint8_t *next_word(const uint8_t *p, const uint8_t *end)
{
    while (p < end && !ends_word(*p))
        p++;
    while (p < end && ends_word(*p) && *p != '\n')
        p++;
    return p;
}

/* FROM/TO and all up to a blank; NULL if it is something else. */
static const uint8_t *take_branch(const uint8_t *p, const uint8_t *end, struct pgk_perf_branch *b)
{
    p = take_0x(p, end, &b->from);
    p = p && p < end && *p == '/' ? take_0x(p + 1, end, &b->to) : NULL;
    return p && (p == end || *p == '/' || ends_word(*p)) ? next_word(p, end) : NULL;
}

/* Branches mostly look alike: 0x, lower-case digits, as many as in the one before, a slash, and the
 * same again; then some words between slashes and a blank or two. Such ones are taken without
 * looking for where they end. */
struct branch_shape {
    unsigned digits; /* 8 to 15; 0: not known */
    unsigned mask;   /* a bit for each */
    unsigned shift;  /* bits that sixteen digits have more */
};

static struct branch_shape shape_of(const uint8_t *p, const uint8_t *end)
{
    uint64_t value;
    const uint8_t *behind = take_0x(p, end, &value);
    unsigned n = behind ? (unsigned)(behind - p) - 2 : 0;
    return n >= 8 && n < MOST_DIGITS
               ? (struct branch_shape){n, (1u << n) - 1, 4 * (MOST_DIGITS - n)}
               : (struct branch_shape){0};
}

#ifdef __SSE2__
/* Values of sixteen digits 0-9a-f; above 15 for anything else. */
static inline __m128i digit_values(const uint8_t *p)
{
    const __m128i c = _mm_loadu_si128((const __m128i *)p);
    const __m128i up = _mm_add_epi8(c, _mm_set1_epi8((char)(0xff - '9'))); /* digits: the highest */
    const __m128i digit = _mm_sub_epi8(_mm_subs_epu8(up, _mm_set1_epi8(6)),
                                       _mm_set1_epi8((char)0xf0));
    const __m128i letter = _mm_adds_epu8(_mm_sub_epi8(c, _mm_set1_epi8('a')), _mm_set1_epi8(10));
    return _mm_min_epu8(digit, letter);
}

/* Two digits each to a number of sixteen bits. */
static inline __m128i join_digits(__m128i v)
{
    const __m128i digits = _mm_and_si128(v, _mm_set1_epi8(15));
    return _mm_srli_epi16(_mm_mullo_epi16(digits, _mm_set1_epi16(0x1001)), 8);
}

static inline uint32_t load_4(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* Where the next word starts, `p` being in one; NULL if that is not to be seen in sixteen bytes, or
 * a line ends in them. */
static inline const uint8_t *next_word_near(const uint8_t *p)
{
    const __m128i c = _mm_loadu_si128((const __m128i *)p);
    const __m128i end = _mm_cmpeq_epi8(_mm_min_epu8(c, _mm_set1_epi8(' ')), c);
    const __m128i line = _mm_cmpeq_epi8(c, _mm_set1_epi8('\n'));
    unsigned ends = (unsigned)_mm_movemask_epi8(end);
    unsigned at = ends ? (unsigned)__builtin_ctz(~ends & -ends) : 16; /* behind what ends one */
    return at < 16 && !_mm_movemask_epi8(line) ? p + at : NULL;
}

/* NULL if it looks otherwise. */
static inline const uint8_t *take_shaped(const uint8_t *p, const uint8_t *end,
                                         const struct branch_shape *shape,
                                         struct pgk_perf_branch *b)
{
    enum { LONGEST = 2 * MOST_DIGITS + 5 + 16 };
    const uint8_t *to = p + shape->digits + 5, *behind = to + shape->digits;
    __builtin_prefetch(p + 1024);
    if (PGK_UNLIKELY(!shape->digits || end - p < LONGEST))
        return NULL;
    const __m128i v = digit_values(p + 2), w = digit_values(to);
    const __m128i above_15 = _mm_adds_epu8(_mm_max_epu8(v, w), _mm_set1_epi8(127 - 15));
    const __m128i bytes = _mm_packus_epi16(join_digits(v), join_digits(w));
    unsigned wrong = (unsigned)_mm_movemask_epi8(above_15) & shape->mask;
    wrong |= (load_4(p) & 0xffff) ^ ('0' | 'x' << 8);
    wrong |= (load_4(to - 3) & 0xffffff) ^ ('/' | '0' << 8 | 'x' << 16);
    wrong |= (unsigned)*behind ^ '/';
    if (PGK_UNLIKELY(wrong))
        return NULL;
    const __m128i high = _mm_srli_si128(bytes, 8);
    b->from = __builtin_bswap64((uint64_t)_mm_cvtsi128_si64(bytes)) >> shape->shift;
    b->to = __builtin_bswap64((uint64_t)_mm_cvtsi128_si64(high)) >> shape->shift;
    const uint8_t *next = next_word_near(behind);
    return PGK_LIKELY(next) ? next : next_word(behind, end);
}
#else
static const uint8_t *take_shaped(const uint8_t *p, const uint8_t *end,
                                  const struct branch_shape *shape, struct pgk_perf_branch *b)
{
    (void)p, (void)end, (void)shape, (void)b;
    return NULL;
}
#endif

/* FROM/TO/... FROM/TO/... up to the end of the line, which is not looked for before. */
static int read_branches(struct text *t, const uint8_t *p, uint64_t ip)
{
    const uint8_t *line = p, *end = t->end;
    const struct branch_shape shape = shape_of(p, end);
    while (p < end && *p != '\n') {
        struct pgk_perf_branch b = {0};
        const uint8_t *next = take_shaped(p, end, &shape, &b);
        if (PGK_UNLIKELY(!next) && !(next = take_branch(p, end, &b))) {
            p = end_of_line(p, end);
            note_unreadable(t, line, p);
            break;
        }
        if (PGK_UNLIKELY(!pgk_vec_push(&t->branches, b)))
            return pgk_fail_nomem(t->err);
        p = next;
    }
    t->at = p < end ? p + 1 : end;
    return tell_gathered(t, PGK_PERF_HAS_BRANCHES, ip);
}

static bool starts_branches(const uint8_t *p, const uint8_t *end)
{
    uint64_t from;
    p = take_0x(p, end, &from);
    return p && p < end && *p == '/';
}

/* PERF_RECORD_MMAP2 1/1: [0x1000(0x2000) @ 0x3000 08:01 77 0]: r-xp /opt/a
 * `p` is behind the name of the record. */
static int read_mapping(struct text *t, const uint8_t *p, const uint8_t *end)
{
    const uint8_t *line = p;
    struct pgk_perf_mapping m = {.time = t->line};
    uint64_t tid, build_id_byte;
    p = take_pid(p, end, &m.pid);
    p = take_word(p, end, "/");
    p = p ? take_decimal(p, end, &tid) : NULL;
    p = take_word(p, end, ": [");
    p = p ? take_0x(p, end, &m.start) : NULL;
    p = take_word(p, end, "(");
    p = p ? take_0x(p, end, &m.size) : NULL;
    p = take_word(p, end, ") @ ");
    if (p) {
        const uint8_t *offset = take_0x(p, end, &m.file_offset);
        p = offset ? offset : take_decimal(p, end, &m.file_offset);
    }
    if (p && take_word(p, end, " <")) {
        const uint8_t *id = p + 2;
        while (m.build_id_size < PGK_BUILD_ID_MAX && end - id > 2 &&
               take_hex(id, id + 2, &build_id_byte) == id + 2) {
            m.build_id[m.build_id_size++] = (uint8_t)build_id_byte;
            id += 2;
        }
    }
    while (p && !take_word(p, end, "]: "))
        p = p < end ? p + 1 : NULL;
    if (!p) {
        note_unreadable(t, line, end);
        return 0;
    }
    p += strlen("]: ");
    for (; p < end && !is_blank(*p); p++)
        m.prot |= *p == 'r'   ? PGK_PROT_READ
                  : *p == 'w' ? PGK_PROT_WRITE
                  : *p == 'x' ? PGK_PROT_EXEC
                              : 0;
    p = skip_blanks(p, end);
    m.path = (const char *)p;
    m.path_len = (size_t)(end - p);
    t->info->mappings++;
    return t->handler->mapping ? t->handler->mapping(t->handler->ctx, &m) : 0;
}

/* PERF_RECORD_SAMPLE(IP, 0x4002): 23884/23884: 0x563bcba8c19c period: 233 addr: 0x563bcba8ed28 */
static int read_dumped_sample(struct text *t, const uint8_t *p, const uint8_t *end)
{
    uint64_t misc, tid;
    struct pgk_perf_sample s = {.has = PGK_PERF_HAS_IP, .cpu = UINT32_MAX};
    t->is_dump = true;
    while (p < end && *p != ',')
        p++;
    p = take_word(p, end, ", ");
    p = p ? take_0x(p, end, &misc) : NULL;
    p = take_word(p, end, "): ");
    p = p ? take_pid(p, end, &s.pid) : NULL;
    p = take_word(p, end, "/");
    p = p ? take_decimal(p, end, &tid) : NULL;
    p = take_word(p, end, ": ");
    p = p ? take_0x(p, end, &s.ip) : NULL;
    p = take_word(p, end, " period: ");
    p = p ? take_decimal(p, end, &s.period) : NULL;
    p = take_word(p, end, " addr: ");
    if (!p)
        return 0; /* a kernel's address of 0, for instance */
    s.mode = (enum pgk_perf_mode)(misc & 7);
    s.tid = (int32_t)tid;
    if (take_0x(p, end, &s.addr) && s.addr)
        s.has |= PGK_PERF_HAS_ADDR;
    return tell_sample(t, &s);
}

/* PERF_RECORD_FORK(2:2):(1:1) */
static int read_fork_or_exit(struct text *t, const uint8_t *p, const uint8_t *end,
                             enum pgk_perf_task_kind kind)
{
    struct pgk_perf_task task = {.kind = kind, .time = t->line};
    p = take_pid(p, end, &task.pid);
    p = take_word(p, end, ":");
    p = p ? take_pid(p, end, &task.tid) : NULL;
    p = take_word(p, end, "):(");
    if (!p || !take_pid(p, end, &task.parent))
        return 0;
    t->info->tasks++;
    return t->handler->task ? t->handler->task(t->handler->ctx, &task) : 0;
}

/* PERF_RECORD_COMM exec: name:2/2 */
static int read_name(struct text *t, const uint8_t *p, const uint8_t *end)
{
    struct pgk_perf_task task = {.kind = PGK_PERF_NAME, .time = t->line};
    const uint8_t *name = take_word(p, end, " exec: ");
    if (name)
        task.kind = PGK_PERF_EXEC;
    else if (!(name = take_word(p, end, ": ")))
        return 0;
    const uint8_t *colon = memrchr(name, ':', (size_t)(end - name)); /* names may have some, too */
    const uint8_t *ids = colon ? take_pid(colon + 1, end, &task.pid) : NULL;
    ids = take_word(ids, end, "/");
    if (!ids || !take_pid(ids, end, &task.tid))
        return 0;
    task.name = (const char *)name;
    task.name_len = (size_t)(colon - name);
    t->info->tasks++;
    return t->handler->task ? t->handler->task(t->handler->ctx, &task) : 0;
}

static int read_record(struct text *t, const uint8_t *line, const uint8_t *end)
{
    static const char keyword[] = "PERF_RECORD_";
    const uint8_t *p = memmem(line, (size_t)(end - line), keyword, strlen(keyword)), *q;
    if (!p) {
        if (!t->is_dump)
            note_unreadable(t, line, end);
        return 0;
    }
    p += strlen(keyword);
    if ((q = take_word(p, end, "MMAP2 ")) || (q = take_word(p, end, "MMAP ")))
        return read_mapping(t, q, end);
    if ((q = take_word(p, end, "SAMPLE(")))
        return read_dumped_sample(t, q, end);
    if ((q = take_word(p, end, "FORK(")))
        return read_fork_or_exit(t, q, end, PGK_PERF_FORK);
    if ((q = take_word(p, end, "EXIT(")))
        return read_fork_or_exit(t, q, end, PGK_PERF_EXIT);
    if ((q = take_word(p, end, "COMM")))
        return read_name(t, q, end);
    return 0;
}

/* The end of a line is looked for only if there are no branches in it, which is rare. */
static int read_line(struct text *t)
{
    uint64_t value, count;
    const uint8_t *line = t->at, *p = skip_blanks(line, t->end);
    const uint8_t *behind = take_hex(p, t->end, &value);
    const uint8_t *next = behind ? skip_blanks(behind, t->end) : p;
    t->line++;
    if (starts_branches(p, t->end))
        return read_branches(t, p, 0);
    if (starts_branches(next, t->end))
        return read_branches(t, next, value);
    const uint8_t *end = end_of_line(p, t->end);
    t->at = end < t->end ? end + 1 : end;
    while (end > line && (end[-1] == '\r' || is_blank(end[-1])))
        end--;
    if (p >= end) /* a call chain without branches ends here */
        return t->chain.n ? tell_gathered(t, 0, 0) : 0;
    if (p == line && take_decimal(p, end, &count) == end) {
        t->count = count;
        return 0;
    }
    if (!behind || (behind < end && !is_blank(*behind)) || p == line ||
        (next < end && memmem(next, (size_t)(end - next), "PERF_RECORD_", 12)))
        return read_record(t, line, end);
    if (*line != '\t') /* what perf prints without a call chain */
        return next >= end ? tell_gathered(t, 0, value) : read_record(t, line, end);
    return pgk_vec_push(&t->chain, value) ? 0 : pgk_fail_nomem(t->err);
}

int pgk_perf_text_read(struct pgk_filemap *map, const struct pgk_source *src,
                       const struct pgk_perf_handler *handler, struct pgk_perf_info *info,
                       struct pgk_err *err)
{
    struct text t = {.at = map->bytes,
                     .end = map->bytes + map->size,
                     .src = *src,
                     .handler = handler,
                     .info = info,
                     .err = err,
                     .count = 1};
    static const struct pgk_perf_event event = {.name = "", .pmu = ""};
    const uint8_t *released = t.at;
    int status = 0;
    *info = (struct pgk_perf_info){
        .form = "text of perf", .cpu = "", .bytes = map->size, .events = &event, .n_events = 1};
    while (!status && t.at < t.end) {
        status = read_line(&t);
        if (PGK_UNLIKELY((size_t)(t.at - released) >= PGK_PERF_RELEASE_BYTES)) {
            pgk_filemap_done(map, (size_t)(released - map->bytes), (size_t)(t.at - map->bytes));
            released = t.at;
        }
    }
    if (!status && t.chain.n)
        status = tell_gathered(&t, 0, 0);
    pgk_vec_free(&t.chain);
    pgk_vec_free(&t.branches);
    return status;
}

bool pgk_perf_text_sniff(const uint8_t *bytes, size_t size)
{
    enum { LOOK_AT = 1 << 16 };
    const uint8_t *end = bytes + (size < LOOK_AT ? size : LOOK_AT);
    while (bytes < end) {
        const uint8_t *line_end = end_of_line(bytes, end), *p = skip_blanks(bytes, line_end);
        uint64_t ip;
        if (memmem(bytes, (size_t)(line_end - bytes), "PERF_RECORD_", 12) ||
            starts_branches(p, line_end))
            return true;
        bool indented = p > bytes;
        p = take_hex(p, line_end, &ip);
        if (p && starts_branches(skip_blanks(p, line_end), line_end))
            return true;
        if (indented && p == line_end && p)
            return true;
        bytes = line_end < end ? line_end + 1 : end;
    }
    return false;
}
