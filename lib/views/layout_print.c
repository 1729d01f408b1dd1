/* How hot code lies, and whether a new order pays, as text and as JSON. */
#include "json_out.h"
#include "pgokit/human.h"
#include "pgokit/report.h"

#include <inttypes.h>

/* An instruction cache of 32 KiB has so many lines of 64 bytes, and the table of translations for
 * code so many pages, in most processors of the last ten years. */
enum { CACHE_LINES = 512, CACHE_PAGES = 64 };

static const struct row {
    const char *text, *key;
    size_t off;
} rows[] = {
    {"pages of 4 KiB with 90 %", "pages_90", offsetof(struct pgk_gen_places, pages_90)},
    {"pages of 4 KiB with 99 %", "pages_99", offsetof(struct pgk_gen_places, pages_99)},
    {"lines of 64 B with 90 %", "lines_90", offsetof(struct pgk_gen_places, lines_90)},
    {"lines of 64 B with 99 %", "lines_99", offsetof(struct pgk_gen_places, lines_99)},
    {"ways by taken jumps", "taken", offsetof(struct pgk_gen_places, taken)},
    {"ext-TSP score", "score", offsetof(struct pgk_gen_places, score)},
};
enum { FIRST_SHARE = 4 }; /* of the ways */

static uint64_t figure(const struct pgk_gen_places *p, const struct row *r)
{
    return *(const uint64_t *)(const void *)((const char *)p + r->off);
}

/* ---- whether it pays ---- */

enum pays { NOTHING_PAYS, FUNCTIONS_PAY, BLOCKS_PAY };

/* Code that fits into the caches is as fast anywhere, but for jumps that are taken. */
static enum pays what_pays(const struct pgk_gen_layout *l)
{
    const struct pgk_gen_places *now = &l->now, *f = &l->functions_ordered,
                                *b = &l->blocks_ordered;
    bool fits = now->lines_99 <= CACHE_LINES;
    if (!fits && (b->lines_99 * 10 <= now->lines_99 * 9 || b->taken * 4 <= now->taken * 3))
        return BLOCKS_PAY;
    if (now->pages_99 > CACHE_PAGES && f->pages_90 * 4 <= now->pages_90 * 3)
        return FUNCTIONS_PAY;
    return NOTHING_PAYS;
}

static void verdict(char *text, size_t size, const struct pgk_gen_layout *l)
{
    const struct pgk_gen_places *now = &l->now, *b = &l->blocks_ordered;
    switch (what_pays(l)) {
    case BLOCKS_PAY:
        snprintf(text, size,
                 "An order of blocks should make it faster: %" PRIu64 " lines hold 99 %% of what "
                 "runs, more than the %d of an instruction cache of 32 KiB; in the new order it "
                 "is %" PRIu64 ".", now->lines_99, (int)CACHE_LINES, b->lines_99);
        return;
    case FUNCTIONS_PAY:
        snprintf(text, size,
                 "An order of functions should make it faster: 99 %% of what runs is on %" PRIu64
                 " pages, more than the %d that processors find fast, and 90 %% would be on "
                 "%" PRIu64 " instead of %" PRIu64 ".", now->pages_99, (int)CACHE_PAGES,
                 l->functions_ordered.pages_90, now->pages_90);
        return;
    case NOTHING_PAYS:
        snprintf(text, size,
                 now->lines_99 <= CACHE_LINES
                     ? "A new order will hardly make it faster: %" PRIu64 " lines hold 99 %% of "
                       "what runs, and an instruction cache of 32 KiB has %d."
                     : "A new order will hardly make it faster: %" PRIu64 " lines hold 99 %% of "
                       "what runs, more than the %d of an instruction cache of 32 KiB, but the "
                       "new orders have hardly fewer.", now->lines_99, (int)CACHE_LINES);
        return;
    }
}

/* ---- text ---- */

static void put_cell(FILE *out, const struct pgk_gen_layout *l, const struct pgk_gen_places *p,
                     size_t row)
{
    char text[PGK_HUMAN_SIZE];
    if (row < FIRST_SHARE)
        fprintf(out, " %15s", pgk_human_count(text, figure(p, &rows[row])));
    else
        fprintf(out, " %13.1f %%",
                l->ways ? 100.0 * (double)figure(p, &rows[row]) / (double)l->ways : 0);
}

void pgk_gen_layout_print(const struct pgk_gen_layout *l, FILE *out)
{
    char text[400], functions[PGK_HUMAN_SIZE], blocks[PGK_HUMAN_SIZE], bytes[PGK_HUMAN_SIZE],
        code[PGK_HUMAN_SIZE];
    fprintf(out, "%s functions with %s %s ran: %s of the %s of code\n\n",
            pgk_human_count(functions, l->functions), pgk_human_count(blocks, l->blocks),
            l->mapped ? "blocks" : "blocks, by the instructions,",
            pgk_human_bytes(bytes, (double)l->bytes), pgk_human_bytes(code, (double)l->code_bytes));
    fprintf(out, "%-26s %15s %15s %15s\n", "", "now", "functions first", "blocks, too");
    for (size_t i = 0; i < PGK_COUNTOF(rows); i++) {
        fprintf(out, "%-26s", rows[i].text);
        put_cell(out, l, &l->now, i);
        put_cell(out, l, &l->functions_ordered, i);
        put_cell(out, l, &l->blocks_ordered, i);
        fputc('\n', out);
    }
    verdict(text, sizeof text, l);
    fprintf(out, "\n%s\n", text);
}

/* ---- JSON ---- */

static void put_places(struct pgk_json *j, const char *key, const struct pgk_gen_places *p)
{
    pgk_json_line(j, 1);
    pgk_json_object(j, key);
    for (size_t i = 0; i < PGK_COUNTOF(rows); i++)
        pgk_json_number(j, rows[i].key, figure(p, &rows[i]));
    pgk_json_end_object(j);
}

void pgk_gen_layout_print_json(const struct pgk_gen_layout *l, FILE *out)
{
    static const char *const words[] = {"nothing", "functions", "blocks"};
    struct pgk_text_out text;
    struct pgk_json j;
    char sentence[400];
    verdict(sentence, sizeof sentence, l);
    pgk_text_to_file(&text, out);
    pgk_json_begin(&j, &text, PGK_JSON_SPACED);
    pgk_json_object(&j, NULL);
    pgk_json_text(&j, "format", "pgokit-layout");
    pgk_json_number(&j, "version", 1);
    pgk_json_line(&j, 1);
    pgk_json_flag(&j, "mapped", l->mapped);
    pgk_json_number(&j, "functions", l->functions);
    pgk_json_number(&j, "blocks", l->blocks);
    pgk_json_number(&j, "bytes", l->bytes);
    pgk_json_number(&j, "code_bytes", l->code_bytes);
    pgk_json_number(&j, "ways", l->ways);
    put_places(&j, "now", &l->now);
    put_places(&j, "functions_ordered", &l->functions_ordered);
    put_places(&j, "blocks_ordered", &l->blocks_ordered);
    pgk_json_line(&j, 1);
    pgk_json_text(&j, "pays", words[what_pays(l)]);
    pgk_json_line(&j, 1);
    pgk_json_text(&j, "verdict", sentence);
    pgk_json_end_object(&j);
    pgk_text_lit(&text, "\n");
    pgk_text_flush(&text);
}
