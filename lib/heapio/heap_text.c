/* Reader of printed heap profiles. docs/formats/raw-heap.md section 6
 *
 * Lines that are not known are passed over: runtimes mix in warnings, miss rates and maps. */
#include "heap_text.h"

#include "format_row.h"
#include "hash.h"
#include "hex.h"
#include "text_fields.h"

#include <inttypes.h>

/* The hint for a damaged file. */
#define HINT "the text is cut or was edited; record it again"
enum { SNIFF_BYTES = 65536, STACK_FRAMES_MAX = 16384, BUILD_ID_MAX = 64, HISTOGRAM_PRINTED = 32 };
/* The largest size of a position-independent program: its addresses that are printed without module
 * are at most so far after its start. */
#define PROGRAM_SPAN (UINT64_C(1) << 30)

#define BLOCK_START "Memory allocation stack id = "
#define TERSE_START "MIB:"
#define STACK_START "Stack for id "
#define FRAME_START "    #"

struct block {
    uint64_t id, off;
    uint32_t node; /* PGK_NODE_NONE until its stack is read */
    struct pgk_mib mib;
};

/* A line of a stack. */
struct text_frame {
    uint64_t pc, offset; /* offset: in the module */
    uint32_t module;     /* PGK_INDEX_NONE: printed without */
    uint64_t words;      /* hash of everything after the address */
};

struct stack {
    uint64_t id, off;
    size_t first, n; /* lines */
};

struct reader {
    struct pgk_heap *heap;
    struct pgk_text text;
    PGK_VEC(struct block) blocks;
    struct pgk_index by_id;
    PGK_VEC(struct text_frame) lines; /* of all stacks */
    PGK_VEC(struct stack) stacks;
    uint32_t program;       /* module of the runtime; PGK_INDEX_NONE: not met */
    uint64_t program_start; /* where it was loaded */
    PGK_VEC(uint32_t) frames;
};

/* Blocks. */

/* AVERAGE SEPARATOR MIN SEPARATOR MAX; an average is cut after its second decimal place. */
struct triple {
    uint64_t hundredths, min, max;
};

static bool take_triple(struct pgk_text_line *l, const char *separator, struct triple *t)
{
    uint64_t whole, part;
    const char *point;
    if (!pgk_text_number(l, 10, &whole) || !pgk_text_take(l, "."))
        return false;
    point = l->at;
    if (!pgk_text_number(l, 10, &part) || l->at - point != 2 || whole > UINT64_MAX / 200)
        return false;
    t->hundredths = whole * 100 + part;
    return pgk_text_take(l, separator) && pgk_text_number(l, 10, &t->min) &&
           pgk_text_take(l, separator) && pgk_text_number(l, 10, &t->max);
}

/* The smallest sum that gives the printed average: exact for up to 100 objects, and where all are
 * alike. */
static uint64_t total_of(const struct triple *t, uint64_t count)
{
    uint64_t sum, part, least;
    if (__builtin_mul_overflow(t->hundredths / 100, count, &sum) ||
        __builtin_mul_overflow(t->hundredths % 100, count, &part) ||
        __builtin_add_overflow(sum, part / 100 + (part % 100 != 0), &sum) ||
        __builtin_mul_overflow(t->min, count, &least))
        return UINT64_MAX;
    return sum < least ? least : sum;
}

static void set_triple(struct pgk_mib *m, enum pgk_mib_id total, enum pgk_mib_id min,
                       enum pgk_mib_id max, const struct triple *t)
{
    pgk_mib_set(m, total, total_of(t, m->v[PGK_MIB_AllocCount]));
    pgk_mib_set(m, min, t->min);
    /* The runtime of clang 14 prints minima for maxima. */
    if (t->max >= t->hundredths / 100 + (t->hundredths % 100 != 0))
        pgk_mib_set(m, max, t->max);
}

static void set_triples(struct pgk_mib *m, const struct triple t[3])
{
    set_triple(m, PGK_MIB_TotalSize, PGK_MIB_MinSize, PGK_MIB_MaxSize, &t[0]);
    set_triple(m, PGK_MIB_TotalAccessCount, PGK_MIB_MinAccessCount, PGK_MIB_MaxAccessCount, &t[1]);
    set_triple(m, PGK_MIB_TotalLifetime, PGK_MIB_MinLifetime, PGK_MIB_MaxLifetime, &t[2]);
}

