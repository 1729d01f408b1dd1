/* The listing for people: names instead of addresses, lines where they change. */
#include "demangle.h"
#include "disasm_priv.h"
#include "mem.h"
#include "path.h"
#include "pgokit/human.h"

#include <inttypes.h>

#define BOLD   "\033[1m"
#define DIM    "\033[2m"
#define PROBE  "\033[36m"
#define SOURCE "\033[32m"
#define BRANCH "\033[33m"
#define BAD    "\033[31m"
#define HOT    "\033[1;31m"
#define WARM   "\033[33m"
#define OFF    "\033[0m"

static void colour(struct pgk_disasm *d, const char *code)
{
    if (d->opts->colour)
        pgk_text_str(&d->out, code);
}

/* Names come from files: no control bytes to the terminal. */
static void print_safe(struct pgk_disasm *d, const char *name)
{
    char safe[512];
    pgk_text_str(&d->out, pgk_human_text(safe, sizeof safe, name));
}

/* All of it, as in the heading of a function, as far as the line has space beside what follows. */
static void print_long_name(struct pgk_disasm *d, const char *name)
{
    enum { AFTER = 30, LEAST = 20 };
    const unsigned width = d->opts->width;
    char *plain = pgk_demangle_fully(name);
    if (plain && width)
        plain = pgk_fit_name(plain, width > AFTER + LEAST ? width - AFTER : LEAST);
    print_safe(d, plain ? plain : name);
    pgk_mem_free(plain);
}

static void print_name(struct pgk_disasm *d, const char *name)
{
    pgk_text_str(&d->out, pgk_shown_name(&d->names, name, strlen(name)));
}

static void print_symbol_name(struct pgk_disasm *d, const struct pgk_disasm_symbol *s)
{
    const char **known = &d->symbol_names[s - d->symbols.v];
    if (!*known)
        *known = pgk_shown_name(&d->names, s->name, strlen(s->name));
    pgk_text_str(&d->out, *known);
}

static void print_desc(struct pgk_disasm *d, uint32_t desc)
{
    const char **known = &d->desc_names[desc];
    if (!*known) {
        struct pgk_probe_desc p = pgk_probe_desc_at(d->probes, desc);
        *known = pgk_shown_name(&d->names, p.name, p.name_len);
    }
    pgk_text_str(&d->out, *known);
}

/* ---- counts ---- */

enum { COUNT_COLUMNS = 13, HEAT_COLUMNS = COUNT_COLUMNS + 1 + PGK_DISASM_MARKS + 2 };

static void print_count(struct pgk_disasm *d, const struct pgk_disasm_count *count)
{
    static const char *const colours[] = {[PGK_DISASM_NEVER] = DIM, [PGK_DISASM_COLD] = "",
                                          [PGK_DISASM_WARM] = WARM, [PGK_DISASM_HOT] = HOT};
    char number[PGK_HUMAN_SIZE];
    if (!count->known) {
        pgk_text_fill(&d->out, ' ', HEAT_COLUMNS);
        return;
    }
    unsigned marks = pgk_disasm_marks(d->counts, count->samples);
    pgk_human_count(number, count->samples);
    size_t width = strlen(number);
    pgk_text_fill(&d->out, ' ', width < COUNT_COLUMNS ? COUNT_COLUMNS - width : 0);
    colour(d, colours[pgk_disasm_temperature(d->counts, count->samples)]);
    pgk_text_str(&d->out, number);
    pgk_text_lit(&d->out, " ");
    pgk_text_fill(&d->out, '#', marks);
    colour(d, OFF);
    pgk_text_fill(&d->out, ' ', PGK_DISASM_MARKS - marks + 2);
}

/* Where there is no count on a line. */
static void skip_count(struct pgk_disasm *d)
{
    if (d->counts)
        pgk_text_fill(&d->out, ' ', HEAT_COLUMNS);
}

