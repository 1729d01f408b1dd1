/* Reading sample profiles as text. The rules for odd lines are those of llvm-profdata 22; see
 * docs/formats/sample-text.md. */
#include "sample_text.h"

#include "keyed_sort.h"
#include "sample_format.h"
#include "sample_origin.h"
#include "sample_partial.h"
#include "sample_stage.h"

#include <inttypes.h>
#include <stdlib.h>

/* A function that has been read. Names are looked up together when some functions are complete,
 * as each look is a wait for memory: until then, records and frames have numbers of spellings for
 * names, and records stand in the order of the file. */
struct pending {
    struct pgk_sample_stage stage;
    size_t n_frames; /* of all up to its end; without frames it is no context */
    struct pgk_sample_path path;
};
enum { MOST_PENDING = 16 };

struct reader {
    struct pgk_sample *p;
    const struct pgk_source *src;
    const char *start, *end;
    uint64_t weight;
    struct pgk_err *err;
    /* the line being read */
    const char *line;
    uint64_t line_number;
    struct pending pending[MOST_PENDING];
    size_t n_pending;
    PGK_VEC(struct pgk_spelling) spellings; /* of those that are pending */
    PGK_VEC(struct pgk_sample_frame) frames; /* names are numbers of spellings */
    /* the function being read: one more that is pending */
    struct pgk_sample_stage *stage;
    PGK_VEC(uint32_t) open;    /* slots of the nesting: open.v[d - 1] has depth d */
    size_t metadata_depth;     /* of the last line, if it was metadata; else 0 */
    struct pgk_sample_kind kind;
};

/* ---- failures ---- */

static const char *excerpt(char buf[80], const char *at, const char *end)
{
    size_t n = (size_t)(end - at);
    if (n == 0)
        return "the end of the line";
    pgk_format(buf, 80, n > 60 ? "'%.*s'..." : "'%.*s'", (int)(n > 60 ? 60 : n), at);
    return buf;
}

static int reject(struct reader *r, const char *at, const char *end, const char *field,
                  const char *expected)
{
    char found[80];
    uint64_t off = r->src->base_off + (uint64_t)(at - r->start);
    return pgk_fail(r->err, PGK_E_CORRUPT, .file = r->src->file, .format = r->src->format,
                    .offset = &off, .record = PGK_F("line %" PRIu64, r->line_number),
                    .field = field, .found = excerpt(found, at, end), .expected = expected,
                    .hint = "correct the line, or create the profile again");
}

/* ---- pieces of lines ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

enum { SAFE_DIGITS = 19 }; /* of a number below 2^64 in any case */

/* All of the bytes as a decimal number. */
static bool parse_number(const char *s, const char *end, uint64_t *v)
{
    uint64_t n = 0;
    if (s == end)
        return false;
    bool safe = end - s <= SAFE_DIGITS;
    for (; s < end; s++) {
        unsigned digit = (unsigned)(unsigned char)*s - '0';
        if (digit > 9)
            return false;
        if (safe)
            n = n * 10 + digit;
        else if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, digit, &n))
            return false;
    }
    *v = n;
    return true;
}

/* Up to seven digits, of which a word has the first in its lowest byte and zeros before it. */
static uint64_t join_digits(uint64_t word)
{
    word = (word & UINT64_C(0x0f0f0f0f0f0f0f0f)) * (10 << 8 | 1) >> 8;
    word = (word & UINT64_C(0x00ff00ff00ff00ff)) * (100 << 16 | 1) >> 16;
    return (word & UINT64_C(0x0000ffff0000ffff)) * (UINT64_C(10000) << 32 | 1) >> 32;
}

/* The digits from s on as a number: where they end, or NULL if they are none or too many to be
 * safe. Short ones, which most are, are taken from one load, because a loop would end
 * unpredictably. */
