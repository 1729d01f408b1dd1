/* Inside of the reader of texts: scanning, and what its files share. */
#ifndef PGK_PERF_TEXT_PRIV_H
#define PGK_PERF_TEXT_PRIV_H

#include "perf_text.h"

#include "hex.h"
#include "vec.h"

struct pgk_text_reader {
    const uint8_t *start, *at, *end;
    struct pgk_source src;
    const struct pgk_perf_handler *handler;
    struct pgk_perf_info *info;
    struct pgk_err *err;
    uint64_t line;  /* number, from 1 */
    uint64_t count; /* of the sample that follows */
    uint64_t partly_read; /* unreadable lines that begin with branches */
    bool is_dump;   /* of perf report -D, which prints much more than we want */
    PGK_VEC(uint64_t) chain;
    PGK_VEC(struct pgk_perf_branch) branches;

    /* The fields of the head of the next sample; pid: PGK_PID_UNKNOWN if there is none. */
    bool has_head;
    int32_t pid, tid;
    struct pgk_perf_name comm, event;

    /* Up to where lines of addresses, indented by blanks, are known to be a call chain or not. */
    const uint8_t *run_end;
    bool run_is_chain;

    /* Addresses that cannot be real ones, being below all code that was mapped. */
    uint64_t lowest_code; /* that was mapped so far; 0: none */
    uint64_t chains; /* samples with one */
    uint64_t below_code, chains_below_code; /* samples; of these, with a call chain */

    PGK_VEC(int32_t) processes; /* of mappings and tasks, ascending */

    /* Traces are passed on at the end, when all mappings are known. */
    bool in_trace; /* the lines before were of one */
    PGK_VEC(uint8_t) trace;
    PGK_VEC(size_t) trace_ends;
};

static inline bool pgk_text_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static inline const uint8_t *pgk_text_end_of_line(const uint8_t *at, const uint8_t *end)
{
    const uint8_t *newline = memchr(at, '\n', (size_t)(end - at));
    return newline ? newline : end;
}

static inline const uint8_t *pgk_text_skip_blanks(const uint8_t *p, const uint8_t *end)
{
    while (p < end && pgk_text_is_blank(*p))
        p++;
    return p;
}

enum { PGK_TEXT_MOST_DIGITS = 16 };

/* The digits at `p`, at most 16 of them; NULL if there is none or there are more. */
static inline const uint8_t *pgk_text_hex(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    const uint8_t *start = p;
    uint64_t v = 0;
    for (uint8_t digit; p < end && (digit = pgk_hex_digits[*p]) != 0; p++)
        v = v << 4 | (digit - 1u);
    *value = v;
    return p == start || p - start > PGK_TEXT_MOST_DIGITS ? NULL : p;
}

static inline const uint8_t *pgk_text_0x(const uint8_t *p, const uint8_t *end, uint64_t *value)
{
    return end - p > 2 && p[0] == '0' && (p[1] | 0x20) == 'x' ? pgk_text_hex(p + 2, end, value)
                                                              : NULL;
}

static inline const uint8_t *pgk_text_decimal(const uint8_t *p, const uint8_t *end,
                                              uint64_t *value)
{
    const uint8_t *start = p;
    uint64_t v = 0;
    *value = 0;
    for (; p < end && *p >= '0' && *p <= '9'; p++)
        if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v))
            return NULL;
    *value = v;
    return p == start ? NULL : p;
}

static inline const uint8_t *pgk_text_pid(const uint8_t *p, const uint8_t *end, int32_t *pid)
{
    uint64_t v;
    bool negative = p < end && *p == '-';
    p = pgk_text_decimal(p + negative, end, &v);
    *pid = negative ? PGK_PID_KERNEL : (int32_t)v;
    return p;
}

/* Skips `word`; NULL if `p` does not begin with it, or is NULL. */
static inline const uint8_t *pgk_text_word(const uint8_t *p, const uint8_t *end, const char *word)
{
    size_t n = strlen(word);
    return p && (size_t)(end - p) >= n && !memcmp(p, word, n) ? p + n : NULL;
}

/* Newer releases of perf (6.12) have a blank between an address and its file. */
static inline bool pgk_text_starts_branches(const uint8_t *p, const uint8_t *end)
{
    uint64_t from;
    p = pgk_text_0x(p, end, &from);
    return p && p < end && (*p == '/' || *p == '(' || pgk_text_word(p, end, " ("));
}

void pgk_text_unreadable(struct pgk_text_reader *t, const uint8_t *p, const uint8_t *end);
int pgk_text_pass_sample(struct pgk_text_reader *t, struct pgk_perf_sample *s);

/* ---- perf_text_record.c ---- */

/* A line that says PERF_RECORD_... somewhere, or another one of perf report -D; what is neither
 * is unreadable. */
int pgk_text_read_record(struct pgk_text_reader *t, const uint8_t *line, const uint8_t *end);
/* Takes the bytes of a line of a trace that is dumped; false if it is none, so that the trace ends
 * with the line before. */
bool pgk_text_read_trace(struct pgk_text_reader *t, const uint8_t *line, const uint8_t *end,
                         int *status);
/* Passes on the traces of the whole text. */
int pgk_text_pass_traces(struct pgk_text_reader *t);
/* Whether the process had a mapping or a task. */
bool pgk_text_knows_process(const struct pgk_text_reader *t, int32_t pid);

/* ---- perf_text_head.c ---- */

/* The fields of a line before the branches and call chain of a sample: [NAME] [PID[/TID]] [CPU]
 * [TIME:] [PERIOD] [EVENT:] [ADDRESS [SYMBOL] [(FILE)]]. */
struct pgk_text_head {
    int32_t pid, tid;
    struct pgk_perf_name comm, event;
    uint64_t ip;
    bool has_ip, is_head;
    bool has_time;
    const uint8_t *branches; /* NULL: none on the line */
};

/* `end` is the end of the line, with blanks at it. */
void pgk_text_parse_head(const uint8_t *line, const uint8_t *end, struct pgk_text_head *head);

/* Forms of perf script without addresses of branches; NULL if the line is none of them. */
struct pgk_text_form {
    const char *name, *hint;
};
const struct pgk_text_form *pgk_text_other_form(const uint8_t *line, const uint8_t *end);

#endif
