/* Reader of .gcda and .gcno files of gcc 12 to 16. docs/formats/gcov.md */
#include "gcov_model.h"

#include "format_row.h"
#include "gcov.def"
#include "hash.h"

#include <inttypes.h>
#include <stdlib.h>

enum { TAG_FUNCTION = 0x01000000, TAG_COUNTERS = 0x01a10000, FUNCTION_BYTES = 12 };
#define TAG_SUMMARY UINT32_C(0xa1000000)
#define RELEASES PGK_VERSION_TEXT(PGK_GCOV_OLDEST) " to " PGK_VERSION_TEXT(PGK_GCOV_NEWEST)

struct reader {
    struct pgk_gcov *g;
    struct pgk_cursor *c;
    struct pgk_err *err;
    uint64_t weight;
    bool notes;
    size_t zeros; /* counters without bytes so far */
    size_t next;  /* the function that probably comes next */
    PGK_VEC(struct pgk_gcov_value) values;
};

bool pgk_gcov_sniff(const uint8_t *bytes, size_t size)
{
    uint32_t magic;
    if (size < sizeof magic)
        return false;
    memcpy(&magic, bytes, sizeof magic);
    return magic == PGK_GCDA_MAGIC || magic == PGK_GCNO_MAGIC;
}

/* ---- numbers ---- */