static inline const char *take_digits(const char *s, const char *end, ptrdiff_t most, uint64_t *v)
{
    const char *start = s;
    uint64_t n = 0, word;
    if (PGK_LIKELY(end - s >= (ptrdiff_t)sizeof word)) {
        memcpy(&word, s, sizeof word);
        word ^= UINT64_C(0x3030303030303030);
        uint64_t other = (((word & UINT64_C(0x7f7f7f7f7f7f7f7f)) + UINT64_C(0x7676767676767676)) |
                          word) & UINT64_C(0x8080808080808080);
        unsigned digits = other ? (unsigned)__builtin_ctzll(other) / 8 : 0;
        if (PGK_LIKELY(digits)) {
            *v = join_digits(word << (64 - 8 * digits));
            return digits > most ? NULL : s + digits;
        }
    }
    for (; s < end && is_digit(*s); s++)
        n = n * 10 + (uint64_t)(*s - '0');
    *v = n;
    return s == start || s - start > most ? NULL : s;
}

static const char *find(const char *s, const char *end, char c)
{
    return s < end ? memchr(s, c, (size_t)(end - s)) : NULL;
}

static const char *find_last(const char *s, const char *end, char c)
{
    return s < end ? memrchr(s, c, (size_t)(end - s)) : NULL;
}

static const char *skip_blanks(const char *s, const char *end)
{
    while (s < end && *s == ' ')
        s++;
    return s;
}

#define A_COUNT "a decimal number up to 18446744073709551615"

/* ---- names ---- */

/* The number of the spelling; UINT32_MAX when out of memory. */
static uint32_t put_spelling(struct reader *r, const char *s, const char *end)
{
    struct pgk_spelling spelling = {.s = s, .len = (size_t)(end - s)};
    if (r->spellings.n >= INT32_MAX || !pgk_vec_push(&r->spellings, spelling))
        return UINT32_MAX;
    return (uint32_t)r->spellings.n - 1;
}

/* A record of the function being read; `what` is not 0 for the kind of a target, with the number
 * of a spelling. */
static int put_record(struct reader *r, uint32_t slot, uint64_t loc, uint32_t what, uint64_t count)
{
    struct pgk_stage_node *n = &r->stage->slots.v[slot];
    if (PGK_UNLIKELY(!pgk_vec_reserve(&n->recs, 1)))
        return pgk_fail_nomem(r->err);
    pgk_rec_set(&n->recs.v[n->recs.n++], loc, what, count);
    return 0;
}

static int put_named(struct reader *r, uint32_t slot, uint64_t loc, uint32_t kind, const char *s,
                     const char *end, uint64_t count)
{
    uint32_t number = put_spelling(r, s, end);
    if (number == UINT32_MAX)
        return pgk_fail_nomem(r->err);
    return put_record(r, slot, loc, (number + 1) | kind, count);
}

/* If a line names a target twice, its last count is valid. Returns the n targets without
 * duplicates. False when out of memory. */
static bool drop_repeated(struct pgk_sample_rec *v, size_t *n)
{
    enum { FEW = 16 };
    size_t kept = 0;
    if (*n <= FEW) {
        for (size_t i = 0; i < *n; i++) {
            bool again = false;
            for (size_t k = i + 1; k < *n; k++)
                again |= v[k].what == v[i].what;
            if (!again)
                v[kept++] = v[i];
        }
        *n = kept;
        return true;
    }
    struct pgk_keyed *by_name = pgk_mem_alloc(*n, sizeof *by_name);
    struct pgk_sample_rec *copy = pgk_mem_alloc(*n, sizeof *copy);
    bool ok = by_name && copy;
    for (size_t i = 0; ok && i < *n; i++) {
        copy[i] = v[i];
        by_name[i] = (struct pgk_keyed){.key = v[i].what, .value = (uint32_t)i};
    }
    ok = ok && pgk_keyed_sort(by_name, *n);
    for (size_t i = 0; ok && i < *n; i++)
        if (i + 1 == *n || by_name[i].key != by_name[i + 1].key)
            v[kept++] = copy[by_name[i].value];
    pgk_mem_free(by_name);
    pgk_mem_free(copy);
    *n = kept;
    return ok;
}

