/* The curve of a heap over time, drawn with letters. */
#include "heap_stack_text.h"
#include "heap_view.h"

#include "mem.h"
#include "opts.h"
#include "pgokit/human.h"

#include <string.h>

#define BYTES(x) pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)(x))
#define MS(x)    pgk_human_ms((char[PGK_HUMAN_SIZE]){0}, (double)(x))
#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

enum {
    ROWS = 16,
    ROWS_PER_LABEL = 4,
    LABEL_WIDTH = 10, /* of the axis of bytes, with a blank */
    WIDTH_LEAST = 40,
    WIDTH_USUAL = 80,
};

struct timeline {
    const struct pgk_heap_times *times;
    FILE *out;
    unsigned columns; /* of the curve */
    uint64_t *most;   /* alive, by column */
    uint64_t end_ms, top;
};

static unsigned column_of(const struct timeline *t, uint64_t ms)
{
    return t->end_ms ? (unsigned)((double)ms / (double)t->end_ms * (t->columns - 1) + 0.5) : 0;
}

static void raise_column(struct timeline *t, unsigned column, uint64_t bytes)
{
    if (t->most[column] < bytes)
        t->most[column] = bytes;
    if (t->top < bytes)
        t->top = bytes;
}

/* The most that was alive within each column; between two points it is that of the first one. */
static void fill_columns(struct timeline *t)
{
    const struct pgk_heap_times *s = t->times;
    t->end_ms = s->points[s->n_points - 1].ms;
    t->end_ms = t->end_ms > s->peak_ms ? t->end_ms : s->peak_ms;
    for (size_t i = 0; i < s->n_points; i++) {
        unsigned first = column_of(t, s->points[i].ms),
                 next = i + 1 < s->n_points ? column_of(t, s->points[i + 1].ms) : t->columns;
        raise_column(t, first, s->points[i].bytes);
        for (unsigned c = first + 1; c < next; c++)
            raise_column(t, c, s->points[i].bytes);
    }
    raise_column(t, column_of(t, s->peak_ms), s->peak_bytes);
}

/* The character of a cell `below` cells above the axis. */
static char cell(const struct timeline *t, unsigned column, unsigned below)
{
    double height = t->top ? (double)t->most[column] / (double)t->top * ROWS - below : 0;
    return height >= 1 ? '#' : height >= 0.5 ? ':' : height > 0 ? '.' : ' ';
}

static void print_rows(const struct timeline *t)
{
    for (unsigned row = ROWS; row-- > 0;) {
        const bool labelled = (row + 1) % ROWS_PER_LABEL == 0;
        unsigned n = t->columns;
        while (n && cell(t, n - 1, row) == ' ')
            n--;
        fprintf(t->out, "%*s |", LABEL_WIDTH - 1,
                labelled ? BYTES((double)t->top * (row + 1) / ROWS) : "");
        for (unsigned c = 0; c < n; c++)
            fputc(cell(t, c, row), t->out);
        fputc('\n', t->out);
    }
}

static void print_axis(const struct timeline *t)
{
    const unsigned peak = column_of(t, t->times->peak_ms);
    fprintf(t->out, "%*s +", LABEL_WIDTH - 1, "0 B");
    for (unsigned c = 0; c < t->columns; c++)
        fputc(c == peak ? '^' : '-', t->out);
    fprintf(t->out, "\n%*s0 ms%*s\n\n", LABEL_WIDTH + 1, "", (int)t->columns - 4, MS(t->end_ms));
}

/* Bytes of no object are of profiles that do not count objects. */
static void print_bytes(const struct timeline *t, uint64_t bytes, uint64_t objects)
{
    fputs(BYTES(bytes), t->out);
    if (objects || !bytes)
        fprintf(t->out, " in %s object%s", COUNT(objects), pgk_plural(objects));
}

static void print_summary(const struct timeline *t)
{
    const struct pgk_heap_times *s = t->times;
    const struct pgk_heap_point *last = &s->points[s->n_points - 1];
    fputs("  ^ peak: ", t->out);
    print_bytes(t, s->peak_bytes, s->peak_objects);
    fprintf(t->out, ", after %s\n  last point, after %s: ", MS(s->peak_ms), MS(last->ms));
    print_bytes(t, last->bytes, last->objects);
    if (last->allocated_bytes >= last->bytes)
        fprintf(t->out, "; allocated so far: %s in %s", BYTES(last->allocated_bytes),
                COUNT(last->allocated_objects));
    fputc('\n', t->out);
    if (s->processes > 1)
        fprintf(t->out, "  of the process with the highest peak, of %s\n", COUNT(s->processes));
}

int pgk_heap_print_timeline(const struct pgk_heap *heap, const struct pgk_heap_timeline_opts *given,
                            FILE *out, struct pgk_err *err)
{
    struct pgk_heap_timeline_opts opts;
    struct pgk_heap_times times = {.struct_size = sizeof times};
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    pgk_heap_over_time(heap, &times);
    if (!times.n_points)
        return pgk_fail(err, PGK_E_EMPTY, .file = opts.title, .record = "heap over time",
                        .found = "no curve", .expected = "a profile of pgokit's runtime",
                        .hint = "record it with pgokit record heap; LLVM's formats do not hold "
                                "the curve");
    struct timeline t = {.times = &times, .out = out};
    unsigned width = opts.width ? opts.width : WIDTH_USUAL;
    t.columns = (width > WIDTH_LEAST ? width : WIDTH_LEAST) - LABEL_WIDTH - 1;
    t.most = pgk_mem_zalloc(t.columns, sizeof *t.most);
    if (!t.most)
        return pgk_fail_nomem(err);
    const struct pgk_text_style style = {.out = out, .colour = opts.colour};
    if (opts.title)
        fprintf(out, "%s%s%s: bytes alive over time\n\n", pgk_style_on(&style, PGK_STYLE_BOLD),
                opts.title, pgk_style_off(&style));
    fill_columns(&t);
    print_rows(&t);
    print_axis(&t);
    print_summary(&t);
    pgk_mem_free(t.most);
    return 0;
}