static int64_t add_times(int64_t a, int64_t b, uint64_t weight)
{
    int64_t product, sum;
    if (weight > INT64_MAX || __builtin_mul_overflow(b, (int64_t)weight, &product))
        product = b < 0 ? INT64_MIN : INT64_MAX;
    if (__builtin_add_overflow(a, product, &sum))
        sum = a < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

static int64_t merge_count(enum pgk_gcov_kind kind, int64_t a, int64_t b, uint64_t weight)
{
    switch (pgk_gcov_merging(kind)) {
    case PGK_GCOV_OR_BITS:
        return a | b;
    case PGK_GCOV_EARLIEST:
        return !a || (b && b < a) ? b : a;
    default:
        return add_times(a, b, weight);
    }
}

/* ---- lists ---- */

static int by_value(const void *a, const void *b)
{
    const struct pgk_gcov_value *x = a, *y = b;
    return x->value < y->value ? -1 : x->value > y->value;
}

static int by_count(const void *a, const void *b)
{
    const struct pgk_gcov_value *x = a, *y = b;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return by_value(a, b);
}

/* Lists come together in r->values, values that occur twice too. */
static int merge_list(struct reader *r, struct pgk_gcov_list *l)
{
    struct pgk_gcov_value *v = r->values.v;
    size_t n = 0;
    if (r->values.n)
        qsort(v, r->values.n, sizeof *v, by_value);
    for (size_t i = 0; i < r->values.n; i++) {
        if (n && v[n - 1].value == v[i].value)
            v[n - 1].count = add_times(v[n - 1].count, v[i].count, 1);
        else
            v[n++] = v[i];
    }
    if (n)
        qsort(v, n, sizeof *v, by_count);
    if (n > l->n) {
        l->v = pgk_arena_alloc(&r->g->arena, n, sizeof *l->v);
        if (!l->v)
            return pgk_fail_nomem(r->err);
    }
    if (n)
        memcpy(l->v, v, n * sizeof *v);
    l->n = (uint32_t)n;
    return 0;
}

static int read_list(struct reader *r, struct pgk_cursor *c, struct pgk_gcov_list *l,
                     const char *record)
{
    int64_t total = (int64_t)pgk_cur_u64(c, "total");
    uint64_t n = pgk_cur_count(c, 16, "number of values");
    PGK_TRY(pgk_cur_check(c, r->err, record));
    r->values.n = 0;
    if (!pgk_vec_reserve(&r->values, l->n + n))
        return pgk_fail_nomem(r->err);
    if (l->n)
        memcpy(r->values.v, l->v, l->n * sizeof *l->v);
    r->values.n = l->n;
    for (uint64_t i = 0; i < n; i++) {
        int64_t value = (int64_t)pgk_cur_u64(c, "value"), count = (int64_t)pgk_cur_u64(c, "count");
        r->values.v[r->values.n++] = (struct pgk_gcov_value){value, add_times(0, count, r->weight)};
    }
    uint64_t reached = total < 0 ? 0 - (uint64_t)total : (uint64_t)total;
    l->total = (uint64_t)add_times((int64_t)l->total,
                                   reached > INT64_MAX ? INT64_MAX : (int64_t)reached, r->weight);
    l->cut |= total < 0;
    return merge_list(r, l);
}

/* ---- functions ---- */

static const char *function_text(char buf[64], const struct pgk_gcov_func *f)
{
    return pgk_format(buf, 64, "function %u %.40s", f->ident, f->name ? f->name : "");
}

/* The number of functions if there is none. */
static size_t lookup(const struct pgk_gcov *g, uint32_t ident)
{
    PGK_INDEX_FOR (&g->by_ident, pgk_hash_u64(ident), i)
        if (g->funcs.v[i].ident == ident)
            return i;
    return g->funcs.n;
}

/* The function of an input; a new one is added if it is not in conflict with the files before. */
static int find_function(struct reader *r, const uint32_t id[3], uint64_t at,
                         struct pgk_gcov_func **f)
{
    struct pgk_gcov *g = r->g;
    size_t i = r->next;
    if (i >= g->funcs.n || g->funcs.v[i].ident != id[0])
        i = lookup(g, id[0]);
    if (i == g->funcs.n &&
        (!pgk_vec_push(&g->funcs, (struct pgk_gcov_func){.ident = id[0],
                                                         .lineno_checksum = id[1],
                                                         .cfg_checksum = id[2]}) ||
         !pgk_index_add(&g->by_ident, pgk_hash_u64(id[0]), (uint32_t)i)))
        return pgk_fail_nomem(r->err);
    *f = &g->funcs.v[i];
    r->next = i + 1;
    if ((*f)->lineno_checksum == id[1] && (*f)->cfg_checksum == id[2])
        return 0;
    return pgk_cur_reject(r->c, r->err, PGK_E_MISMATCH, at, .record = PGK_F("function %u", id[0]),
                          .field = "checksum", .found = PGK_F("0x%08x 0x%08x", id[1], id[2]),
                          .expected = PGK_F("0x%08x 0x%08x, as in %s", (*f)->lineno_checksum,
                                            (*f)->cfg_checksum, g->first_file),
                          .hint = "the source has changed between the files");
}

/* gcc merges what it finds under a number of counters, so that this must not change. */
static int fail_shape(struct reader *r, const struct pgk_gcov_func *f, enum pgk_gcov_kind kind,
                      uint64_t at, size_t found)
{
    char record[64];
    return pgk_cur_reject(r->c, r->err, PGK_E_MISMATCH, at, .record = function_text(record, f),
                          .field = pgk_gcov_kind_name(kind), .found = PGK_F("%zu", found),
                          .expected = PGK_F("%u, as in %s", f->kind[kind].n, r->g->first_file),
                          .hint = "the source has changed between the files");
}

static int read_plain(struct reader *r, struct pgk_gcov_func *f, enum pgk_gcov_kind kind,
                      struct pgk_cursor *c, size_t words)
{
    struct pgk_gcov_counters *k = &f->kind[kind];
    uint64_t at = pgk_cur_off(c);
    if (!k->present) {
        k->v = pgk_arena_alloc(&r->g->arena, words + 1, sizeof *k->v);
        if (!k->v)
            return pgk_fail_nomem(r->err);
        memset(k->v, 0, (words + 1) * sizeof *k->v);
        k->n = (uint32_t)words;
        k->present = true;
    }
    if (k->n != words)
        return fail_shape(r, f, kind, at, words);
    for (size_t i = 0; i < words && pgk_cur_left(c); i++)
        k->v[i] = merge_count(kind, k->v[i], (int64_t)pgk_cur_u64(c, "counter"), r->weight);
    return 0;
}

/* The number of lists in the record, by looking ahead. */
static size_t count_lists(struct pgk_cursor c)
{
    size_t n = 0;
    for (; pgk_cur_left(&c); n++) {
        pgk_cur_u64(&c, "total");
        uint64_t values = pgk_cur_count(&c, 16, "number of values");
        if (!c.failed)
            pgk_cur_take(&c, values * 16, "values");
    }
    return n;
}

static int read_lists(struct reader *r, struct pgk_gcov_func *f, enum pgk_gcov_kind kind,
                      struct pgk_cursor *c, size_t words)
{
    struct pgk_gcov_counters *k = &f->kind[kind];
    uint64_t at = pgk_cur_off(c);
    char record[64];
    size_t n = pgk_cur_left(c) ? count_lists(*c) : words / 2;
    if (!k->present) {
        k->lists = pgk_arena_alloc(&r->g->arena, n + 1, sizeof *k->lists);
        if (!k->lists)
            return pgk_fail_nomem(r->err);
        memset(k->lists, 0, (n + 1) * sizeof *k->lists);
        k->n = (uint32_t)n;
        k->present = true;
    }
    if (k->n != n)
        return fail_shape(r, f, kind, at, n);
    for (size_t i = 0; i < n && pgk_cur_left(c); i++)
        PGK_TRY(read_list(r, c, &k->lists[i], function_text(record, f)));
    return 0;
}

/* Zero counters of a file are limited: they take no bytes in it. */
enum { ZERO_COUNTERS_MAX = 1 << 22 };

/* A negative length stands for as many zeros, which the file leaves out. */
static int read_counters(struct reader *r, struct pgk_gcov_func *f, uint32_t tag, int32_t length,
                         uint64_t at)
{
    uint32_t kind = (tag - TAG_COUNTERS) >> 17;
    uint32_t size = length < 0 ? 0 - (uint32_t)length : (uint32_t)length;
    char record[64];
    if (!f)
        return pgk_cur_reject(r->c, r->err, PGK_E_CORRUPT, at, .record = "counters", .field = "tag",
                              .found = "no function in front", .expected = "a function",
                              .hint = "run the program again");
    if (length < 0)
        r->zeros += size / 8;
    if (size % 8 || r->zeros > ZERO_COUNTERS_MAX)
        return pgk_cur_reject(
            r->c, r->err, PGK_E_CORRUPT, at + 4, .record = function_text(record, f),
            .field = "length", .found = PGK_F("%d", length),
            .expected = PGK_F("a multiple of 8, and %d zero counters at most", ZERO_COUNTERS_MAX),
            .hint = "the file is damaged; run the program again");
    struct pgk_cursor c = *r->c;
    const uint8_t *bytes = pgk_cur_take(r->c, length < 0 ? 0 : size, "counters");
    PGK_TRY(pgk_cur_check(r->c, r->err, function_text(record, f)));
    c.end = bytes + (length < 0 ? 0 : size);
    return pgk_gcov_is_list((enum pgk_gcov_kind)kind)
               ? read_lists(r, f, (enum pgk_gcov_kind)kind, &c, size / 8)
               : read_plain(r, f, (enum pgk_gcov_kind)kind, &c, size / 8);
}

/* ---- names ---- */

/* A length with the zero byte at the end, then as many bytes. */
static const char *read_string(struct reader *r, struct pgk_cursor *c, const char *field)
{
    uint32_t size = pgk_cur_u32(c, field);
    const uint8_t *s = pgk_cur_take(c, size, field);
    return s && size ? pgk_arena_copy(&r->g->arena, (const char *)s, size - 1) : "";
}

static int read_names(struct reader *r, struct pgk_gcov_func *f, struct pgk_cursor *c)
{
    f->name = read_string(r, c, "name");
    pgk_cur_u32(c, "artificial");
    f->source = read_string(r, c, "source");
    f->line = pgk_cur_u32(c, "line");
    if (!f->name || !f->source)
        return pgk_fail_nomem(r->err);
    return pgk_cur_check(c, r->err, PGK_F("function %u", f->ident));
}

static int read_function(struct reader *r, uint32_t length, struct pgk_gcov_func **f)
{
    uint64_t at = pgk_cur_off(r->c);
    struct pgk_cursor c = *r->c;
    const uint8_t *bytes = pgk_cur_take(r->c, length, "function");
    PGK_TRY(pgk_cur_check(r->c, r->err, "function"));
    *f = NULL;
    if (!length) /* a function that is another object's */
        return 0;
    c.end = bytes + length;
    uint32_t id[3] = {pgk_cur_u32(&c, "ident")};
    id[1] = pgk_cur_u32(&c, "lineno_checksum");
    id[2] = pgk_cur_u32(&c, "cfg_checksum");
    PGK_TRY(pgk_cur_check(&c, r->err, "function"));
    PGK_TRY(find_function(r, id, at, f));
    if (r->notes)
        return read_names(r, *f, &c);
    (*f)->counted = true;
    return 0;
}

/* ---- the file ---- */

static int other_build(struct reader *r, uint64_t at, const char *field, uint32_t found,
                       uint32_t expected, const char *hint)
{
    return pgk_cur_reject(r->c, r->err, PGK_E_MISMATCH, at, .record = "header", .field = field,
                          .found = PGK_F("0x%08x", found),
                          .expected = PGK_F("0x%08x, as in %s", expected, r->g->first_file),
                          .hint = hint);
}

static int check_build(struct reader *r, uint32_t version, uint32_t stamp, uint64_t at)
{
    struct pgk_gcov *g = r->g;
    if (!pgk_gcov_is_version(version))
        return pgk_cur_reject(r->c, r->err, PGK_E_VERSION, at + 4, .record = "header",
                              .field = "version", .found = PGK_F("0x%08x", version),
                              .expected = "that of gcc " RELEASES,
                              .hint = "see pgokit formats for what is read");
    if (g->first_file && g->stamp != stamp)
        return other_build(r, at + 8, "stamp", stamp, g->stamp,
                           "the files are of different builds");
    if (g->first_file && g->version != version)
        return other_build(r, at + 4, "version", version, g->version,
                           "the files are of different releases of gcc");
    if (!g->first_file) {
        g->first_file = pgk_arena_copy(&g->arena, r->c->src.file, strlen(r->c->src.file));
        g->version = version;
        g->stamp = stamp;
    }
    return g->first_file ? 0 : pgk_fail_nomem(r->err);
}

static int read_header(struct reader *r)
{
    uint64_t at = pgk_cur_off(r->c);
    uint32_t magic = pgk_cur_u32(r->c, "magic"), version = pgk_cur_u32(r->c, "version"),
             stamp = pgk_cur_u32(r->c, "stamp"), checksum = pgk_cur_u32(r->c, "checksum");
    PGK_TRY(pgk_cur_check(r->c, r->err, "header"));
    r->notes = magic == PGK_GCNO_MAGIC;
    if (!r->notes && magic != PGK_GCDA_MAGIC)
        return pgk_cur_reject(r->c, r->err, PGK_E_FORMAT, at, .record = "header", .field = "magic",
                              .found = PGK_F("0x%08x", magic), .expected = "adcg or oncg",
                              .hint = "this is not a file of gcc");
    PGK_TRY(check_build(r, version, stamp, at));
    if (!r->notes) {
        r->g->has_counts = true;
        r->g->checksum = checksum > r->g->checksum ? checksum : r->g->checksum;
        return 0;
    }
    pgk_cur_take(r->c, pgk_cur_u32(r->c, "folder"), "folder");
    pgk_cur_u32(r->c, "unexecuted blocks");
    return pgk_cur_check(r->c, r->err, "header");
}

static int read_summary(struct reader *r)
{
    r->g->runs = (uint64_t)add_times((int64_t)r->g->runs, pgk_cur_u32(r->c, "runs"), r->weight);
    r->g->sum_max =
        (uint64_t)add_times((int64_t)r->g->sum_max, pgk_cur_u32(r->c, "sum_max"), r->weight);
    return pgk_cur_check(r->c, r->err, "summary");
}

static bool is_counters(uint32_t tag)
{
    return tag >= TAG_COUNTERS && tag < TAG_COUNTERS + (PGK_GCOV_KINDS << 17) &&
           (tag - TAG_COUNTERS) % (1 << 17) == 0;
}

static int read_record(struct reader *r, uint32_t tag, struct pgk_gcov_func **f)
{
    uint64_t at = pgk_cur_off(r->c) - 4;
    int32_t length = (int32_t)pgk_cur_u32(r->c, "length");
    PGK_TRY(pgk_cur_check(r->c, r->err, "record"));
    if (tag == TAG_FUNCTION)
        return read_function(r, (uint32_t)length, f);
    if (tag == TAG_SUMMARY && length == 8)
        return read_summary(r);
    if (!r->notes && is_counters(tag))
        return read_counters(r, *f, tag, length, at);
    if (!r->notes)
        return pgk_cur_reject(r->c, r->err, PGK_E_CORRUPT, at, .record = "record", .field = "tag",
                              .found = PGK_F("0x%08x", tag),
                              .expected = "a function, its counters or a summary",
                              .hint = "the file is damaged, or of a newer release");
    pgk_cur_take(r->c, (uint32_t)length, "record"); /* blocks, arcs and lines */
    return pgk_cur_check(r->c, r->err, "record");
}

static int read_all(struct reader *r)
{
    struct pgk_gcov_func *f = NULL;
    PGK_TRY(read_header(r));
    while (pgk_cur_left(r->c)) {
        uint32_t tag = pgk_cur_u32(r->c, "tag");
        PGK_TRY(pgk_cur_check(r->c, r->err, "record"));
        if (!tag) /* the end */
            break;
        PGK_TRY(read_record(r, tag, &f));
    }
    return 0;
}

int pgk_gcov_add(struct pgk_gcov *g, const uint8_t *bytes, size_t size,
                 const struct pgk_source *src, uint64_t weight, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct reader r = {.g = g, .c = &c, .err = err, .weight = weight};
    pgk_cur_init(&c, bytes, size, src);
    int status = read_all(&r);
    pgk_vec_free(&r.values);
    return status;
}

/* ---- among the formats ---- */

static int read(struct pgk_gcov *gcov, const struct pgk_file_bytes *file, uint64_t weight,
                struct pgk_file_info *info, struct pgk_err *err)
{
    unsigned major, minor;
    PGK_TRY(pgk_gcov_add(gcov, file->bytes, file->size, file->src, weight, err));
    pgk_gcov_release(gcov, &major, &minor);
    info->version = major;
    info->facts[PGK_FACT_MINOR_VERSION] = minor;
    return 0;
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    pgk_info_add(text, "gcc %u.%llu", info->version,
                 (unsigned long long)info->facts[PGK_FACT_MINOR_VERSION]);
}

const struct pgk_format_row pgk_format_gcov = {
    .format = {.name = "gcc counters",
               .kind = PGK_KIND_GCOV,
               .reads = ".gcda and .gcno of gcc " RELEASES,
               .writes = ".gcda of gcc " RELEASES,
               .made_by = "gcc, gcov-tool, pgokit",
               .page = "gcov.md",
               .read = {PGK_GCOV_OLDEST, PGK_GCOV_NEWEST},
               .write = {PGK_GCOV_OLDEST, PGK_GCOV_NEWEST}},
    .sniff = pgk_gcov_sniff,
    .read_gcov = read,
    .readers = readers,
};