static void name_record(const struct reader *r, struct pgk_sample_rec *rec)
{
    rec->what = r->spellings.v[pgk_rec_name(rec) - 1].id | (rec->what & PGK_REC_VTABLE);
}

/* Adds the targets of a line, which begin at `i` among the n records that were read. */
static bool order_targets(const struct reader *r, struct pgk_stage_node *to, size_t *i, size_t n)
{
    struct pgk_sample_rec *v = to->recs.v;
    size_t first = *i, end = first;
    for (; end < n && pgk_rec_is_target(&v[end]); end++)
        name_record(r, &v[end]);
    *i = end;
    size_t kept = end - first;
    if (kept > 1 && !drop_repeated(v + first, &kept))
        return false;
    for (size_t k = first; k < first + kept; k++)
        if (!pgk_stage_add(to, v[k].loc, v[k].what, v[k].count))
            return false;
    return true;
}

/* Puts the records of a slot, as they were read, into order, with names for spellings. Nothing
 * is overwritten before it has moved, as there are never more than were read. */
static bool order_records(const struct reader *r, struct pgk_stage_node *to)
{
    struct pgk_sample_rec *v = to->recs.v;
    size_t n = to->recs.n;
    to->recs.n = 0;
    for (size_t i = 0; i < n;) {
        if (pgk_rec_is_target(&v[i])) {
            if (!order_targets(r, to, &i, n))
                return false;
            continue;
        }
        if (v[i].what)
            name_record(r, &v[i]);
        if (!pgk_stage_add(to, v[i].loc, v[i].what, v[i].count))
            return false;
        i++;
    }
    return true;
}

/* Where the frames of a pending function begin. */
static size_t first_frame(const struct reader *r, size_t i)
{
    return i ? r->pending[i - 1].n_frames : 0;
}

/* Asks for the memory of all contexts before the first is looked at. */
static void name_frames(struct reader *r)
{
    for (size_t i = 0; i < r->frames.n; i++)
        r->frames.v[i].name = r->spellings.v[r->frames.v[i].name].id;
    for (size_t i = 0; i < r->n_pending; i++) {
        size_t first = first_frame(r, i), n = r->pending[i].n_frames - first;
        if (n)
            r->pending[i].path = pgk_sample_path(r->p, r->frames.v + first, n);
    }
}

/* Gives names and records to a function and adds it to the profile. */
static int commit(struct reader *r, size_t i)
{
    struct pending *f = &r->pending[i];
    struct pgk_stage_place place = {0};
    size_t first = first_frame(r, i), n_frames = f->n_frames - first;
    if (n_frames) {
        uint32_t context = pgk_sample_context_at(r->p, f->path, r->frames.v + first, n_frames);
        if (!context)
            return pgk_fail_nomem(r->err);
        place = pgk_stage_place_of(r->p, context);
    }
    r->kind.probes |= f->stage.slots.v[0].checksum != 0;
    for (uint32_t slot = 0; slot < f->stage.n; slot++) {
        struct pgk_stage_node *n = &f->stage.slots.v[slot];
        n->name = r->spellings.v[n->name].id;
        if (!order_records(r, n))
            return pgk_fail_nomem(r->err);
    }
    return pgk_stage_commit(&f->stage, r->p, place, r->weight, r->err);
}

static int commit_pending(struct reader *r)
{
    if (!pgk_sample_names_add_many(&r->p->names, r->spellings.v, r->spellings.n))
        return pgk_fail_nomem(r->err);
    name_frames(r);
    for (size_t i = 0; i < r->n_pending; i++)
        PGK_TRY(commit(r, i));
    r->spellings.n = r->frames.n = r->n_pending = 0;
    return 0;
}

/* Ends the function that is being read, if there is one. */
static int end_function(struct reader *r)
{
    if (!r->stage)
        return 0;
    r->pending[r->n_pending].n_frames = r->frames.n;
    r->n_pending++;
    r->stage = NULL;
    r->open.n = 0;
    return r->n_pending < MOST_PENDING ? 0 : commit_pending(r);
}

/* ---- functions ---- */