static void print_value_name(struct pgk_disasm *d, uint32_t id)
{
    const struct pgk_sample_name *name = &pgk_disasm_profile(d->counts)->names.list.v[id];
    if (name->s)
        print_name(d, name->s);
    else
        pgk_text_printf(&d->out, "GUID 0x%016" PRIx64, name->guid);
}

/* "# calls foo 70, bar 3; types A 2", of what a call's place has. */
static void print_values(struct pgk_disasm *d, const struct pgk_disasm_count *count)
{
    char number[PGK_HUMAN_SIZE];
    if (!count->n_values)
        return;
    skip_count(d);
    colour(d, DIM);
    pgk_text_lit(&d->out, "          #");
    for (size_t i = 0; i < count->n_values; i++) {
        const struct pgk_sample_rec *v = &count->values[i];
        bool first = !i || pgk_rec_is_target(v) != pgk_rec_is_target(v - 1);
        pgk_text_str(&d->out, !first ? ", " : i ? "; type " : pgk_rec_is_target(v) ? " calls "
                                                                                   : " type ");
        print_value_name(d, pgk_rec_name(v));
        pgk_text_lit(&d->out, " ");
        pgk_text_str(&d->out, pgk_human_count(number, v->count));
    }
    colour(d, OFF);
    pgk_text_lit(&d->out, "\n");
}

static void print_heat(struct pgk_disasm *d, const struct pgk_disasm_function *f)
{
    struct pgk_disasm_heat heat = pgk_disasm_function_heat(d, f);
    char number[PGK_HUMAN_SIZE];
    if (!heat.profiles) {
        pgk_text_lit(&d->out, "  not in the profile\n");
        return;
    }
    pgk_text_printf(&d->out, "  %s sample%s, %.1f %% of the profile",
                    pgk_human_count(number, heat.samples), pgk_plural(heat.samples),
                    100 * heat.share);
    if (heat.head)
        pgk_text_printf(&d->out, ", %s at its head", pgk_human_count(number, heat.head));
    if (heat.profiles > 1)
        pgk_text_printf(&d->out, ", in %s contexts", pgk_human_count(number, heat.profiles));
    pgk_text_lit(&d->out, "\n");
    colour(d, DIM);
    pgk_text_lit(&d->out, "      samples heat");
    colour(d, OFF);
    pgk_text_lit(&d->out, "\n");
}

static void print_stale(struct pgk_disasm *d, uint32_t probe)
{
    uint64_t theirs, ours;
    if (!pgk_disasm_first_stale(d->counts, probe, &theirs, &ours))
        return;
    skip_count(d);
    colour(d, BAD);
    pgk_text_lit(&d->out, "          # ");
    print_desc(d, pgk_probe_function(d->index, pgk_probe_get(d->index, probe).node));
    pgk_text_printf(&d->out,
                    ": the profile is of other code (checksum 0x%" PRIx64 ", here 0x%" PRIx64
                    "), its counts may belong to other places",
                    theirs, ours);
    colour(d, OFF);
    pgk_text_lit(&d->out, "\n");
}

static int begin(struct pgk_disasm *d, struct pgk_err *err)
{
    size_t descs = d->probes ? pgk_probe_descs(d->probes) : 0;
    enum { BEFORE_NAMES = 50, LEAST = 16 }; /* counts, address, instruction */
    const unsigned width = d->opts->width;
    d->names.columns = !width ? 0 : width > BEFORE_NAMES + LEAST ? width - BEFORE_NAMES : LEAST;
    d->sources.folders = d->opts->source_dirs;
    d->sources.n_folders = d->opts->n_source_dirs;
    d->desc_names = pgk_mem_zalloc(descs + 1, sizeof *d->desc_names);
    d->symbol_names = pgk_mem_zalloc(d->symbols.n + 1, sizeof *d->symbol_names);
    return d->desc_names && d->symbol_names ? 0 : pgk_fail_nomem(err);
}

