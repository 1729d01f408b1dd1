/* Reads records of what compiles used: lines of words. */
#include "use_record.h"

#include <stdlib.h>

static const struct {
    const char *name, *meaning;
} uses[PGK_USES] = {
    [PGK_USE_COMPARED] = {"compared", "a link compares the virtual table"},
    [PGK_USE_HINTED] = {"hinted", "the call that allocates has its hint"},
    [PGK_USE_GIVEN] = {"given", "the compiler knows the type; no link compares it"},
    [PGK_USE_IN_LINK] = {"left to link", "callers differ, and the link gave no hint"},
    [PGK_USE_LOCAL_TABLE] = {"local table", "of another module, which this one cannot name"},
    [PGK_USE_CALLERS] = {"callers differ", "which only a link with LTO distinguishes"},
    [PGK_USE_BY_NAME] = {"called by name", "a call that compilers may not replace"},
    [PGK_USE_RARE] = {"rare type", "less than a twentieth of the call"},
    [PGK_USE_MANY] = {"many types", "more types than the compiler looks at"},
    [PGK_USE_TAKEN] = {"has types", "of another call, or of an instrumented profile"},
    [PGK_USE_OTHER_CALLER] = {"other callers", "the call is there, inlined elsewhere"},
    [PGK_USE_NO_PLACE] = {"no line", "the function has such calls without a line"},
    [PGK_USE_NO_CALL] = {"no such call", "the function is there, its line has none"},
    [PGK_USE_NO_FUNCTION] = {"no function", "in no module that was compiled"},
    [PGK_USE_SHORT_LIVED] = {"short-lived", "objects live too short to be cold"},
    [PGK_USE_ACCESSED] = {"accessed", "objects are accessed too often to be cold"},
    [PGK_USE_UNKNOWN] = {"not known", "how often objects are accessed"},
    [PGK_USE_UNDECIDED] = {"undecided", "more samples are needed to know whether it is cold"},
};

const char *pgk_use_name(enum pgk_use use)
{
    return use < PGK_USES ? uses[use].name : "";
}

const char *pgk_use_meaning(enum pgk_use use)
{
    return use < PGK_USES ? uses[use].meaning : "";
}

void pgk_use_record_free(struct pgk_use_record *r)
{
    pgk_vec_free(&r->lines);
    pgk_vec_free(&r->hinted);
    pgk_vec_free(&r->compared);
}

/* ---- lines ---- */

struct reading {
    struct pgk_use_record *r;
    struct pgk_source src;
    uint64_t offset; /* of the line */
    char line[256];
    bool ended;
    struct pgk_err *err;
};

static int refuse(const struct reading *in, const char *field, const char *expected)
{
    return pgk_fail(in->err, PGK_E_CORRUPT, .file = in->src.file, .format = in->src.format,
                    .offset = &in->offset, .field = field, .found = in->line,
                    .expected = expected, .hint = "remove the file and compile the module again");
}

/* Takes a word from the front; false if there is none. */
static bool take_word(char **at, char **word)
{
    *word = *at;
    size_t n = strcspn(*at, " ");
    *at += n;
    if (**at)
        *(*at)++ = '\0';
    return n != 0;
}

static bool take_number(char **at, int base, uint64_t *number)
{
    char *word, *end;
    if (!take_word(at, &word) || *word == '-' || *word == '+')
        return false;
    *number = strtoull(word, &end, base);
    return !*end;
}

static bool take_real(char **at, double *number)
{
    char *word, *end;
    if (!take_word(at, &word))
        return false;
    *number = strtod(word, &end);
    return !*end;
}

static bool take_limits(char *at, struct pgk_use_limits *limits)
{
    limits->struct_size = sizeof *limits;
    return take_real(&at, &limits->cold_lifetime) && take_real(&at, &limits->cold_share) &&
           take_real(&at, &limits->cold_density) && take_real(&at, &limits->hot_density) && !*at;
}