/* "LINE" or "LINE.DISCRIMINATOR" of a frame; what is no number counts as 0. */
static uint64_t parse_frame_loc(const char *s, const char *end)
{
    uint64_t line = 0, discriminator = 0;
    const char *dot = find(s, end, '.');
    if (!parse_number(s, dot ? dot : end, &line) || line > UINT32_MAX)
        line = 0;
    if (dot && (!parse_number(dot + 1, end, &discriminator) || discriminator > UINT32_MAX))
        discriminator = 0;
    return pgk_sample_loc((uint32_t)line, (uint32_t)discriminator);
}

static const char *find_separator(const char *s, const char *end)
{
    return s < end ? memmem(s, (size_t)(end - s), " @ ", 3) : NULL;
}

/* "main:3 @ parse:1.2 @ peek": frames of the function that is read next; *name is the spelling
 * of the innermost. */
static int parse_context(struct reader *r, const char *s, const char *end, uint32_t *name)
{
    for (unsigned n = 0;; n++) {
        const char *at = find_separator(s, end);
        const char *frame_end = at ? at : end, *colon = find(s, frame_end, ':');
        *name = put_spelling(r, s, colon ? colon : frame_end);
        struct pgk_sample_frame frame = {
            .name = *name, .loc = colon ? parse_frame_loc(colon + 1, frame_end) : 0};
        if (*name == UINT32_MAX || !pgk_vec_push(&r->frames, frame))
            return pgk_fail_nomem(r->err);
        if (!at || at + 3 >= end)
            return 0;
        if (n + 1 >= PGK_SAMPLE_MAX_DEPTH)
            return reject(r, s, end, "context", "at most 1000 frames");
        s = at + 3;
    }
}

struct header {
    const char *name_end;
    uint64_t total, head;
};

/* The last two colons count: names may hold some, too. */
static bool parse_header(const char *s, const char *end, struct header *h)
{
    const char *second = find_last(s, end, ':');
    const char *first = second ? find_last(s, second, ':') : NULL;
    if (!first || first == s || *s == ' ')
        return false;
    h->name_end = first;
    return parse_number(first + 1, second, &h->total) && parse_number(second + 1, end, &h->head);
}

static int read_header(struct reader *r, const char *s, const char *end)
{
    struct header h;
    PGK_TRY(end_function(r));
    if (!parse_header(s, end, &h))
        return reject(r, s, end, "head of a function", "NAME:TOTAL:HEAD in the first column");
    struct pending *f = &r->pending[r->n_pending];
    uint32_t name;
    if (*s == '[') {
        r->kind.contexts = true;
        if (h.name_end - s < 3)
            return reject(r, s, end, "context", "[FUNCTION] or [FUNCTION:LINE @ FUNCTION]");
        PGK_TRY(parse_context(r, s + 1, h.name_end - 1, &name));
    } else {
        name = put_spelling(r, s, h.name_end);
    }
    if (name == UINT32_MAX || !pgk_stage_begin(&f->stage, name) || !pgk_vec_push(&r->open, 0))
        return pgk_fail_nomem(r->err);
    r->stage = &f->stage;
    r->kind.known = true;
    f->stage.slots.v[0].total = h.total;
    f->stage.slots.v[0].head = h.head;
    r->metadata_depth = 0;
    return 0;
}

/* ---- lines of a function ---- */

/* Names may hold blanks and colons: a name ends at the first colon that a number follows. */
static const char *end_of_target(const char *s, const char *end, const char **number_end,
                                 uint64_t *count)
{
    const char *stop = s, *colon = find(s, end, ':');
    const char *plain = colon ? take_digits(colon + 1, end, SAFE_DIGITS, count) : NULL;
    if (PGK_LIKELY(plain && (plain == end || *plain == ' '))) {
        *number_end = plain;
        return colon;
    }
    for (; colon; colon = find(colon + 1, end, ':')) {
        if (stop <= colon) {
            const char *blank = find(colon + 1, end, ' ');
            stop = blank ? blank : end;
        }
        *number_end = stop;
        if (parse_number(colon + 1, stop, count))
            return colon;
    }
    return NULL;
}