/* The four counts at the end of both forms, with what stands between them. */
static bool take_counts(struct pgk_text_line *l, const char *const before[4], struct pgk_mib *m)
{
    static const uint8_t ids[4] = {PGK_MIB_NumMigratedCpu, PGK_MIB_NumLifetimeOverlaps,
                                   PGK_MIB_NumSameAllocCpu, PGK_MIB_NumSameDeallocCpu};
    for (size_t i = 0; i < PGK_COUNTOF(ids); i++) {
        uint64_t v;
        if (!pgk_text_take(l, before[i]) || !pgk_text_number(l, 10, &v))
            return false;
        pgk_mib_set(m, (enum pgk_mib_id)ids[i], v);
    }
    return l->at == l->end;
}

/* Blocks of one id are blocks that the runtime evicted one after the other. */
static int add_block(struct reader *r, const struct block *b)
{
    PGK_INDEX_FOR (&r->by_id, pgk_hash_u64(b->id), i)
        if (r->blocks.v[i].id == b->id)
            return pgk_mib_add(&r->blocks.v[i].mib, &b->mib, &r->heap->arena)
                       ? 0
                       : pgk_fail_nomem(r->text.err);
    return pgk_vec_push(&r->blocks, *b) &&
                   pgk_index_add(&r->by_id, pgk_hash_u64(b->id), (uint32_t)r->blocks.n - 1)
               ? 0
               : pgk_fail_nomem(r->text.err);
}

/* Only the first elements are printed; histograms that are not whole are left out. */
static int read_histogram(struct reader *r, struct pgk_text_line l, struct pgk_mib *m)
{
    uint64_t size;
    struct pgk_text_line at = l;
    if (!pgk_text_number(&at, 10, &size) || !pgk_text_take(&at, "]: "))
        return pgk_text_reject(&r->text, &l, "histogram", "AccessCountHistogram",
                               "[SIZE]: and its elements");
    pgk_mib_set(m, PGK_MIB_AccessHistogramSize, size);
    if (!size || size > HISTOGRAM_PRINTED)
        return 0;
    uint64_t *hist = pgk_arena_alloc(&r->heap->arena, size, sizeof *hist);
    if (!hist)
        return pgk_fail_nomem(r->text.err);
    for (uint64_t i = 0; i < size; i++)
        if (!pgk_text_number(&at, 10, &hist[i]) || !pgk_text_take(&at, " "))
            return pgk_text_reject(&r->text, &at, "histogram", "element", "a number and a blank");
    m->hist = hist;
    m->hist_count = (uint32_t)size;
    return 0;
}

static bool is_next(const struct reader *r, const char *text)
{
    struct pgk_text_line l = pgk_text_rest(&r->text);
    return pgk_text_take(&l, text);
}

static int read_verbose(struct reader *r, struct pgk_text_line l)
{
    static const char *const counts[] = {"\tnum migrated: ", ", num lifetime overlaps: ",
                                         ", num same alloc cpu: ", ", num same dealloc_cpu: "};
    struct block b = {.off = l.off, .node = PGK_NODE_NONE};
    struct triple t[3];
    uint64_t count;
    if (!pgk_text_number(&l, 10, &b.id) || l.at != l.end)
        return pgk_text_reject(&r->text, &l, "block", "stack id", "a number");
    const char *record = PGK_F("block of stack %" PRIu64, b.id);
    if (!pgk_text_next(&r->text, &l) || !pgk_text_take(&l, "\talloc_count ") ||
        !pgk_text_number(&l, 10, &count) || !pgk_text_take(&l, ", size (ave/min/max) ") ||
        !take_triple(&l, " / ", &t[0]) || l.at != l.end)
        return pgk_text_reject(&r->text, &l, record, "alloc_count",
                               "alloc_count N, size (ave/min/max) A / B / C");
    if (!pgk_text_next(&r->text, &l) || !pgk_text_take(&l, "\taccess_count (ave/min/max): ") ||
        !take_triple(&l, " / ", &t[1]) || l.at != l.end)
        return pgk_text_reject(&r->text, &l, record, "access_count",
                               "access_count (ave/min/max): A / B / C");
    if (!pgk_text_next(&r->text, &l) || !pgk_text_take(&l, "\tlifetime (ave/min/max): ") ||
        !take_triple(&l, " / ", &t[2]) || l.at != l.end)
        return pgk_text_reject(&r->text, &l, record, "lifetime",
                               "lifetime (ave/min/max): A / B / C");
    pgk_mib_set(&b.mib, PGK_MIB_AllocCount, count);
    set_triples(&b.mib, t);
    if (!pgk_text_next(&r->text, &l) || !take_counts(&l, counts, &b.mib) || !l.whole)
        return pgk_text_reject(&r->text, &l, record, "num migrated",
                               "num migrated: N, ... dealloc_cpu: N");
    if (is_next(r, "AccessCountHistogram[") && pgk_text_next(&r->text, &l) &&
        pgk_text_take(&l, "AccessCountHistogram["))
        PGK_TRY(read_histogram(r, l, &b.mib));
    return add_block(r, &b);
}