static int take_profile(struct reading *in, char *at)
{
    static const char *const kinds[] = {"heap", "types", "link"};
    char *word;
    if (!take_word(&at, &word))
        return refuse(in, "profile", "what the record is of");
    for (in->r->kind = 0; strcmp(word, kinds[in->r->kind]) != 0;)
        if (++in->r->kind > PGK_USE_OF_LINK)
            return refuse(in, "profile", "heap, types or link");
    if (!take_number(&at, 10, &in->r->items) || !take_number(&at, 10, &in->r->weight) || *at)
        return refuse(in, "profile", "two numbers behind the kind");
    return 0;
}

static int take_use(struct reading *in, char *at)
{
    struct pgk_use_line line = {0};
    uint64_t use;
    if (!take_number(&at, 10, &use) || use >= PGK_USES || !take_number(&at, 16, &line.key) ||
        !take_number(&at, 16, &line.place) || *at)
        return refuse(in, "use", "an outcome, a key and a place");
    line.use = (uint8_t)use;
    return pgk_vec_push(&in->r->lines, line) ? 0 : pgk_fail_nomem(in->err);
}

static int take_place(struct reading *in, char *at, bool hinted)
{
    uint64_t place;
    if (!take_number(&at, 16, &place) || *at)
        return refuse(in, hinted ? "hinted" : "compared", "a place");
    bool added = hinted ? pgk_vec_push(&in->r->hinted, place)
                        : pgk_vec_push(&in->r->compared, place);
    return added ? 0 : pgk_fail_nomem(in->err);
}

static int take_line(struct reading *in)
{
    char copy[sizeof in->line], *at = memcpy(copy, in->line, sizeof copy), *word;
    struct pgk_use_record *r = in->r;
    if (!take_word(&at, &word))
        return refuse(in, "line", "a word");
    if (!strcmp(word, "module"))
        return 0;
    if (!strcmp(word, "profile"))
        return take_profile(in, at);
    if (!strcmp(word, "use"))
        return take_use(in, at);
    if (!strcmp(word, "hinted") || !strcmp(word, "compared"))
        return take_place(in, at, *word == 'h');
    if (!strcmp(word, "limits"))
        return take_limits(at, &r->limits) ? 0 : refuse(in, "limits", "four numbers");
    if (!strcmp(word, "calls"))
        return take_number(&at, 10, &r->given) && take_number(&at, 10, &r->missed) &&
                       take_number(&at, 10, &r->unlocated) && !*at
                   ? 0
                   : refuse(in, "calls", "three numbers");
    in->ended = !strcmp(word, "end");
    return in->ended ? 0 : refuse(in, "line", "module, profile, limits, calls, use or end");
}

static const char first_line[] = "pgokit-use-record 1";

int pgk_use_record_read(struct pgk_use_record *r, const uint8_t *bytes, size_t size,
                        const struct pgk_source *src, struct pgk_err *err)
{
    struct reading in = {.r = r, .src = *src, .err = err};
    for (size_t at = 0; at < size;) {
        const uint8_t *newline = memchr(bytes + at, '\n', size - at);
        size_t n = newline ? (size_t)(newline - bytes) - at : size - at;
        size_t kept = n < sizeof in.line ? n : sizeof in.line - 1;
        memset(in.line, 0, sizeof in.line);
        memcpy(in.line, bytes + at, kept);
        in.offset = src->base_off + at;
        if (!at && strcmp(in.line, first_line) != 0)
            return refuse(&in, "first line", first_line);
        if (in.ended)
            return refuse(&in, "line", "nothing behind the end");
        PGK_TRY(at ? take_line(&in) : 0);
        at += n + (newline != NULL);
    }
    in.offset = src->base_off + size;
    if (in.ended)
        return 0;
    return pgk_fail(err, PGK_E_TRUNCATED, .file = src->file, .format = src->format,
                    .offset = &in.offset, .field = "end", .found = "the file ends before its end",
                    .expected = "a last line \"end\"",
                    .hint = "remove the file and compile the module again");
}