static int read_targets(struct reader *r, const char *s, const char *end, uint32_t slot,
                        uint64_t loc)
{
    for (;;) {
        uint64_t count;
        const char *number_end, *name = skip_blanks(s, end);
        const char *colon = end_of_target(name, end, &number_end, &count);
        if (!colon || colon == name)
            return reject(r, name, end, "call target", "NAME:COUNT");
        PGK_TRY(put_named(r, slot, loc, 0, name, colon, count));
        if (number_end == end)
            break;
        s = number_end;
    }
    return 0;
}

static int read_body(struct reader *r, const char *s, const char *end, uint32_t slot, uint64_t loc)
{
    uint64_t count;
    const char *blank = find(s, end, ' ');
    if (!parse_number(s, blank ? blank : end, &count))
        return reject(r, s, end, "samples", A_COUNT);
    PGK_TRY(put_record(r, slot, loc, PGK_REC_BODY, count));
    return blank ? read_targets(r, blank, end, slot, loc) : 0;
}

static int compare_spellings(const void *pa, const void *pb)
{
    const struct pgk_spelling *a = pa, *b = pb;
    if (a->len != b->len)
        return a->len < b->len ? -1 : 1;
    return memcmp(a->s, b->s, a->len);
}

/* True if one of the spellings from `first` on occurs twice; also false when out of memory, and
 * *nomem is then set. */
static bool any_twice(const struct reader *r, size_t first, bool *nomem)
{
    enum { FEW = 8 };
    size_t n = r->spellings.n - first;
    const struct pgk_spelling *v = r->spellings.v + first;
    bool twice = false;
    if (n <= FEW) {
        for (size_t i = 1; i < n; i++)
            for (size_t k = 0; k < i; k++)
                twice |= !compare_spellings(&v[i], &v[k]);
        return twice;
    }
    struct pgk_spelling *sorted = pgk_mem_alloc(n, sizeof *sorted);
    *nomem = !sorted;
    if (!sorted)
        return false;
    memcpy(sorted, v, n * sizeof *v);
    qsort(sorted, n, sizeof *sorted, compare_spellings);
    for (size_t i = 1; i < n; i++)
        twice |= !compare_spellings(&sorted[i - 1], &sorted[i]);
    pgk_mem_free(sorted);
    return twice;
}

/* Skips a number that a blank or nothing follows; NULL if it is none. */
static const char *end_of_count(const char *s, const char *end, uint64_t *count)
{
    const char *stop = take_digits(s, end, SAFE_DIGITS, count);
    if (PGK_LIKELY(stop && (stop == end || *stop == ' ')))
        return stop;
    const char *blank = find(s, end, ' ');
    stop = blank ? blank : end;
    return parse_number(s, stop, count) ? stop : NULL;
}

static int read_vtables(struct reader *r, const char *s, const char *end, uint32_t slot,
                        uint64_t loc)
{
    const char *list = s;
    size_t first = r->spellings.n;
    bool nomem = false;
    r->p->has_vtables = true;
    for (s = skip_blanks(s, end); s < end; s = skip_blanks(s, end)) {
        uint64_t count;
        const char *colon = find(s, end, ':');
        const char *stop = colon ? end_of_count(colon + 1, end, &count) : NULL;
        if (!stop)
            return reject(r, s, end, "vtable", "NAME:COUNT");
        PGK_TRY(put_named(r, slot, loc, PGK_REC_VTABLE, s, colon, count));
        s = stop;
    }
    if (any_twice(r, first, &nomem))
        return reject(r, list, end, "vtables", "each type once on a line");
    return nomem ? pgk_fail_nomem(r->err) : 0;
}