static int read_terse(struct reader *r, struct pgk_text_line l)
{
    static const char *const counts[] = {"/", "/", "/", "/"};
    struct block b = {.off = l.off, .node = PGK_NODE_NONE};
    struct triple t[3];
    uint64_t count;
    if (pgk_text_take(&l, "StackID/")) /* names of the columns */
        return 0;
    struct pgk_text_line whole = l;
    if (!pgk_text_number(&l, 10, &b.id) || !pgk_text_take(&l, "/") ||
        !pgk_text_number(&l, 10, &count) ||
        !pgk_text_take(&l, "/") || !take_triple(&l, "/", &t[0]) || !pgk_text_take(&l, "/") ||
        !take_triple(&l, "/", &t[1]) || !pgk_text_take(&l, "/") || !take_triple(&l, "/", &t[2]) ||
        !take_counts(&l, counts, &b.mib) || !l.whole)
        return pgk_text_reject(&r->text, &whole, "block", "MIB", "15 numbers between slashes");
    pgk_mib_set(&b.mib, PGK_MIB_AllocCount, count);
    set_triples(&b.mib, t);
    return add_block(r, &b);
}

/* Stacks. */

static bool take_build_id(struct pgk_text_line *l, uint8_t id[BUILD_ID_MAX], size_t *size)
{
    *size = 0;
    if (!pgk_text_take(l, " (BuildId: "))
        return true;
    *size = pgk_hex_read(l->at, l->end, id, BUILD_ID_MAX);
    l->at += 2 * *size;
    return pgk_text_take(l, ")");
}

/* "(MODULE+0xOFFSET)" and perhaps " (BuildId: HEX)" at the end of the line. */
static bool take_module(struct reader *r, struct pgk_text_line *l, struct text_frame *f)
{
    const char *open = NULL, *plus = NULL;
    uint8_t id[BUILD_ID_MAX];
    size_t id_size;
    for (const char *at = l->at; at + 3 < l->end; at++) {
        if (*at == '(' && at[1] != 'B' && at > l->at && at[-1] == ' ')
            open = at;
        if (open && at[0] == '+' && at[1] == '0' && at[2] == 'x')
            plus = at;
    }
    if (!plus || plus < open)
        return true; /* no module: symbolised, or unknown */
    struct pgk_text_line rest = *l;
    rest.at = plus + 3;
    if (!pgk_text_number(&rest, 16, &f->offset) || !pgk_text_take(&rest, ")"))
        return true;
    if (!take_build_id(&rest, id, &id_size) || rest.at != rest.end)
        return false;
    struct pgk_heap_module m = {.fixed = f->pc == f->offset};
    if (id_size)
        m.build_id = pgk_intern(&r->heap->strings, (const char *)id, id_size);
    else
        m.name = pgk_intern(&r->heap->strings, open + 1, (size_t)(plus - open - 1));
    if (m.build_id != PGK_INDEX_NONE && m.name != PGK_INDEX_NONE)
        f->module = pgk_heap_module(r->heap, &m);
    return true;
}

