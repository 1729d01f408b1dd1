/* Reader of massif's files. docs/formats/massif.md
 *
 * A file is a list of snapshots. Some have a tree of who held the heap, read from the allocation
 * on: below each place stand its callers, so a path from the root to a leaf is a stack. */
#include "massif_read.h"

#include "format_row.h"
#include "function_name.h"
#include "saturate.h"
#include "text_fields.h"

#include <inttypes.h>
#include <stdlib.h>

/* Stacks far above what is recorded are damage, and would make a small file expensive. */
enum { STACK_FRAMES_MAX = 16384 };
/* The hint for a damaged file. */
#define HINT "the file is cut or damaged; record it again"
/* Bytes without a place, because they are below massif's threshold. */
#define SUMMED_UP "[places below massif's threshold]"

enum tree { TREE_NONE, TREE_DETAILED, TREE_PEAK };

struct snapshot {
    uint64_t time, bytes;
    enum tree tree;
};

/* A place of the tree on the path to the line being read. */
struct place {
    uint64_t address;
    uint32_t name, file; /* string ids */
    uint32_t line;
    uint64_t bytes, below; /* in all, and in callers read so far */
    uint64_t callers;      /* that are still to be read */
};

/* The bytes that a stack held at a snapshot. */
struct held {
    uint32_t node, snapshot;
    uint64_t bytes;
};

struct reader {
    struct pgk_heap *heap;
    struct pgk_text text;
    bool in_ms;
    PGK_VEC(struct snapshot) snapshots;
    PGK_VEC(struct place) path; /* [0] is the root, which is no frame */
    PGK_VEC(uint32_t) frames;
    PGK_VEC(struct held) held;
    PGK_VEC(struct pgk_heap_point) points;
    PGK_VEC(struct pgk_heap_share) shares;
};

/* The next line, which has to be there. */
static int need_line(struct reader *r, struct pgk_text_line *l, const char *record,
                     const char *field, const char *expected)
{
    if (pgk_text_next(&r->text, l))
        return 0;
    *l = pgk_text_rest(&r->text);
    return pgk_text_fail(&r->text, l, PGK_E_TRUNCATED, record, field, "the end of the file",
                         expected);
}

/* ---- trees ---- */

/* The text in brackets after the name of a function: "a.cc:13" or "in /lib/libz.so.1". */
struct where {
    const char *name_end;                /* of the function */
    const char *module, *file, *end;     /* NULL: missing; both end at `end` */
    uint32_t line;
};

static struct where find_where(const struct pgk_text_line *l)
{
    struct where w = {.name_end = l->end, .end = l->end - 1};
    const char *open = l->end;
    uint64_t line;
    if (l->end == l->at || l->end[-1] != ')')
        return w;
    while (open > l->at + 1 && !(open[-1] == '(' && open[-2] == ' '))
        open--;
    if (open <= l->at + 1)
        return w;
    struct pgk_text_line in = {open, w.end, l->off, true};
    const char *colon = memrchr(in.at, ':', (size_t)(in.end - in.at));
    struct pgk_text_line number = {colon ? colon + 1 : in.end, in.end, l->off, true};
    if (pgk_text_take(&in, "in ")) {
        w.module = in.at;
    } else if (pgk_text_number(&number, 10, &line) && number.at == number.end && line &&
               line < UINT32_MAX) {
        w.file = open;
        w.end = colon;
        w.line = (uint32_t)line;
    } else {
        return w; /* brackets of the name itself */
    }
    w.name_end = open - 2;
    return w;
}

/* Code without debug information or symbol is named by its module: "[libz.so.1]". */
static uint32_t unknown_name(struct reader *r, const struct where *w)
{
    if (!w->module)
        return pgk_intern_cstr(&r->heap->strings, "[unknown module]");
    const char *slash = memrchr(w->module, '/', (size_t)(w->end - w->module));
    const char *base = slash ? slash + 1 : w->module;
    return pgk_intern_cstr(&r->heap->strings, PGK_F("[%.*s]", (int)(w->end - base), base));
}

/* "make(int) (a.cc:13)", "??? (in /lib/libz.so.1)" or "???". */
static int read_name(struct reader *r, const struct pgk_text_line *l, struct place *p)
{
    const struct where w = find_where(l);
    const size_t n = (size_t)(w.name_end - l->at);
    p->line = w.line;
    p->name = n == 3 && !memcmp(l->at, "???", n) ? unknown_name(r, &w)
                                                  : pgk_intern(&r->heap->strings, l->at, n);
    if (w.file)
        p->file = pgk_intern(&r->heap->strings, w.file, (size_t)(w.end - w.file));
    return p->name == PGK_INDEX_NONE || p->file == PGK_INDEX_NONE ? pgk_fail_nomem(r->text.err) : 0;
}

