/* Reading what `perf script` and `perf report -D` print. docs/formats/perf-text.md
 *
 * A line is, by the first of these that fits: branches (after a call chain in the lines before, or
 * after an address of their own), blank, a count of the sample that follows, an address (of a call
 * chain or alone), a sentence about a PERF_RECORD, or the head of a sample. Addresses of branches
 * are read once, byte by byte. */
#include "perf_text_priv.h"

#include <inttypes.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

void pgk_text_unreadable(struct pgk_text_reader *t, const uint8_t *p, const uint8_t *end)
{
    struct pgk_perf_skipped *s = &t->info->unreadable;
    if (!s->n++) {
        s->first = t->line;
        snprintf(s->example, sizeof s->example, "%.*s", (int)(end - p < 79 ? end - p : 79),
                 (const char *)p);
    }
}

static void forget_head(struct pgk_text_reader *t)
{
    t->has_head = false;
    t->pid = t->tid = PGK_PID_UNKNOWN;
    t->comm = t->event = (struct pgk_perf_name){0};
}

int pgk_text_pass_sample(struct pgk_text_reader *t, struct pgk_perf_sample *s)
{
    t->info->samples++;
    s->count = t->count;
    s->time = t->line;
    t->count = 1;
    t->chain.n = t->branches.n = 0;
    forget_head(t);
    return t->handler->sample ? t->handler->sample(t->handler->ctx, s) : 0;
}

/* Offsets in files are printed where addresses belong: of call chains by perf 6, and of branches
 * if it is asked to. They lie below all code. */
static void look_for_offsets(struct pgk_text_reader *t, uint64_t ip)
{
    enum { LARGEST_FILE_BITS = 32 };
    uint64_t lowest = t->lowest_code >> LARGEST_FILE_BITS ? UINT64_C(1) << LARGEST_FILE_BITS
                                                          : t->lowest_code;
    bool below = t->chain.n == 0 && t->branches.n ? t->branches.v[0].from < lowest : ip < lowest;
    t->chains += t->chain.n != 0;
    t->chains_below_code += below && t->chain.n;
    t->below_code += below;
}

/* A sample of what was gathered: the call chain, or else the address of its own line. */
static int pass_gathered(struct pgk_text_reader *t, uint32_t has, uint64_t ip)
{
    struct pgk_perf_sample s = {
        .has = has | PGK_PERF_HAS_IP | (t->chain.n ? PGK_PERF_HAS_CHAIN : 0),
        .pid = t->pid,
        .tid = t->tid,
        .comm = t->comm,
        .event_name = t->event,
        .cpu = UINT32_MAX,
        .period = 1,
        .ip = t->chain.n ? t->chain.v[0] : ip,
        .chain = t->chain.v,
        .n_chain = t->chain.n,
        .branches = t->branches.v,
        .n_branches = t->branches.n,
    };
    look_for_offsets(t, s.ip);
    return pgk_text_pass_sample(t, &s);
}

/* Blanks, ends of lines and control characters end a word. */
static bool ends_word(uint8_t c)
{
    return c <= ' ';
}

/* Skips a word and the blanks after it, but not the newline. */
static const uint8_t *next_word(const uint8_t *p, const uint8_t *end)
{
    while (p < end && !ends_word(*p))
        p++;
    while (p < end && ends_word(*p) && *p != '\n')
        p++;
    return p;
}

/* Skips the name of a file, "(FILE)", if one follows an address; perf 6.12 and newer put a blank
 * before it. `next` is the text after it. */
static const uint8_t *skip_file(const uint8_t *p, const uint8_t *end, const char *next)
{
    if (p && end - p > 1 && p[0] == ' ' && p[1] == '(')
        p++;
    if (!p || p >= end || *p != '(')
        return p;
    size_t line = (size_t)(pgk_text_end_of_line(p, end) - p);
    const uint8_t *behind = memmem(p, line, next, strlen(next));
    return behind ? behind + 1 : NULL;
}