static int read_inlinee(struct reader *r, const char *s, const char *end, uint32_t slot,
                        uint64_t loc)
{
    uint64_t total;
    const char *colon = find_last(s, end, ':');
    if (!colon || !parse_number(colon + 1, end, &total))
        return reject(r, s, end, "inlinee", "NAME:SAMPLES");
    if (r->stage->slots.v[slot].depth >= PGK_SAMPLE_MAX_DEPTH)
        return reject(r, s, end, "inlinee", "nesting of at most 1000 levels");
    uint32_t name = put_spelling(r, s, colon);
    uint32_t inlinee = name == UINT32_MAX ? PGK_STAGE_NONE
                                          : pgk_stage_inlinee(r->stage, slot, loc, name);
    if (inlinee == PGK_STAGE_NONE || !pgk_vec_push(&r->open, inlinee))
        return pgk_fail_nomem(r->err);
    r->stage->slots.v[inlinee].total = total;
    r->metadata_depth = 0;
    return 0;
}

static bool starts_with(const char *s, const char *end, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(end - s) >= n && !memcmp(s, text, n);
}

static int metadata_number(struct reader *r, const char *s, const char *end, uint64_t highest,
                           uint64_t *v)
{
    s = skip_blanks(s, end);
    while (end > s && end[-1] == ' ')
        end--;
    if (parse_number(s, end, v) && *v <= highest)
        return 0;
    return reject(r, s, end, "value",
                  highest == UINT32_MAX ? "a decimal number up to 4294967295" : A_COUNT);
}

/* LLVM lets every line of metadata clear the attributes, so that their order decides; here
 * only the line of attributes sets them. */
static int read_metadata(struct reader *r, const char *s, const char *end, size_t depth)
{
    static const char checksum[] = "!CFGChecksum:", attributes[] = "!Attributes:";
    struct pgk_stage_node *n = &r->stage->slots.v[r->open.v[r->open.n - 1]];
    uint64_t v;
    if (starts_with(s, end, checksum)) {
        PGK_TRY(metadata_number(r, s + strlen(checksum), end, UINT64_MAX, &v));
        if (v)
            n->checksum = v;
    } else if (starts_with(s, end, attributes)) {
        PGK_TRY(metadata_number(r, s + strlen(attributes), end, UINT32_MAX, &v));
        n->attributes = (uint32_t)v;
    } else if (depth != 1 || end - s != 5 || memcmp(s, "!Flat", 5)) {
        return reject(r, s, end, "metadata",
                      "!CFGChecksum: NUMBER, !Attributes: NUMBER or, of a function, !Flat");
    }
    r->metadata_depth = depth;
    return 0;
}

static int parse_loc(struct reader *r, const char *s, const char *end, uint64_t *loc)
{
    uint64_t line, discriminator = 0;
    const char *dot = find(s, end, '.');
    if (!parse_number(s, dot ? dot : end, &line) || line > PGK_SAMPLE_MAX_LINE)
        return reject(r, s, end, "line offset", "a decimal number up to 65535");
    if (dot && (!parse_number(dot + 1, end, &discriminator) || discriminator > UINT32_MAX))
        return reject(r, dot + 1, end, "discriminator", "a decimal number up to 4294967295");
    *loc = pgk_sample_loc((uint32_t)line, (uint32_t)discriminator);
    return 0;
}

/* A GUID where the name of an inlinee stands: LLVM prints such lines and cannot read them. */
static bool is_guid_inlinee(const char *s, const char *end)
{
    uint64_t guid;
    const char *colon = find(s, end, ':');
    return colon && colon - s <= 20 && pgk_sample_name_is_guid(s, (size_t)(colon - s), &guid) &&
           !find(s, end, ' ');
}

static int read_indented(struct reader *r, const char *s, const char *end)
{
    size_t depth = (size_t)(s - r->line);
    uint64_t loc = 0;
    if (!r->open.n)
        return reject(r, s, end, "head of a function", "NAME:TOTAL:HEAD in the first column");
    if (r->open.n > depth)
        r->open.n = depth;
    if (*s == '!')
        return read_metadata(r, s, end, depth);
    if (depth == r->metadata_depth)
        return reject(r, s, end, "line", "no samples after the metadata of a function");
    const char *colon = find(s, end, ':');
    if (!colon)
        return reject(r, s, end, "line", "LINE: SAMPLES or LINE: INLINEE:SAMPLES");
    PGK_TRY(parse_loc(r, s, colon, &loc));
    uint32_t slot = r->open.v[r->open.n - 1];
    s = end - colon > 1 ? colon + 2 : end; /* any one character stands between */
    if (s < end && is_digit(*s) && !is_guid_inlinee(s, end))
        return read_body(r, s, end, slot, loc);
    if (starts_with(s, end, "vtables "))
        return read_vtables(r, s + strlen("vtables "), end, slot, loc);
    return read_inlinee(r, s, end, slot, loc);
}