/* Lines are known, but not the line at which a function begins, so they count from the first one of
 * the file: readers find the line again, and two files of one source have equal frames. */
static uint32_t make_frame(struct reader *r, const struct place *p, bool inlined)
{
    const char *name = pgk_intern_str(&r->heap->strings, p->name);
    uint32_t func = pgk_heap_func(r->heap, pgk_heap_guid(name, strlen(name)), p->name, p->file,
                                  p->line ? 1 : 0);
    if (func == PGK_INDEX_NONE)
        return PGK_INDEX_NONE;
    return pgk_heap_frame(r->heap, inlined ? PGK_FRAME_INLINED : PGK_FRAME_CALLER, func,
                          pgk_frame_place(p->line ? p->line - 1 : 0, 0));
}

/* Functions that are inlined into one another share an address; recursion from one place looks the
 * same in all. */
static bool is_inlined(const struct place *p, const struct place *caller)
{
    return p->address && p->address == caller->address &&
           (p->name != caller->name || p->line != caller->line || p->file != caller->file);
}

/* Adds the bytes that the stack of the path from place 1 on held. */
static int add_held(struct reader *r, uint64_t bytes)
{
    r->frames.n = 0;
    if (!bytes)
        return 0;
    for (size_t i = 1; i < r->path.n; i++) {
        const bool inlined = i + 1 < r->path.n && is_inlined(&r->path.v[i], &r->path.v[i + 1]);
        uint32_t frame = make_frame(r, &r->path.v[i], inlined);
        if (frame == PGK_INDEX_NONE || !pgk_vec_push(&r->frames, frame))
            return pgk_fail_nomem(r->text.err);
    }
    struct held h = {.snapshot = (uint32_t)r->snapshots.n - 1, .bytes = bytes};
    h.node = pgk_stack_add(&r->heap->stacks, r->frames.v, r->frames.n);
    return h.node != PGK_NODE_NONE && pgk_vec_push(&r->held, h) ? 0 : pgk_fail_nomem(r->text.err);
}

static int push_summed(struct reader *r, uint64_t bytes)
{
    struct place p = {.bytes = bytes};
    p.name = pgk_intern_cstr(&r->heap->strings, SUMMED_UP);
    return p.name != PGK_INDEX_NONE && pgk_vec_push(&r->path, p) ? 0 : pgk_fail_nomem(r->text.err);
}

/* Leaves the last place of the path, whose callers were all read. What they do not hold it holds
 * itself, where a stack ended. */
static int leave_place(struct reader *r, const struct pgk_text_line *l)
{
    const struct place *p = &r->path.v[r->path.n - 1];
    const uint64_t bytes = p->bytes, rest = p->bytes - p->below;
    if (p->below > p->bytes)
        return pgk_text_fail(
            &r->text, l, PGK_E_CORRUPT, "tree", "bytes", PGK_F("%" PRIu64, p->below),
            PGK_F("at most %" PRIu64 ", which the callers hold together", p->bytes));
    if (r->path.n == 1 && rest) {
        PGK_TRY(push_summed(r, rest));
        PGK_TRY(add_held(r, rest));
        r->path.n--;
    } else if (r->path.n > 1) {
        PGK_TRY(add_held(r, rest));
    }
    r->path.n--;
    if (r->path.n) {
        struct place *callee = &r->path.v[r->path.n - 1];
        callee->below = pgk_add_saturated(callee->below, bytes);
        callee->callers--;
    }
    return 0;
}

/* " n2: 100 WHAT", with a blank for each level. */
static int read_node_head(struct reader *r, struct pgk_text_line *l, struct place *p)
{
    struct pgk_text_line whole = *l;
    for (size_t depth = r->path.n; depth; depth--)
        if (!pgk_text_take(l, " "))
            return pgk_text_reject(&r->text, &whole, "tree", "depth",
                                   PGK_F("a line with %zu blanks before it", r->path.n));
    if (!pgk_text_take(l, "n") || !pgk_text_number(l, 10, &p->callers) ||
        !pgk_text_take(l, ": ") || !pgk_text_number(l, 10, &p->bytes) ||
        !pgk_text_take(l, " ") || !l->whole)
        return pgk_text_reject(&r->text, &whole, "tree", "place",
                               "n, the number of callers, and bytes");
    return 0;
}