static void section(struct pgk_disasm *d, const struct pgk_elf_section_info *s)
{
    (void)s;
    d->last_source = NULL;
}

static void function(struct pgk_disasm *d, const struct pgk_disasm_function *f)
{
    char size[PGK_HUMAN_SIZE];
    colour(d, BOLD);
    print_long_name(d, f->symbol->name);
    colour(d, OFF);
    pgk_text_printf(&d->out, "  0x%" PRIx64 ", %s, ", f->low,
                    pgk_human_bytes(size, (double)(f->high - f->low)));
    print_safe(d, pgk_elf_section_at(d->elf, f->section).name);
    for (size_t i = 0; i < f->n_aliases; i++) {
        pgk_text_str(&d->out, i ? ", " : "\n  also ");
        print_long_name(d, f->aliases[i].name);
    }
    pgk_text_lit(&d->out, "\n");
    if (d->counts)
        print_heat(d, f);
    d->last_source = NULL;
    d->function = f;
}

static void function_end(struct pgk_disasm *d)
{
    pgk_text_lit(&d->out, "\n");
}

static void print_probe(struct pgk_disasm *d, uint32_t number)
{
    struct pgk_text_out *o = &d->out;
    struct pgk_probe p = pgk_probe_get(d->index, number);
    struct pgk_probe_frame frames[PGK_PROBE_MAX_DEPTH];
    struct pgk_disasm_count count = {0};
    if (d->counts) {
        count = pgk_disasm_count_probe(d->counts, number);
        print_stale(d, number);
        print_count(d, &count);
    }
    colour(d, PROBE);
    pgk_text_lit(o, "          [Probe]: FUNC: ");
    print_desc(d, pgk_probe_function(d->index, p.node));
    pgk_text_printf(o, " Index: %" PRIu32, p.index);
    if (p.discriminator)
        pgk_text_printf(o, " Discriminator: %" PRIu32, p.discriminator);
    pgk_text_printf(o, " Type: %s", pgk_probe_type_name(p.type));
    size_t depth = pgk_probe_context(d->index, p.node, frames, PGK_PROBE_MAX_DEPTH);
    for (size_t i = 0; i < depth; i++) {
        pgk_text_str(o, i ? " @ " : " Inlined: @ ");
        print_desc(d, frames[i].desc);
        pgk_text_printf(o, ":%" PRIu32, frames[i].site);
    }
    uint32_t copies = d->counts ? pgk_probe_copies(d->index, number) : 1;
    if (copies > 1)
        pgk_text_printf(o, " Copies: %" PRIu32, copies);
    colour(d, OFF);
    pgk_text_lit(o, "\n");
    print_values(d, &count);
}

static bool same_place(const struct pgk_sym_chain *a, const struct pgk_sym_chain *b)
{
    if (!a || !b || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++) {
        const struct pgk_sym_frame *x = &a->frames[i], *y = &b->frames[i];
        if (x->function != y->function || x->line != y->line || x->file != y->file)
            return false;
    }
    return true;
}

/* The text of the line, if its file is there. */
static void print_line(struct pgk_disasm *d, const struct pgk_sym_frame *f)
{
    const struct pgk_source_file *file = NULL;
    char text[256], safe[512];
    size_t len = 0;
    if (f->file && f->line && pgk_source_find(&d->sources, f->file, &file, NULL) < 0)
        d->failed = true;
    const char *line = file ? pgk_source_line(file, f->line, &len) : NULL;
    for (; line && len && (*line == ' ' || *line == '\t'); line++)
        len--;
    if (!len)
        return;
    len = len < sizeof text ? len : sizeof text - 1;
    memcpy(text, line, len);
    text[len] = 0;
    skip_count(d);
    colour(d, DIM);
    pgk_text_lit(&d->out, "            ");
    pgk_text_str(&d->out, pgk_human_text(safe, sizeof safe, text));
    colour(d, OFF);
    pgk_text_lit(&d->out, "\n");
}