/* "LINE: SAMPLES" or "LINE.DISCRIMINATOR: SAMPLES", as most lines are, in one go: where the
 * number ends, which must be a blank or the end of the line. NULL if the line is any other or
 * odd in any way. */
static const char *take_body(const char *s, const char *end, uint64_t *loc, uint64_t *count)
{
    uint64_t line, discriminator = 0;
    s = take_digits(s, end, 5, &line);
    if (s && s < end && *s == '.')
        s = take_digits(s + 1, end, 9, &discriminator);
    if (!s || line > PGK_SAMPLE_MAX_LINE || end - s < 2 || s[0] != ':' || s[1] != ' ')
        return NULL;
    *loc = pgk_sample_loc((uint32_t)line, (uint32_t)discriminator);
    s = take_digits(s + 2, end, SAFE_DIGITS, count);
    return s && s < end && (*s == ' ' || *s == '\n') ? s : NULL;
}

/* ---- files ---- */

static const char *end_of_line(const char *s, const char *end, const char **next)
{
    const char *newline = find(s, end, '\n');
    *next = newline ? newline + 1 : end;
    end = newline ? newline : end;
    return end > s && end[-1] == '\r' ? end - 1 : end;
}

/* Reads a line of samples and sets where the next one begins; leaves *next alone if the line is
 * not for it. */
static int read_plain(struct reader *r, const char **next)
{
    uint64_t loc = 0, count = 0;
    const char *s = skip_blanks(r->line, r->end);
    size_t depth = (size_t)(s - r->line);
    const char *stop = depth && r->open.n && depth != r->metadata_depth
                           ? take_body(s, r->end, &loc, &count) : NULL;
    if (!stop)
        return 0;
    if (r->open.n > depth)
        r->open.n = depth;
    uint32_t slot = r->open.v[r->open.n - 1];
    PGK_TRY(put_record(r, slot, loc, PGK_REC_BODY, count));
    if (*stop == '\n') {
        *next = stop + 1;
        return 0;
    }
    const char *end = end_of_line(stop, r->end, next);
    return read_targets(r, stop, end, slot, loc);
}

/* The next line, which a head must have; sets the start of the line after it. */
static int take_line(struct reader *r, const char **s, const char **end, const char *expected)
{
    const char *newline = find(r->line, r->end, '\n');
    r->line_number++;
    if (!newline)
        return reject(r, r->line, r->end, "head of a partial profile", expected);
    *s = r->line;
    *end = newline;
    r->line = newline + 1;
    return 0;
}

static int read_marks(struct reader *r, const char *s, const char *end)
{
    static const char start[] = "marks:", expected[] = "marks: with marks that are known";
    if (!starts_with(s, end, start))
        return reject(r, s, end, "head of a partial profile", expected);
    for (s = skip_blanks(s + strlen(start), end); s < end; s = skip_blanks(s, end)) {
        const char *blank = find(s, end, ' '), *stop = blank ? blank : end;
        if (!pgk_sample_partial_mark(r->p, &r->kind, s, (size_t)(stop - s)))
            return reject(r, s, stop, "marks", "one that this release of pgokit knows");
        s = stop;
    }
    return 0;
}