/* "0x48FB7B9: NAME" */
static int read_place(struct reader *r, struct pgk_text_line *l, struct place *p)
{
    static const char digits[] = "0123456789ABCDEF";
    struct pgk_text_line whole = *l;
    pgk_text_take(l, "0x");
    for (const char *digit; l->at < l->end && (digit = memchr(digits, *l->at, 16)); l->at++) {
        if (p->address >> 60)
            return pgk_text_reject(&r->text, &whole, "tree", "address", "64 bits");
        p->address = p->address << 4 | (uint64_t)(digit - digits);
    }
    if (!pgk_text_take(l, ": ") || l->at == l->end)
        return pgk_text_reject(&r->text, &whole, "tree", "address",
                               "0x, an address, a colon and a function");
    PGK_TRY(read_name(r, l, p));
    return pgk_vec_push(&r->path, *p) ? 0 : pgk_fail_nomem(r->text.err);
}

static int read_node(struct reader *r, struct pgk_text_line *l)
{
    struct place p = {0};
    struct pgk_text_line whole = *l;
    PGK_TRY(read_node_head(r, l, &p));
    if (!r->path.n)
        return pgk_vec_push(&r->path, p) ? 0 : pgk_fail_nomem(r->text.err);
    if (r->path.n > STACK_FRAMES_MAX)
        return pgk_text_fail(&r->text, &whole, PGK_E_CORRUPT, "tree", "depth",
                             PGK_F("%zu places", r->path.n), PGK_F("at most %d", STACK_FRAMES_MAX));
    if (memchr(l->at, 0, (size_t)(l->end - l->at)))
        return pgk_text_fail(&r->text, &whole, PGK_E_CORRUPT, "tree", "place", "a zero byte",
                             "text");
    if (l->end - l->at > 2 && !memcmp(l->at, "0x", 2))
        return read_place(r, l, &p);
    if (!pgk_text_take(l, "in ") || p.callers)
        return pgk_text_reject(&r->text, &whole, "tree", "place",
                               "0x, or in and a number of places");
    return push_summed(r, p.bytes);
}

static int read_tree(struct reader *r)
{
    struct pgk_text_line l;
    const struct snapshot *s = &r->snapshots.v[r->snapshots.n - 1];
    r->path.n = 0;
    do {
        PGK_TRY(need_line(r, &l, "tree", "place", "a place of the tree"));
        PGK_TRY(read_node(r, &l));
        if (r->path.n == 1 && r->path.v[0].bytes != s->bytes)
            return pgk_text_fail(&r->text, &l, PGK_E_CORRUPT, "tree", "bytes",
                                 PGK_F("%" PRIu64, r->path.v[0].bytes),
                                 PGK_F("%" PRIu64 ", the mem_heap_B of the snapshot", s->bytes));
        while (r->path.n && !r->path.v[r->path.n - 1].callers)
            PGK_TRY(leave_place(r, &l));
    } while (r->path.n);
    return 0;
}

/* ---- snapshots ---- */

static int read_value(struct reader *r, const char *key, uint64_t *value)
{
    struct pgk_text_line l;
    const char *expected = PGK_F("%s and a number", key);
    PGK_TRY(need_line(r, &l, "snapshot", key, expected));
    struct pgk_text_line whole = l;
    return pgk_text_take(&l, key) && pgk_text_take(&l, "=") && pgk_text_number(&l, 10, value) &&
                   l.at == l.end && l.whole
               ? 0
               : pgk_text_reject(&r->text, &whole, "snapshot", key, expected);
}

static int read_rule(struct reader *r)
{
    struct pgk_text_line l;
    PGK_TRY(need_line(r, &l, "snapshot", "line", "a line of # and -"));
    return pgk_text_take(&l, "#-")
               ? 0
               : pgk_text_reject(&r->text, &l, "snapshot", "line", "a line of # and -");
}

static int read_kind_of_tree(struct reader *r, enum tree *tree)
{
    static const char *const kinds[] = {"empty", "detailed", "peak"};
    struct pgk_text_line l;
    PGK_TRY(need_line(r, &l, "snapshot", "heap_tree", "empty, detailed or peak"));
    struct pgk_text_line whole = l;
    bool known = pgk_text_take(&l, "heap_tree=");
    size_t i = 0;
    while (known && i < PGK_COUNTOF(kinds) && !pgk_text_take(&l, kinds[i]))
        i++;
    known &= i < PGK_COUNTOF(kinds) && l.at == l.end && l.whole;
    *tree = (enum tree)i;
    return known ? 0
                 : pgk_text_reject(&r->text, &whole, "snapshot", "heap_tree",
                                   "heap_tree= and empty, detailed or peak");
}

