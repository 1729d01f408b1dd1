/* The pseudo probes of a program for people. */
#include "probe_stats.h"
#include "opts.h"
#include "shown_names.h"
#include "text_out.h"

#include "mem.h"
#include "pgokit/human.h"

#include <inttypes.h>

#define BOLD "\033[1m"
#define DIM  "\033[2m"
#define OFF  "\033[0m"

struct table {
    const struct pgk_probes *probes;
    const struct pgk_probe_index *index;
    const struct pgk_probes_print_opts *opts;
    struct pgk_shown_names names;
    size_t next_root; /* of the functions with code, to be listed */
    struct pgk_text_out out;
};

#define COUNT(n) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (n))
#define BYTES(n) pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)(n))

static void colour(struct table *t, const char *code)
{
    if (t->opts->colour)
        pgk_text_str(&t->out, code);
}

static double share(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0;
}

static double per(uint64_t part, uint64_t of)
{
    return of ? (double)part / (double)of : 0;
}

static void print_types(struct table *t, const struct pgk_probe_stats *s)
{
    static const char *const names[] = {"blocks", "indirect calls", "direct calls"};
    for (int i = 0; i < PGK_PROBE_TYPES; i++)
        pgk_text_printf(&t->out, "    %-15s%14s  %5.1f %%\n", names[i], COUNT(s->by_type[i]),
                        share(s->by_type[i], s->totals.probes));
    pgk_text_printf(&t->out, "    %-15s%14s  %5.1f %%  code copied within its function\n",
                    "duplicated", COUNT(s->duplicated), share(s->duplicated, s->totals.probes));
}

static void print_depths(struct table *t, const struct pgk_probe_stats *s)
{
    static const char bar[] = "########################################";
    pgk_text_printf(&t->out, "\n  probes by inline depth, the deepest being %" PRIu32 "\n",
                    s->deepest);
    for (uint32_t d = 0; d < PGK_PROBE_DEPTHS && d <= s->deepest; d++) {
        bool last = d == PGK_PROBE_DEPTHS - 1 && s->deepest > d;
        double percent = share(s->by_depth[d], s->totals.probes);
        int length = (int)(percent * 0.4 + 0.5);
        pgk_text_printf(&t->out, "    %2" PRIu32 "%-8s%18s  %5.1f %%%s%.*s\n", d,
                        last ? " or more" : "", COUNT(s->by_depth[d]), percent, length ? "  " : "",
                        length, bar);
    }
}

static void print_summary(struct table *t, const struct pgk_probe_stats *s)
{
    const struct pgk_probes_totals *n = &s->totals;
    struct pgk_text_out *o = &t->out;
    char safe[512];
    colour(t, BOLD);
    pgk_text_str(o, pgk_human_text(safe, sizeof safe, t->opts->title));
    colour(t, OFF);
    pgk_text_lit(o, ": program with pseudo probes\n\n");
    pgk_text_printf(o, "  functions        %14s  %s described, %s more only inlined\n",
                    COUNT(n->roots), COUNT(s->described),
                    COUNT(s->functions > n->roots ? s->functions - n->roots : 0));
    pgk_text_printf(o, "  inlined copies   %14s  %.1f per function\n", COUNT(n->nodes - n->roots),
                    per(n->nodes - n->roots, n->roots));
    pgk_text_printf(o, "  probes           %14s  %.1f per function\n", COUNT(n->probes),
                    per(n->probes, n->roots));
    print_types(t, s);
    if (n->lost_probes)
        pgk_text_printf(o,
                        "  without code     %14s  probe%s of %s function%s not in the program\n",
                        COUNT(n->lost_probes), pgk_plural(n->lost_probes), COUNT(n->lost_roots),
                        n->lost_roots == 1 ? " that is" : "s that are");
    pgk_text_printf(o, "  .pseudo_probe    %14s  %.1f B per probe, %.0f %% of the code's %s\n",
                    BYTES(n->probe_bytes), per(n->probe_bytes, n->probes + n->lost_probes),
                    share(n->probe_bytes, n->text_bytes), BYTES(n->text_bytes));
    pgk_text_printf(o, "  .pseudo_probe_desc %12s  %.0f %% of the code\n", BYTES(n->desc_bytes),
                    share(n->desc_bytes, n->text_bytes));
    print_depths(t, s);
}