/* "file.c:12 foo, inlined at file.c:40 into main" */
static void print_source(struct pgk_disasm *d, const struct pgk_sym_chain *chain)
{
    if (!chain->count || same_place(chain, d->last_source))
        return;
    d->last_source = chain;
    skip_count(d);
    colour(d, SOURCE);
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct pgk_sym_frame *f = &chain->frames[i];
        pgk_text_str(&d->out, i ? ", inlined at " : "          ");
        print_safe(d, f->file ? pgk_base_name(f->file) : "?");
        if (f->line) /* else code that the compiler added */
            pgk_text_printf(&d->out, ":%" PRIu32, f->line);
        pgk_text_str(&d->out, i ? " into " : " ");
        print_name(d, f->function ? f->function : "?");
    }
    colour(d, OFF);
    pgk_text_lit(&d->out, "\n");
    print_line(d, &chain->frames[0]);
}

/* " <symbol+0x10>", if there is a symbol; " <+0x10>" within the function itself. */
static void print_symbol(struct pgk_disasm *d, uint64_t addr)
{
    const struct pgk_disasm_symbol *s = pgk_disasm_find(d, addr);
    if (!s)
        return;
    colour(d, DIM);
    pgk_text_lit(&d->out, " <");
    bool elsewhere = s->addr != d->function->low || s->section != d->function->section;
    if (elsewhere || addr == s->addr)
        print_symbol_name(d, s);
    if (s->plt)
        pgk_text_lit(&d->out, "@plt");
    if (addr != s->addr)
        pgk_text_printf(&d->out, "+0x%" PRIx64, addr - s->addr);
    pgk_text_lit(&d->out, ">");
    colour(d, OFF);
}

/* The mnemonic in columns; prefixes are set off by tabs of their own. */
static void print_text(struct pgk_disasm *d, const struct pgk_disasm_row *row)
{
    enum { MNEMONIC = 8 };
    const char *s = row->text, *tab = strrchr(s, '\t');
    size_t len = 0, n = tab ? (size_t)(tab - s) : row->text_len;
    bool branch = row->insn.kind != PGK_INSN_OTHER;
    colour(d, !row->insn.valid ? BAD : branch ? BRANCH : "");
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '\t' && i && s[i - 1] == '\t')
            continue;
        pgk_text_bytes(&d->out, s[i] == '\t' ? " " : s + i, 1);
        len++;
    }
    colour(d, !row->insn.valid || branch ? OFF : "");
    if (!tab)
        return;
    pgk_text_fill(&d->out, ' ', len < MNEMONIC ? MNEMONIC - len : 1);
    pgk_text_str(&d->out, tab + 1);
}

static void insn(struct pgk_disasm *d, const struct pgk_disasm_row *row)
{
    if (row->source)
        print_source(d, row->source);
    for (size_t i = 0; i < row->n_probes; i++)
        print_probe(d, pgk_probe_by_address(d->index, row->first_probe + i));
    if (d->counts)
        print_count(d, &row->count);
    colour(d, DIM);
    pgk_text_hex(&d->out, row->insn.addr, 8);
    colour(d, OFF);
    pgk_text_lit(&d->out, "  ");
    print_text(d, row);
    if (row->insn.target)
        print_symbol(d, row->insn.target);
    if (row->insn.data) {
        pgk_text_printf(&d->out, "  # 0x%" PRIx64, row->insn.data);
        print_symbol(d, row->insn.data);
    }
    pgk_text_lit(&d->out, "\n");
    if (row->insn.kind == PGK_INSN_CALL || row->insn.kind == PGK_INSN_JUMP)
        print_values(d, &row->count);
}

const struct pgk_disasm_style pgk_disasm_text = {
    .insns = PGK_INSN_READABLE,
    .begin = begin,
    .section = section,
    .function = function,
    .insn = insn,
    .function_end = function_end,
};
