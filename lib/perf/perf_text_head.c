/* The part of a line of perf script with the process, time and event of a sample. -F selects the
 * fields, so they are recognised by how perf prints them: an address is right-aligned in sixteen
 * columns or more, a time and the name of an event end with a colon. */
#include "perf_text_priv.h"

enum { ADDRESS_COLUMNS = 16, PERIOD_COLUMNS = 10, FEWEST_DIGITS = 6 /* of an address */ };

/* A word of a line, with the blanks before it. */
struct word {
    const uint8_t *blanks, *start, *end;
};

static bool next_word(const uint8_t **at, const uint8_t *end, struct word *w)
{
    w->blanks = *at;
    w->start = pgk_text_skip_blanks(*at, end);
    w->end = w->start;
    while (w->end < end && !pgk_text_is_blank(*w->end))
        w->end++;
    *at = w->end;
    return w->end > w->start;
}

static size_t columns(const struct word *w)
{
    return (size_t)(w->end - w->blanks);
}

static bool is_address(const struct word *w, uint64_t *ip)
{
    return columns(w) >= ADDRESS_COLUMNS && pgk_text_hex(w->start, w->end, ip) == w->end;
}

static bool ends_with_colon(const struct word *w)
{
    return w->end - w->start > 1 && w->end[-1] == ':';
}

/* SECONDS.FRACTION: */
static bool is_time(const struct word *w)
{
    uint64_t n;
    const uint8_t *p = pgk_text_decimal(w->start, w->end, &n);
    p = p && p < w->end && *p == '.' ? pgk_text_decimal(p + 1, w->end, &n) : NULL;
    return p && p + 1 == w->end && *p == ':';
}

static bool is_number(const struct word *w)
{
    uint64_t n;
    return pgk_text_decimal(w->start, w->end, &n) == w->end;
}

/* PID/TID, or one of them. */
static bool is_task(const struct word *w, struct pgk_text_head *head)
{
    int32_t first, second;
    const uint8_t *p = pgk_text_pid(w->start, w->end, &first);
    if (p == w->end && columns(w) < PERIOD_COLUMNS) {
        head->pid = PGK_PID_UNKNOWN;
        head->tid = first;
        return true;
    }
    if (!p || *p != '/' || pgk_text_pid(p + 1, w->end, &second) != w->end)
        return false;
    head->pid = first;
    head->tid = second;
    return true;
}

/* Where branches start on the line; `end` if nowhere. */
static const uint8_t *find_branches(const uint8_t *line, const uint8_t *end)
{
    for (const uint8_t *p = line; p < end; p++) {
        p = memmem(p, (size_t)(end - p), " 0x", 3);
        if (!p)
            break;
        if (pgk_text_starts_branches(p + 1, end))
            return p + 1;
    }
    return end;
}

/* The address that the sample is of: the last one, since addresses of data stand before. NULL if
 * there is none. A first word may be a name instead; `is_first`: it is none. */
static const uint8_t *find_address(const uint8_t *line, const uint8_t *end, bool is_first,
                                   struct pgk_text_head *head)
{
    const uint8_t *at = line, *found = NULL;
    struct word w;
    uint64_t ip = 0;
    bool after_event = is_first; /* or where nothing else can be before the branches */
    for (; next_word(&at, end, &w); is_first = true) {
        bool narrow = after_event && w.end - w.start >= FEWEST_DIGITS &&
                      pgk_text_hex(w.start, w.end, &ip) == w.end;
        if (is_first && (is_address(&w, &ip) || (narrow && !found))) {
            head->ip = ip;
            found = w.start;
        }
        after_event = ends_with_colon(&w) && !is_time(&w);
    }
    return found;
}

static struct pgk_perf_name name_of(const uint8_t *start, const uint8_t *end)
{
    while (end > start && pgk_text_is_blank(end[-1]))
        end--;
    start = pgk_text_skip_blanks(start, end);
    return (struct pgk_perf_name){(const char *)start, (size_t)(end - start)};
}

void pgk_text_parse_head(const uint8_t *line, const uint8_t *end, struct pgk_text_head *head)
{
    *head = (struct pgk_text_head){.pid = PGK_PID_UNKNOWN, .tid = PGK_PID_UNKNOWN};
    const uint8_t *branches = find_branches(line, end);
    const uint8_t *ip = find_address(line, branches, branches < end, head);
    const uint8_t *at = line, *name_end = NULL;
    const uint8_t *stop = ip ? ip : branches;
    struct word w;
    head->has_ip = ip;
    head->branches = branches < end ? branches : NULL;
    while (next_word(&at, stop, &w)) {
        bool over = head->has_time || head->event.n;
        if (!over && is_task(&w, head)) {
            name_end = w.start;
        } else if (is_time(&w)) {
            head->has_time = true;
        } else if (ends_with_colon(&w)) {
            const uint8_t *e = w.end;
            while (e > w.start && e[-1] == ':')
                e--;
            head->event = (struct pgk_perf_name){(const char *)w.start, (size_t)(e - w.start)};
        } else if (!is_number(&w)) { /* a period */
            continue;
        }
        if (!name_end)
            name_end = w.start;
    }
    head->comm = name_of(line, name_end ? name_end : stop);
    head->is_head = at == stop && (head->has_time || head->event.n || head->tid >= 0);
}

/* FROM/TO/[MP-]/[X-]/[A-]/CYCLES where FROM is a name. */
static bool is_branch_of_symbols(const struct word *w)
{
    const uint8_t *p = w->start;
    uint64_t from;
    const uint8_t *number = *p >= '0' && *p <= '9' ? pgk_text_hex(p, w->end, &from) : NULL;
    if (*p == '(' || (number && number < w->end && *number == '/') ||
        pgk_text_starts_branches(p, w->end))
        return false;
    p = memchr(p, '/', (size_t)(w->end - p));
    for (; p && w->end - p >= 6; p = memchr(p + 1, '/', (size_t)(w->end - p - 1)))
        if (strchr("MP-", p[1]) && p[2] == '/' && strchr("X-", p[3]) && p[4] == '/' &&
            strchr("A-", p[5]) && p[1] && p[3] && p[5])
            return true;
    return false;
}

const struct pgk_text_form *pgk_text_other_form(const uint8_t *line, const uint8_t *end)
{
    static const struct pgk_text_form symbols = {
        "branches of symbols, as perf script -F brstacksym prints them",
        "print addresses: perf script -F ip,brstack --show-mmap-events"};
    static const struct pgk_text_form instructions = {
        "instructions between branches, as perf script -F brstackinsn prints them",
        "print the branches: perf script -F ip,brstack --show-mmap-events"};
    const uint8_t *at = line;
    struct word w;
    uint64_t ip;
    bool is_first = true, is_frame = *line == '\t';
    while (next_word(&at, end, &w)) {
        if (is_first && pgk_text_hex(w.start, w.end, &ip) != w.end)
            is_frame = false;
        if (is_frame && w.end - w.start == 5 && !memcmp(w.start, "insn:", 5))
            return &instructions;
        if (is_branch_of_symbols(&w))
            return &symbols;
        is_first = false;
    }
    return NULL;
}