static int read_frame(struct reader *r, struct pgk_text_line l)
{
    uint64_t number;
    struct text_frame f = {.module = PGK_INDEX_NONE};
    struct pgk_text_line whole = l;
    if (!pgk_text_number(&l, 10, &number) || !pgk_text_take(&l, " 0x") ||
        !pgk_text_number(&l, 16, &f.pc) ||
        !l.whole)
        return pgk_text_reject(&r->text, &whole, "stack", "frame", "#N 0xADDRESS and a place");
    f.words = pgk_hash_bytes(l.at, (size_t)(l.end - l.at));
    if (!take_module(r, &l, &f))
        return pgk_text_reject(&r->text, &whole, "stack", "build id", "hexadecimal digits");
    struct stack *s = &r->stacks.v[r->stacks.n - 1];
    if (++s->n > STACK_FRAMES_MAX)
        return pgk_text_reject(&r->text, &whole, "stack", "frame",
                               PGK_F("at most %d frames", STACK_FRAMES_MAX));
    /* The innermost frame of a stack is the runtime's, and that is in the program. */
    if (s->n == 1 && f.module != PGK_INDEX_NONE && r->program == PGK_INDEX_NONE) {
        r->program = f.module;
        r->program_start = f.pc - f.offset;
    }
    return pgk_vec_push(&r->lines, f) ? 0 : pgk_fail_nomem(r->text.err);
}

static int read_stack(struct reader *r, struct pgk_text_line l)
{
    struct stack s = {.off = l.off, .first = r->lines.n};
    if (!pgk_text_number(&l, 10, &s.id) || !pgk_text_take(&l, ":") || l.at != l.end)
        return pgk_text_reject(&r->text, &l, "stack", "stack id", "a number and a colon");
    if (!pgk_vec_push(&r->stacks, s))
        return pgk_fail_nomem(r->text.err);
    while (pgk_text_next(&r->text, &l)) {
        if (l.at == l.end)
            return 0;
        if (pgk_text_take(&l, FRAME_START))
            PGK_TRY(read_frame(r, l));
    }
    return pgk_text_reject(&r->text, &l, PGK_F("stack %" PRIu64, s.id), "end",
                           "an empty line after the last frame");
}

/* A symbolised address without module: of the program if it is near. */
static uint32_t make_frame(struct reader *r, const struct text_frame *f)
{
    if (f->module != PGK_INDEX_NONE)
        return pgk_heap_frame(r->heap, PGK_FRAME_ADDRESS, f->module, f->offset);
    if (r->program != PGK_INDEX_NONE && f->pc - r->program_start < PROGRAM_SPAN)
        return pgk_heap_frame(r->heap, PGK_FRAME_ADDRESS, r->program, f->pc - r->program_start);
    return pgk_heap_frame(r->heap, PGK_FRAME_ADDRESS, PGK_INDEX_NONE, f->pc);
}

/* Lines of one address are its inline chain, which recursion repeats: the number of lines of
 * which all others are copies. */
static size_t period(const struct text_frame *f, size_t n)
{
    for (size_t p = 1; p <= n / 2; p++) {
        size_t same = 0;
        if (n % p)
            continue;
        while (same + p < n && f[same].words == f[same + p].words)
            same++;
        if (same + p == n)
            return p;
    }
    return n;
}

static int add_stack(struct reader *r, const struct stack *s, uint32_t *node)
{
    const struct text_frame *lines = r->lines.v + s->first;
    r->frames.n = 0;
    for (size_t i = 0, run; i < s->n; i += run) {
        for (run = 1; i + run < s->n && lines[i + run].pc == lines[i].pc;)
            run++;
        uint32_t frame = make_frame(r, &lines[i]);
        if (frame == PGK_INDEX_NONE)
            return pgk_fail_nomem(r->text.err);
        for (size_t copies = run / period(lines + i, run); copies; copies--)
            if (!pgk_vec_push(&r->frames, frame))
                return pgk_fail_nomem(r->text.err);
    }
    *node = pgk_stack_add(&r->heap->stacks, r->frames.v, r->frames.n);
    return *node == PGK_NODE_NONE ? pgk_fail_nomem(r->text.err) : 0;
}