/* Overloads look alike and long names are shortened: JSON has the linkage names. */
static void print_name(struct table *t, uint32_t desc)
{
    struct pgk_probe_desc d = pgk_probe_desc_at(t->probes, desc);
    pgk_text_str(&t->out, pgk_shown_name(&t->names, d.name, d.name_len));
}

/* "  12 probes, 0x11a0 to 0x11f3": of the function and all that is inlined. */
static void print_extent(struct table *t)
{
    struct pgk_probe_root r;
    do
        r = pgk_probe_root_at(t->probes, t->next_root++);
    while (!r.located);
    pgk_text_printf(&t->out, "  %s probe%s, 0x%" PRIx64 " to 0x%" PRIx64, COUNT(r.probes),
                    pgk_plural(r.probes), r.low, r.high);
}

/* A node's line, then its probes: "  3 call 0x11c3". */
static void list_node(void *ctx, uint32_t node, uint32_t depth, uint32_t first, uint32_t count)
{
    static const char *const types[] = {"block", "indirect call", "call"};
    enum { DEEPEST_INDENT = 40 };
    struct table *t = ctx;
    struct pgk_text_out *o = &t->out;
    size_t indent = 2 * (size_t)(depth < DEEPEST_INDENT ? depth : DEEPEST_INDENT);
    if (!depth)
        pgk_text_lit(o, "\n");
    pgk_text_fill(o, ' ', indent);
    colour(t, BOLD);
    if (depth)
        pgk_text_printf(o, "%" PRIu32 ": ", pgk_probe_site(t->index, node));
    print_name(t, pgk_probe_function(t->index, node));
    colour(t, OFF);
    if (!depth)
        print_extent(t);
    pgk_text_lit(o, "\n");
    for (uint32_t i = first; i < first + count; i++) {
        struct pgk_probe p = pgk_probe_get(t->index, i);
        pgk_text_fill(o, ' ', indent + 2);
        pgk_text_printf(o, "%-4" PRIu32 " ", p.index);
        colour(t, DIM);
        pgk_text_printf(o, "0x%" PRIx64, p.addr);
        colour(t, OFF);
        pgk_text_printf(o, " %s", types[p.type]);
        if (p.discriminator)
            pgk_text_printf(o, ", discriminator %" PRIu32, p.discriminator);
        pgk_text_lit(o, "\n");
    }
}

enum { EXTENT = 45 }; /* what is in a line with a name */

int pgk_probes_print_table(const struct pgk_probes *probes, const struct pgk_probe_index *index,
                           const struct pgk_probes_print_opts *given, FILE *out,
                           struct pgk_err *err)
{
    struct pgk_probes_print_opts taken, *opts = &taken;
    PGK_TRY(PGK_OPTS_TAKE(opts, given, err));
    opts->title = opts->title ? opts->title : "";
    struct pgk_probe_stats stats;
    PGK_TRY(pgk_probe_stats(probes, index, &stats, err));
    struct table *t = pgk_mem_zalloc(1, sizeof *t);
    if (!t)
        return pgk_fail_nomem(err);
    t->probes = probes;
    t->index = index;
    t->opts = opts;
    t->names.whole = !opts->width;
    t->names.columns = opts->width > EXTENT ? opts->width - EXTENT : 0;
    pgk_text_to_file(&t->out, out);
    print_summary(t, &stats);
    int status = opts->list ? pgk_probe_walk_nodes(index, list_node, t, err) : 0;
    if (!status && t->names.failed)
        status = pgk_fail_nomem(err);
    pgk_text_flush(&t->out);
    pgk_shown_names_free(&t->names);
    pgk_mem_free(t);
    return status;
}
