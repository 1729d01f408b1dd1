/* Reading sample profiles as text. The rules for odd lines are those of llvm-profdata 22; see
 * docs/formats/sample-text.md. */
#include "sample_text.h"

#include "sample_format.h"
#include "sample_stage.h"

#include <inttypes.h>
#include <stdlib.h>

struct target {
    uint64_t count;
    uint32_t name;
    uint32_t nth; /* on its line */
};

/* What a line says of a slot. Names are looked up together when the function is complete:
 * until then they are numbers of spellings, in the slots, too. */
enum entry_kind { BODY, TARGET, VTABLE };
struct entry {
    uint64_t loc, count;
    uint32_t slot;
    uint32_t name; /* of a target: its spelling; of a vtable: its id */
    enum entry_kind kind;
};

struct reader {
    struct pgk_sample *p;
    const struct pgk_source *src;
    const char *start, *end;
    uint64_t weight;
    struct pgk_err *err;
    /* the line being read */
    const char *line;
    uint64_t line_number;
    /* the function being read */
    struct pgk_sample_stage stage;
    struct pgk_stage_place place;
    PGK_VEC(struct pgk_spelling) spellings;
    PGK_VEC(struct entry) entries;
    PGK_VEC(uint32_t) open;    /* slots of the nesting: open.v[d - 1] has depth d */
    size_t metadata_depth;     /* of the last line, if it was metadata; else 0 */
    PGK_VEC(struct target) targets;
    PGK_VEC(struct pgk_sample_frame) frames;
    bool contexts, probes;
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
                    .hint = "correct the line, or make the profile anew");
}