static int read_snapshot(struct reader *r)
{
    struct snapshot s = {0};
    const struct pgk_text_line l = pgk_text_rest(&r->text);
    uint64_t number, unused;
    PGK_TRY(read_rule(r));
    PGK_TRY(read_value(r, "snapshot", &number));
    PGK_TRY(read_rule(r));
    PGK_TRY(read_value(r, "time", &s.time));
    PGK_TRY(read_value(r, "mem_heap_B", &s.bytes));
    PGK_TRY(read_value(r, "mem_heap_extra_B", &unused));
    PGK_TRY(read_value(r, "mem_stacks_B", &unused));
    PGK_TRY(read_kind_of_tree(r, &s.tree));
    if (r->snapshots.n && s.time < r->snapshots.v[r->snapshots.n - 1].time)
        return pgk_text_fail(&r->text, &l, PGK_E_CORRUPT, "snapshot", "time",
                             PGK_F("%" PRIu64, s.time),
                             "a time that is not before that of the last snapshot");
    if (!pgk_vec_push(&r->snapshots, s))
        return pgk_fail_nomem(r->text.err);
    return s.tree == TREE_NONE ? 0 : read_tree(r);
}

/* "desc: ...", "cmd: ..." and "time_unit: ms", or i for instructions, or B for bytes. */
static int read_header(struct reader *r)
{
    static const char *const keys[] = {"desc:", "cmd:", "time_unit: "};
    struct pgk_text_line l;
    for (size_t i = 0; i < PGK_COUNTOF(keys); i++) {
        PGK_TRY(need_line(r, &l, "header", keys[i], keys[i]));
        if (!pgk_text_take(&l, keys[i]) || !l.whole)
            return pgk_text_reject(&r->text, &l, "header", keys[i],
                                   PGK_F("a line that begins with %s", keys[i]));
    }
    r->in_ms = l.end - l.at == 2 && !memcmp(l.at, "ms", 2);
    if (!r->in_ms && !(l.end - l.at == 1 && (*l.at == 'i' || *l.at == 'B')))
        return pgk_text_reject(&r->text, &l, "header", "time_unit", "i, ms or B");
    return 0;
}

/* ---- into the model ---- */

static int by_node_and_snapshot(const void *a, const void *b)
{
    const struct held *x = a, *y = b;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->snapshot < y->snapshot ? -1 : x->snapshot > y->snapshot;
}

/* Paths that are equal but for their addresses become one. */
static void add_up(struct reader *r)
{
    size_t kept = 0;
    if (r->held.n)
        qsort(r->held.v, r->held.n, sizeof *r->held.v, by_node_and_snapshot);
    for (size_t i = 0; i < r->held.n; i++) {
        struct held *last = kept ? &r->held.v[kept - 1] : NULL;
        if (last && !by_node_and_snapshot(last, &r->held.v[i]))
            last->bytes = pgk_add_saturated(last->bytes, r->held.v[i].bytes);
        else
            r->held.v[kept++] = r->held.v[i];
    }
    r->held.n = kept;
}

/* The snapshot that massif calls the peak; it names none where nothing was ever freed, and then it
 * is the one with a tree that holds most. PGK_INDEX_NONE if there is none. */
static uint32_t find_peak(const struct reader *r)
{
    uint32_t peak = PGK_INDEX_NONE;
    for (uint32_t i = 0; i < r->snapshots.n; i++) {
        const struct snapshot *s = &r->snapshots.v[i];
        const struct snapshot *best = peak == PGK_INDEX_NONE ? NULL : &r->snapshots.v[peak];
        if (s->tree != TREE_NONE &&
            (!best || s->tree > best->tree || (s->tree == best->tree && s->bytes > best->bytes)))
            peak = i;
    }
    return peak;
}

/* All of a stack, from `first` on. At least as much was allocated as was held at one time. */
static int add_context(struct reader *r, size_t first, size_t n, uint32_t peak)
{
    const struct held *h = &r->held.v[first];
    struct pgk_mib m = {0};
    uint64_t most = 0;
    for (size_t i = 0; i < n; i++) {
        most = h[i].bytes > most ? h[i].bytes : most;
        if (h[i].snapshot == peak)
            pgk_mib_set(&m, PGK_MIB_PeakSize, h[i].bytes);
    }
    pgk_mib_set(&m, PGK_MIB_TotalSize, most);
    PGK_TRY(pgk_heap_add(r->heap, h->node, &m, r->text.err));
    return pgk_heap_own_stack(r->heap, h->node, r->text.err);
}