/* FROM/TO and all up to a blank; NULL if it is something else. */
static const uint8_t *take_branch(const uint8_t *p, const uint8_t *end, struct pgk_perf_branch *b)
{
    p = skip_file(pgk_text_0x(p, end, &b->from), end, ")/0x");
    p = p && p < end && *p == '/' ? pgk_text_0x(p + 1, end, &b->to) : NULL;
    p = skip_file(p, end, ")/");
    if (p && end - p >= 2 && p[0] == '/')
        b->flags = p[1] == 'M';
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
    const uint8_t *behind = pgk_text_0x(p, end, &value);
    unsigned n = behind ? (unsigned)(behind - p) - 2 : 0;
    return n >= 8 && n < PGK_TEXT_MOST_DIGITS
               ? (struct branch_shape){n, (1u << n) - 1, 4 * (PGK_TEXT_MOST_DIGITS - n)}
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

/* The start of the word after the one at `p`; NULL if it is not within sixteen bytes, or a line
 * ends in them. */
static inline const uint8_t *next_word_near(const uint8_t *p)
{
    const __m128i c = _mm_loadu_si128((const __m128i *)p);
    const __m128i end = _mm_cmpeq_epi8(_mm_min_epu8(c, _mm_set1_epi8(' ')), c);
    const __m128i line = _mm_cmpeq_epi8(c, _mm_set1_epi8('\n'));
    unsigned ends = (unsigned)_mm_movemask_epi8(end);
    unsigned at = ends ? (unsigned)__builtin_ctz(~ends & -ends) : 16; /* after its end */
    return at < 16 && !_mm_movemask_epi8(line) ? p + at : NULL;
}

/* NULL if it looks otherwise. */
static inline const uint8_t *take_shaped(const uint8_t *p, const uint8_t *end,
                                         const struct branch_shape *shape,
                                         struct pgk_perf_branch *b)
{
    enum { LONGEST = 2 * PGK_TEXT_MOST_DIGITS + 5 + 16 };
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
    b->flags = behind[1] == 'M';
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
static int read_branches(struct pgk_text_reader *t, const uint8_t *p, uint64_t ip)
{
    const uint8_t *line = p, *end = t->end;
    const struct branch_shape shape = shape_of(p, end);
    while (p < end && *p != '\n') {
        struct pgk_perf_branch b = {0};
        const uint8_t *next = take_shaped(p, end, &shape, &b);
        if (PGK_UNLIKELY(!next) && !(next = take_branch(p, end, &b))) {
            p = pgk_text_end_of_line(p, end);
            pgk_text_unreadable(t, line, p);
            t->partly_read += t->branches.n != 0;
            break;
        }
        if (PGK_UNLIKELY(!pgk_vec_push(&t->branches, b)))
            return pgk_fail_nomem(t->err);
        p = next;
    }
    t->at = p < end ? p + 1 : end;
    return pass_gathered(t, PGK_PERF_HAS_BRANCHES, ip);
}

/* ---- call chains ---- */

/* Skips an indented address that only words follow; NULL for another line. */
static const uint8_t *take_indented(const uint8_t *line, const uint8_t *end, uint64_t *value)
{
    const uint8_t *p = pgk_text_skip_blanks(line, end);
    const uint8_t *behind = p > line ? pgk_text_hex(p, end, value) : NULL;
    return behind && (behind == end || ends_word(*behind)) ? behind : NULL;
}

static const uint8_t *next_line(const uint8_t *line, const uint8_t *end)
{
    const uint8_t *p = pgk_text_end_of_line(line, end);
    return p < end ? p + 1 : end;
}

static bool is_blank_line(const uint8_t *line, const uint8_t *end)
{
    const uint8_t *p = pgk_text_skip_blanks(line, end);
    return p == end || *p == '\n' || *p == '\r';
}

/* Lines of addresses that are indented by blanks: a call chain, if there is a line of branches
 * below it or the head of a sample above it, or if such runs are set apart by blank lines; else
 * each is a sample. perf indents call chains by a tab, but not all that handles texts keeps it. */
static bool is_chain(struct pgk_text_reader *t, const uint8_t *line)
{
    enum { LONGEST = 1024 };
    const uint8_t *at = line, *end = t->end;
    uint64_t value;
    if (line < t->run_end)
        return t->run_is_chain;
    for (int n = 0; n < LONGEST && at < end && take_indented(at, end, &value); n++)
        if (pgk_text_starts_branches(pgk_text_skip_blanks(take_indented(at, end, &value), end),
                                     end))
            break;
        else
            at = next_line(at, end);
    bool over = at == end || is_blank_line(at, end), was_chain = t->run_is_chain;
    t->run_end = at;
    t->run_is_chain = t->has_head ||
                      pgk_text_starts_branches(pgk_text_skip_blanks(at, end), end) ||
                      (over && was_chain) ||
                      (over && take_indented(next_line(at, end), end, &value));
    return t->run_is_chain;
}

/* Code that was inlined has the address of what it was inlined into, which follows. */
static bool is_inlined(const uint8_t *p, const uint8_t *end)
{
    static const char mark[] = "(inlined)";
    return (size_t)(end - p) >= strlen(mark) && pgk_text_word(end - strlen(mark), end, mark);
}

/* `next` is what follows the address, if anything does. */
static int read_address(struct pgk_text_reader *t, const uint8_t *line, uint64_t value,
                        const uint8_t *next, const uint8_t *end)
{
    if (is_inlined(next, end))
        return 0;
    if (*line != '\t' && !is_chain(t, line))
        return pass_gathered(t, 0, value);
    return pgk_vec_push(&t->chain, value) ? 0 : pgk_fail_nomem(t->err);
}

/* ---- lines ---- */

static int refuse(struct pgk_text_reader *t, const struct pgk_text_form *form)
{
    uint64_t off = (uint64_t)(t->at - t->start);
    return pgk_fail(t->err, PGK_E_FORMAT, .file = t->src.file, .format = "text of perf",
                    .offset = &off, .record = PGK_F("line %" PRIu64, t->line), .field = "line",
                    .found = form->name, .expected = "addresses, as perf script -F ip,brstack "
                    "prints them", .hint = form->hint);
}

/* Where a sample's call chain or branches are on the lines that follow. */
static bool leads_to_sample(const uint8_t *next, const uint8_t *end)
{
    uint64_t value;
    return next < end && (is_blank_line(next, end) || take_indented(next, end, &value) ||
                          pgk_text_starts_branches(pgk_text_skip_blanks(next, end), end));
}

static int read_head(struct pgk_text_reader *t, const struct pgk_text_head *head)
{
    if (t->chain.n)
        PGK_TRY(pass_gathered(t, 0, 0));
    t->tid = head->tid;
    t->pid = head->pid != PGK_PID_UNKNOWN           ? head->pid
             : pgk_text_knows_process(t, head->tid) ? head->tid
                                                    : PGK_PID_UNKNOWN;
    t->comm = head->comm;
    t->event = head->event;
    t->has_head = true;
    if (head->branches)
        return read_branches(t, head->branches, head->ip);
    return head->has_ip ? pass_gathered(t, 0, head->ip) : 0;
}

/* "  FILE:LINE" or "  FILE[OFFSET]", below an address. */
static bool is_source_line(const uint8_t *line, const uint8_t *end)
{
    const uint8_t *file = pgk_text_word(line, end, "  "), *p;
    uint64_t number;
    if (!file || file == end || pgk_text_is_blank(*file))
        return false;
    if ((p = memrchr(file, ':', (size_t)(end - file))) != NULL)
        return pgk_text_decimal(p + 1, end, &number) == end;
    p = memrchr(file, '[', (size_t)(end - file));
    p = p ? pgk_text_hex(p + 1, end, &number) : NULL;
    return p && p + 1 == end && *p == ']';
}

/* Notes of perf begin with #, those that people wrote into a text with two slashes. They may name
 * branches. */
static bool is_note(const uint8_t *line, const uint8_t *end)
{
    return *line == '#' || pgk_text_word(line, end, "//");
}

/* A line that is no plain address. */
static int read_other(struct pgk_text_reader *t, const uint8_t *line, const uint8_t *end)
{
    static const char keyword[] = "PERF_RECORD_";
    struct pgk_text_head head;
    if (is_note(line, end))
        return 0;
    if (t->is_dump || memmem(line, (size_t)(end - line), keyword, strlen(keyword)))
        return pgk_text_read_record(t, line, end);
    pgk_text_parse_head(line, end, &head);
    const struct pgk_text_form *form = head.branches ? NULL : pgk_text_other_form(line, end);
    if (form)
        return refuse(t, form);
    if (head.has_ip || head.branches || (head.is_head && leads_to_sample(t->at, t->end)))
        return read_head(t, &head);
    return is_source_line(line, end) ? 0 : pgk_text_read_record(t, line, end);
}

/* A line without branches at its beginning. */
static int read_whole_line(struct pgk_text_reader *t, const uint8_t *line)
{
    uint64_t value, count;
    const uint8_t *full = pgk_text_end_of_line(line, t->end), *end = full;
    int status = 0;
    t->at = full < t->end ? full + 1 : full;
    while (end > line && (end[-1] == '\r' || pgk_text_is_blank(end[-1])))
        end--;
    if (t->in_trace && pgk_text_read_trace(t, line, end, &status))
        return status;
    if (end == line) { /* a call chain without branches ends here */
        status = t->chain.n ? pass_gathered(t, 0, 0) : 0;
        forget_head(t);
        return status;
    }
    full -= full > line && full[-1] == '\r';
    if (pgk_text_decimal(line, full, &count) == full) {
        t->count = count;
        return 0;
    }
    const uint8_t *behind = take_indented(line, end, &value);
    const uint8_t *next = behind ? pgk_text_skip_blanks(behind, end) : end;
    if (behind && next == end)
        return read_address(t, line, value, next, end);
    struct pgk_text_head head = {0};
    if (behind && *line != '\t')
        pgk_text_parse_head(line, end, &head);
    bool is_address = behind && !head.has_ip && !head.branches && !pgk_text_word(next, end, "0x") &&
                      !memmem(next, (size_t)(end - next), "PERF_RECORD_", 12) &&
                      !pgk_text_other_form(line, end);
    return is_address ? read_address(t, line, value, next, end) : read_other(t, line, end);
}

/* The end of a line is looked for only if there are no branches at its beginning, which is rare. */
static int read_line(struct pgk_text_reader *t)
{
    uint64_t value;
    const uint8_t *line = t->at, *p = pgk_text_skip_blanks(line, t->end);
    const uint8_t *behind = pgk_text_hex(p, t->end, &value);
    const uint8_t *next = behind ? pgk_text_skip_blanks(behind, t->end) : p;
    t->line++;
    if (pgk_text_starts_branches(p, t->end))
        return read_branches(t, p, 0);
    if (pgk_text_starts_branches(next, t->end))
        return read_branches(t, next, value);
    return read_whole_line(t, line);
}

/* ---- what was read ---- */

/* More than half of the lines or samples are wrong: the text has another form. */
static int check_form(const struct pgk_text_reader *t)
{
    const struct pgk_perf_skipped *bad = &t->info->unreadable;
    static const char as_addresses[] = "perf script -F ip,brstack --show-mmap-events";
    uint64_t lines = bad->n - t->partly_read;
    if (lines > t->line / 2)
        return pgk_fail(t->err, PGK_E_FORMAT, .file = t->src.file, .format = "text of perf",
                        .record = PGK_F("line %" PRIu64, bad->first), .field = "line",
                        .found = PGK_F("'%s', and %" PRIu64 " of %" PRIu64
                                       " lines that cannot be read",
                                       bad->example, lines, t->line),
                        .expected = "what perf script or perf report -D prints",
                        .hint = PGK_F("print it again: %s", as_addresses));
    if (t->chains_below_code > t->chains / 2)
        return pgk_fail(t->err, PGK_E_FORMAT, .file = t->src.file, .format = "text of perf",
                        .field = "call chains",
                        .found = PGK_F("offsets in files in %" PRIu64 " of %" PRIu64
                                       " call chains, as perf 6 prints them",
                                       t->chains_below_code, t->chains),
                        .expected = "addresses of the running process",
                        .hint = "give perf.data itself, or a text without call chains: perf "
                                "script -G -F ip --show-mmap-events");
    if (t->below_code - t->chains_below_code > t->info->samples / 2)
        return pgk_fail(t->err, PGK_E_FORMAT, .file = t->src.file, .format = "text of perf",
                        .field = "addresses",
                        .found = PGK_F("offsets in files in %" PRIu64 " of %" PRIu64 " samples",
                                       t->below_code, t->info->samples),
                        .expected = "addresses of the running process",
                        .hint = PGK_F("give perf.data itself, or print: %s", as_addresses));
    return 0;
}

static int read_lines(struct pgk_text_reader *t, struct pgk_filemap *map)
{
    const uint8_t *released = t->at;
    while (t->at < t->end) {
        PGK_TRY(read_line(t));
        if (PGK_UNLIKELY((size_t)(t->at - released) >= PGK_PERF_RELEASE_BYTES)) {
            pgk_filemap_done(map, (size_t)(released - map->bytes), (size_t)(t->at - map->bytes));
            released = t->at;
        }
    }
    if (t->chain.n)
        PGK_TRY(pass_gathered(t, 0, 0));
    PGK_TRY(pgk_text_pass_traces(t));
    return check_form(t);
}

int pgk_perf_text_read(struct pgk_filemap *map, const struct pgk_source *src,
                       const struct pgk_perf_handler *handler, struct pgk_perf_info *info,
                       struct pgk_err *err)
{
    struct pgk_text_reader t = {.at = map->bytes,
                                .start = map->bytes,
                                .end = map->bytes + map->size,
                                .src = *src,
                                .handler = handler,
                                .info = info,
                                .err = err,
                                .count = 1,
                                .pid = PGK_PID_UNKNOWN,
                                .tid = PGK_PID_UNKNOWN};
    static const struct pgk_perf_event event = {.name = "", .pmu = ""};
    *info = (struct pgk_perf_info){
        .form = "text of perf", .cpu = "", .bytes = map->size, .events = &event, .n_events = 1};
    int status = read_lines(&t, map);
    info->lines = t.line;
    pgk_vec_free(&t.chain);
    pgk_vec_free(&t.branches);
    pgk_vec_free(&t.processes);
    pgk_vec_free(&t.trace);
    pgk_vec_free(&t.trace_ends);
    return status;
}

/* Whether a line is a sample without branches. */
static bool is_sample(const uint8_t *line, const uint8_t *end)
{
    struct pgk_text_head head;
    uint64_t ip;
    const uint8_t *behind = take_indented(line, end, &ip);
    if (behind && (behind == end || behind - line > PGK_TEXT_MOST_DIGITS))
        return true;
    pgk_text_parse_head(line, end, &head);
    return head.has_ip || head.branches || (head.has_time && head.event.n);
}

bool pgk_perf_text_sniff(const uint8_t *bytes, size_t size)
{
    enum { LOOK_AT = 1 << 16 };
    const uint8_t *end = bytes + (size < LOOK_AT ? size : LOOK_AT);
    for (const uint8_t *line = bytes; line < end; line = next_line(line, end)) {
        const uint8_t *line_end = pgk_text_end_of_line(line, end);
        const uint8_t *p = pgk_text_skip_blanks(line, line_end);
        uint64_t ip;
        if (memmem(line, (size_t)(line_end - line), "PERF_RECORD_", 12) ||
            pgk_text_starts_branches(p, line_end) || is_sample(line, line_end))
            return true;
        p = pgk_text_hex(p, line_end, &ip);
        if (p && pgk_text_starts_branches(pgk_text_skip_blanks(p, line_end), line_end))
            return true;
    }
    return false;
}