/* ---- pieces of lines ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* All of the bytes as a decimal number. */
static bool parse_number(const char *s, const char *end, uint64_t *v)
{
    uint64_t n = 0;
    if (s == end)
        return false;
    bool safe = end - s <= 19;
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

static bool put_entry(struct reader *r, uint32_t slot, uint64_t loc, enum entry_kind kind,
                      uint32_t name, uint64_t count)
{
    return pgk_vec_push(&r->entries, (struct entry){.loc = loc, .count = count, .slot = slot,
                                                    .name = name, .kind = kind});
}

/* The number of the spelling; UINT32_MAX when out of memory. */
static uint32_t put_spelling(struct reader *r, const char *s, const char *end)
{
    struct pgk_spelling spelling = {.s = s, .len = (size_t)(end - s)};
    if (r->spellings.n == UINT32_MAX || !pgk_vec_push(&r->spellings, spelling))
        return UINT32_MAX;
    return (uint32_t)r->spellings.n - 1;
}

static int compare_targets(const void *pa, const void *pb)
{
    const struct target *a = pa, *b = pb;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return a->nth < b->nth ? -1 : a->nth > b->nth;
}

static void sort_targets(struct target *v, size_t n)
{
    enum { FEW = 16 };
    if (n > FEW) {
        qsort(v, n, sizeof *v, compare_targets);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct target moving = v[i];
        size_t k = i;
        for (; k && compare_targets(&v[k - 1], &moving) > 0; k--)
            v[k] = v[k - 1];
        v[k] = moving;
    }
}

/* Of a target that a line names twice, the last count is meant. */
static void drop_repeated(struct reader *r)
{
    struct target *v = r->targets.v;
    size_t kept = 0;
    if (r->targets.n < 2)
        return;
    sort_targets(v, r->targets.n);
    for (size_t i = 0; i < r->targets.n; i++)
        if (i + 1 == r->targets.n || v[i].name != v[i + 1].name)
            v[kept++] = v[i];
    r->targets.n = kept;
}

/* Stages the targets of the line whose first entry is i, and returns where they end. */
static bool stage_targets(struct reader *r, size_t *i)
{
    const struct entry first = r->entries.v[*i];
    r->targets.n = 0;
    for (; *i < r->entries.n && r->entries.v[*i].kind == TARGET; ++*i) {
        const struct entry *e = &r->entries.v[*i];
        if (!pgk_vec_push(&r->targets, (struct target){.count = e->count,
                                                       .name = r->spellings.v[e->name].id,
                                                       .nth = (uint32_t)r->targets.n}))
            return false;
    }
    drop_repeated(r);
    for (size_t k = 0; k < r->targets.n; k++)
        if (!pgk_stage_add(&r->stage, first.slot, first.loc, r->targets.v[k].name,
                           r->targets.v[k].count))
            return false;
    return true;
}

static bool stage_entries(struct reader *r)
{
    for (size_t i = 0; i < r->entries.n;) {
        const struct entry *e = &r->entries.v[i];
        if (e->kind == TARGET) {
            if (!stage_targets(r, &i))
                return false;
            continue;
        }
        uint32_t what = e->kind == BODY ? PGK_REC_BODY : e->name | PGK_REC_VTABLE;
        if (!pgk_stage_add(&r->stage, e->slot, e->loc, what, e->count))
            return false;
        i++;
    }
    return true;
}

/* Names and records of the function that has been read. False when out of memory. */
static bool complete(struct reader *r)
{
    if (!pgk_sample_names_add_many(&r->p->names, r->spellings.v, r->spellings.n))
        return false;
    for (uint32_t slot = 0; slot < r->stage.n; slot++)
        r->stage.slots.v[slot].name = r->spellings.v[r->stage.slots.v[slot].name].id;
    if (!stage_entries(r))
        return false;
    r->spellings.n = r->entries.n = 0;
    return true;
}

/* ---- functions ---- */

static int commit(struct reader *r)
{
    if (!r->open.n)
        return 0;
    r->open.n = 0;
    r->probes |= r->stage.slots.v[0].checksum != 0;
    if (!complete(r))
        return pgk_fail_nomem(r->err);
    return pgk_stage_commit(&r->stage, r->p, r->place, r->weight, r->err);
}

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

/* "main:3 @ parse:1.2 @ peek": sets the place, gives the leaf's name. */
/* Sets the place, and where the name of the innermost frame stands. */
static int parse_context(struct reader *r, const char *s, const char *end, const char **name,
                         const char **name_end)
{
    for (r->frames.n = 0;;) {
        const char *at = find_separator(s, end);
        const char *frame_end = at ? at : end, *colon = find(s, frame_end, ':');
        *name = s;
        *name_end = colon ? colon : frame_end;
        struct pgk_sample_frame frame = {
            .name = pgk_sample_name(r->p, s, (size_t)(*name_end - s)),
            .loc = colon ? parse_frame_loc(colon + 1, frame_end) : 0};
        if (!frame.name || !pgk_vec_push(&r->frames, frame))
            return pgk_fail_nomem(r->err);
        if (!at || at + 3 >= end)
            break;
        if (r->frames.n >= PGK_SAMPLE_MAX_DEPTH)
            return reject(r, s, end, "context", "at most 1000 frames");
        s = at + 3;
    }
    uint32_t context = pgk_sample_context_of(r->p, r->frames.v, r->frames.n);
    if (!context)
        return pgk_fail_nomem(r->err);
    r->place = pgk_stage_place_of(r->p, context);
    return 0;
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
    PGK_TRY(commit(r));
    if (!parse_header(s, end, &h))
        return reject(r, s, end, "head of a function", "NAME:TOTAL:HEAD in the first column");
    r->place = (struct pgk_stage_place){0};
    if (*s == '[') {
        r->contexts = true;
        if (h.name_end - s < 3)
            return reject(r, s, end, "context", "[FUNCTION] or [FUNCTION:LINE @ FUNCTION]");
        PGK_TRY(parse_context(r, s + 1, h.name_end - 1, &s, &h.name_end));
    }
    uint32_t name = put_spelling(r, s, h.name_end);
    if (name == UINT32_MAX || !pgk_stage_begin(&r->stage, name) || !pgk_vec_push(&r->open, 0))
        return pgk_fail_nomem(r->err);
    r->stage.slots.v[0].total = h.total;
    r->stage.slots.v[0].head = h.head;
    r->metadata_depth = 0;
    return 0;
}

/* ---- lines of a function ---- */

/* Names may hold blanks and colons: a name ends at the first colon that a number follows. */
static const char *end_of_target(const char *s, const char *end, const char **number_end,
                                 uint64_t *count)
{
    const char *stop = s;
    for (const char *colon = find(s, end, ':'); colon; colon = find(colon + 1, end, ':')) {
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
        uint32_t spelling = put_spelling(r, name, colon);
        if (spelling == UINT32_MAX || !put_entry(r, slot, loc, TARGET, spelling, count))
            return pgk_fail_nomem(r->err);
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
    if (!put_entry(r, slot, loc, BODY, 0, count))
        return pgk_fail_nomem(r->err);
    return blank ? read_targets(r, blank, end, slot, loc) : 0;
}

static int read_vtables(struct reader *r, const char *s, const char *end, uint32_t slot,
                        uint64_t loc)
{
    const char *list = s;
    r->p->has_vtables = true;
    r->targets.n = 0;
    for (s = skip_blanks(s, end); s < end; s = skip_blanks(s, end)) {
        uint64_t count;
        const char *colon = find(s, end, ':');
        const char *blank = colon ? find(colon, end, ' ') : NULL, *stop = blank ? blank : end;
        if (!colon || !parse_number(colon + 1, stop, &count))
            return reject(r, s, end, "vtable", "NAME:COUNT");
        uint32_t id = pgk_sample_name(r->p, s, (size_t)(colon - s));
        struct target target = {.name = id, .nth = (uint32_t)r->targets.n};
        if (!id || !pgk_vec_push(&r->targets, target) ||
            !put_entry(r, slot, loc, VTABLE, id, count))
            return pgk_fail_nomem(r->err);
        s = stop;
    }
    size_t n = r->targets.n;
    drop_repeated(r);
    return r->targets.n == n ? 0 : reject(r, list, end, "vtables", "each type once on a line");
}

static int read_inlinee(struct reader *r, const char *s, const char *end, uint32_t slot,
                        uint64_t loc)
{
    uint64_t total;
    const char *colon = find_last(s, end, ':');
    if (!colon || !parse_number(colon + 1, end, &total))
        return reject(r, s, end, "inlinee", "NAME:SAMPLES");
    if (r->stage.slots.v[slot].depth >= PGK_SAMPLE_MAX_DEPTH)
        return reject(r, s, end, "inlinee", "nesting of at most 1000 levels");
    uint32_t name = put_spelling(r, s, colon);
    uint32_t inlinee = name == UINT32_MAX ? PGK_STAGE_NONE
                                          : pgk_stage_inlinee(&r->stage, slot, loc, name);
    if (inlinee == PGK_STAGE_NONE || !pgk_vec_push(&r->open, inlinee))
        return pgk_fail_nomem(r->err);
    r->stage.slots.v[inlinee].total = total;
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
    struct pgk_stage_node *n = &r->stage.slots.v[r->open.v[r->open.n - 1]];
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
        return reject(r, s, end, "line", "no samples behind the metadata of a function");
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

/* ---- files ---- */

static int read_lines(struct reader *r)
{
    for (const char *next; r->line < r->end; r->line = next) {
        const char *newline = find(r->line, r->end, '\n'), *end = newline ? newline : r->end;
        next = newline ? newline + 1 : r->end;
        r->line_number++;
        if (end > r->line && end[-1] == '\r')
            end--;
        const char *s = skip_blanks(r->line, end);
        if (s == end || *s == '#')
            continue;
        PGK_TRY(s == r->line ? read_header(r, s, end) : read_indented(r, s, end));
    }
    PGK_TRY(commit(r));
    return pgk_sample_set_kind(r->p, r->contexts, r->probes, r->src->file, r->err);
}

bool pgk_sample_text_sniff(const uint8_t *bytes, size_t size)
{
    const char *s = (const char *)bytes, *end = s + size;
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
    pgk_stage_free(&r.stage);
    pgk_vec_free(&r.spellings);
    pgk_vec_free(&r.entries);
    pgk_vec_free(&r.open);
    pgk_vec_free(&r.targets);
    pgk_vec_free(&r.frames);
    return status;
}