static int read_origins(struct reader *r)
{
    const char *s = r->line, *end = s, *file;
    uint64_t n, first_run;
    PGK_TRY(take_line(r, &s, &end, PGK_SAMPLE_PARTIAL_ORIGINS "NUMBER"));
    if (!parse_number(s + strlen(PGK_SAMPLE_PARTIAL_ORIGINS), end, &n))
        return reject(r, s, end, "number of origins", PGK_SAMPLE_PARTIAL_ORIGINS "NUMBER");
    for (; n; n--) {
        PGK_TRY(take_line(r, &s, &end, "a function"));
        uint32_t name = pgk_sample_name(r->p, s, (size_t)(end - s));
        PGK_TRY(take_line(r, &s, &end, "a time and a file"));
        if (!pgk_sample_partial_origin(s, end, &first_run, &file))
            return reject(r, s, end, "origin", "TIME =FILE, TIME * or TIME and a blank");
        bool several = file < end && *file == '*', one = file < end && *file == '=';
        if (!name || (several && !pgk_sample_add_files(r->p, name)) ||
            !pgk_sample_add_origin(r->p, name, file + one, one ? (size_t)(end - file) - 1 : 0,
                                   first_run))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

/* docs/formats/sample-text.md "Partial profiles" */
static int read_partial_head(struct reader *r)
{
    static const char symbols[] = "symbols: ";
    const char *s = r->line, *end = s;
    uint64_t n;
    PGK_TRY(take_line(r, &s, &end, PGK_SAMPLE_PARTIAL_HEAD));
    PGK_TRY(take_line(r, &s, &end, "marks"));
    PGK_TRY(read_marks(r, s, end));
    PGK_TRY(take_line(r, &s, &end, "symbols: NUMBER"));
    if (!starts_with(s, end, symbols) || !parse_number(s + strlen(symbols), end, &n))
        return reject(r, s, end, "number of symbols", "symbols: NUMBER");
    for (; n; n--) {
        PGK_TRY(take_line(r, &s, &end, "a symbol"));
        if (!pgk_sample_add_symbol(r->p, s, (size_t)(end - s)))
            return pgk_fail_nomem(r->err);
    }
    return r->line < r->end && starts_with(r->line, r->end, PGK_SAMPLE_PARTIAL_ORIGINS)
               ? read_origins(r)
               : 0;
}

static int read_lines(struct reader *r)
{
    if (pgk_sample_is_partial(r->line, r->end))
        PGK_TRY(read_partial_head(r));
    for (const char *next; r->line < r->end; r->line = next) {
        next = NULL;
        r->line_number++;
        PGK_TRY(read_plain(r, &next));
        if (next)
            continue;
        const char *end = end_of_line(r->line, r->end, &next);
        const char *s = skip_blanks(r->line, end);
        if (s == end || *s == '#')
            continue;
        PGK_TRY(s == r->line ? read_header(r, s, end) : read_indented(r, s, end));
    }
    PGK_TRY(end_function(r));
    PGK_TRY(commit_pending(r));
    if (!r->kind.known) /* nothing is of any kind */
        return 0;
    return pgk_sample_set_kind(r->p, r->kind.contexts, r->kind.probes, r->src->file, r->err);
}

bool pgk_sample_text_sniff(const uint8_t *bytes, size_t size)
{
    const char *s = (const char *)bytes, *end = s + size;
    if (pgk_sample_is_partial(s, end))
        return true;
    while (s < end) {
        const char *newline = find(s, end, '\n'), *line_end = newline ? newline : end;
        const char *text = skip_blanks(s, line_end);
        s = newline ? newline + 1 : end;
        if (line_end > text && line_end[-1] == '\r')
            line_end--;
        struct header h;
        if (text < line_end && *text != '#')
            return (text == (const char *)bytes || text[-1] != ' ') &&
                   parse_header(text, line_end, &h);
    }
    return false;
}

int pgk_sample_text_read(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                         const struct pgk_source *src, uint64_t weight, struct pgk_err *err)
{
    const char *text = (const char *)bytes;
    struct reader r = {.p = p, .src = src, .start = text, .end = text + size, .line = text,
                       .weight = weight, .err = err};
    int status = read_lines(&r);
    for (size_t i = 0; i < MOST_PENDING; i++)
        pgk_stage_free(&r.pending[i].stage);
    pgk_vec_free(&r.spellings);
    pgk_vec_free(&r.open);
    pgk_vec_free(&r.frames);
    return status;
}