/* Points have different times: of several snapshots at one it is the last with a tree, or else the
 * last. False when out of memory. */
static bool add_points(struct reader *r)
{
    bool detailed = false;
    uint32_t *point_of = pgk_mem_alloc(r->snapshots.n + 1, sizeof *point_of);
    if (!point_of)
        return false;
    bool ok = true;
    for (size_t i = 0; i < r->snapshots.n && ok; i++) {
        const struct snapshot *s = &r->snapshots.v[i];
        const bool again = r->points.n && r->points.v[r->points.n - 1].ms == s->time;
        point_of[i] = PGK_INDEX_NONE;
        if (again && detailed && s->tree == TREE_NONE)
            continue;
        if (again) {
            r->points.n--;
            for (size_t j = i; j-- > 0 && r->snapshots.v[j].time == s->time;)
                point_of[j] = PGK_INDEX_NONE;
        }
        detailed = s->tree != TREE_NONE;
        point_of[i] = (uint32_t)r->points.n;
        ok = pgk_vec_push(&r->points,
                          (struct pgk_heap_point){.ms = s->time, .bytes = s->bytes});
    }
    for (size_t i = 0; i < r->held.n && ok; i++) {
        const struct held *h = &r->held.v[i];
        if (point_of[h->snapshot] != PGK_INDEX_NONE)
            ok = pgk_vec_push(&r->shares, (struct pgk_heap_share){
                                              point_of[h->snapshot],
                                              pgk_heap_context_at(r->heap, h->node), h->bytes});
    }
    pgk_mem_free(point_of);
    return ok;
}

static int add_all(struct reader *r)
{
    const uint32_t peak = find_peak(r);
    add_up(r);
    for (size_t i = 0, n; i < r->held.n; i += n) {
        for (n = 1; i + n < r->held.n && r->held.v[i + n].node == r->held.v[i].node; n++)
            ;
        PGK_TRY(add_context(r, i, n, peak));
    }
    if (!r->in_ms || peak == PGK_INDEX_NONE)
        return 0;
    if (!add_points(r))
        return pgk_fail_nomem(r->text.err);
    const struct pgk_heap_times times = {
        .struct_size = sizeof times,
        .processes = 1,
        .peak_ms = r->snapshots.v[peak].time,
        .peak_bytes = r->snapshots.v[peak].bytes,
        .points = r->points.v,
        .n_points = r->points.n,
        .shares = r->shares.v,
        .n_shares = r->shares.n,
    };
    return pgk_heap_build_over_time(r->heap, &times, r->text.err);
}

bool pgk_massif_sniff(const uint8_t *bytes, size_t size)
{
    struct pgk_text text = pgk_text_of(bytes, size, NULL, NULL, NULL);
    struct pgk_text_line l;
    return pgk_text_next(&text, &l) && pgk_text_take(&l, "desc:") && l.whole &&
           pgk_text_next(&text, &l) && pgk_text_take(&l, "cmd:");
}

int pgk_massif_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                    const struct pgk_source *src, struct pgk_err *err)
{
    struct reader r = {.heap = h, .text = pgk_text_of(bytes, size, src, HINT, err)};
    int status = read_header(&r);
    while (!status && r.text.next < r.text.end)
        status = read_snapshot(&r);
    if (!status)
        status = add_all(&r);
    pgk_vec_free(&r.snapshots);
    pgk_vec_free(&r.path);
    pgk_vec_free(&r.frames);
    pgk_vec_free(&r.held);
    pgk_vec_free(&r.points);
    pgk_vec_free(&r.shares);
    return status;
}

/* ---- among the formats ---- */

static int read(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                struct pgk_file_info *info, struct pgk_err *err)
{
    (void)info;
    return pgk_massif_read(heap, file->bytes, file->size, file->src, err);
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    (void)info;
    pgk_info_add(text, "ms_print, massif-visualizer");
}

const struct pgk_format_row pgk_format_massif = {
    .format = {.name = "massif file",
               .kind = PGK_KIND_HEAP,
               .reads = "of valgrind 3.3 and newer",
               .writes = "",
               .made_by = "valgrind --tool=massif",
               .page = "massif.md"},
    .sniff = pgk_massif_sniff,
    .read_heap = read,
    .wants_own_heap = true,
    .readers = readers,
};