static int read_lines(struct reader *r)
{
    for (struct pgk_text_line l; pgk_text_next(&r->text, &l);) {
        if (pgk_text_take(&l, BLOCK_START))
            PGK_TRY(read_verbose(r, l));
        else if (pgk_text_take(&l, TERSE_START))
            PGK_TRY(read_terse(r, l));
        else if (pgk_text_take(&l, STACK_START))
            PGK_TRY(read_stack(r, l));
    }
    return 0;
}

/* The program is known as such, as it is in raw profiles. */
static int note_modules(struct reader *r)
{
    if (r->program != PGK_INDEX_NONE &&
        !pgk_heap_note_loaded(r->heap, r->text.src->file, r->program))
        return pgk_fail_nomem(r->text.err);
    for (size_t i = 0; i < r->lines.n; i++)
        if (r->lines.v[i].module != PGK_INDEX_NONE &&
            !pgk_heap_note_loaded(r->heap, r->text.src->file, r->lines.v[i].module))
            return pgk_fail_nomem(r->text.err);
    return 0;
}

static int join(struct reader *r)
{
    PGK_TRY(note_modules(r));
    for (size_t s = 0; s < r->stacks.n; s++)
        PGK_INDEX_FOR (&r->by_id, pgk_hash_u64(r->stacks.v[s].id), i)
            if (r->blocks.v[i].id == r->stacks.v[s].id)
                PGK_TRY(add_stack(r, &r->stacks.v[s], &r->blocks.v[i].node));
    for (size_t i = 0; i < r->blocks.n; i++) {
        const struct block *b = &r->blocks.v[i];
        if (b->node == PGK_NODE_NONE)
            return pgk_fail(r->text.err, PGK_E_TRUNCATED, .file = r->text.src->file,
                            .format = r->text.src->format, .offset = &b->off, .record = "block",
                            .field = "stack id",
                            .found = PGK_F("id %" PRIu64 ", which no stack has", b->id),
                            .expected = "a stack for each block",
                            .hint = "the text is cut short; record it again");
        PGK_TRY(pgk_heap_add(r->heap, b->node, &b->mib, r->text.err));
    }
    return 0;
}

bool pgk_heap_text_sniff(const uint8_t *bytes, size_t size)
{
    static const char *const starts[] = {BLOCK_START, "Recorded MIBs (incl. live on exit):",
                                         "Live on exit:", "Evicted:", TERSE_START};
    size_t n = size < SNIFF_BYTES ? size : SNIFF_BYTES;
    struct pgk_text text = pgk_text_of(bytes, n, NULL, NULL, NULL);
    if (n && memchr(bytes, 0, n))
        return false;
    for (struct pgk_text_line l; pgk_text_next(&text, &l);)
        for (size_t i = 0; i < PGK_COUNTOF(starts); i++)
            if (pgk_text_take(&l, starts[i]))
                return true;
    return false;
}

int pgk_heap_text_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                       const struct pgk_source *src, struct pgk_err *err)
{
    struct reader r = {
        .heap = h, .program = PGK_INDEX_NONE, .text = pgk_text_of(bytes, size, src, HINT, err)};
    int status = read_lines(&r);
    if (!status)
        status = join(&r);
    pgk_vec_free(&r.blocks);
    pgk_index_free(&r.by_id);
    pgk_vec_free(&r.lines);
    pgk_vec_free(&r.stacks);
    pgk_vec_free(&r.frames);
    return status;
}

/* ---- among the formats ---- */

static int read(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                struct pgk_file_info *info, struct pgk_err *err)
{
    (void)info;
    return pgk_heap_text_read(heap, file->bytes, file->size, file->src, err);
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    (void)info;
    pgk_info_add(text, "no release of LLVM");
}

const struct pgk_format_row pgk_format_heap_text = {
    .format = {.name = "printed heap profile",
               .kind = PGK_KIND_HEAP,
               .reads = "of clang 13 to " PGK_LLVM_NOW_TEXT,
               .writes = "",
               .made_by = "runtimes of clang 13; 14 to " PGK_LLVM_NOW_TEXT " with print_text",
               .page = "raw-heap.md"},
    .sniff = pgk_heap_text_sniff,
    .read_heap = read,
    .wants_own_heap = true,
    .readers = readers,
};
