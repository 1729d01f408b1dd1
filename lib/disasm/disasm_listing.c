/* The walk over sections, symbols and instructions that all styles share. */
#include "disasm_priv.h"

#include "debug_caches.h"
#include "demangle.h"
#include "hash.h"
#include "machine.h"
#include "mem.h"
#include "opts.h"
#include "probes.h"
#include "u64_set.h"

#include <elf.h>
#include <stdlib.h>

enum { SOURCE_BATCH = 1 << 16 }; /* instructions whose frames are in memory at a time */

/* The source frames of some functions. */
struct batch {
    PGK_VEC(uint64_t) addrs; /* of their instructions */
    struct pgk_sym_chain *chains;
    struct pgk_arena arena;
};

/* ---- symbols ---- */

static int compare_symbols(const void *a, const void *b)
{
    const struct pgk_disasm_symbol *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int add_symbol(void *ctx, const struct pgk_elf_entry *e)
{
    struct pgk_disasm *d = ctx;
    d->flow_sensitive |= !strcmp(e->name, "__llvm_fs_discriminator__");
    if (e->section == SHN_UNDEF || e->section >= pgk_elf_section_count(d->elf))
        return 0;
    bool code = (e->type == STT_FUNC || e->type == STT_GNU_IFUNC || e->type == STT_NOTYPE) &&
                *e->name && *e->name != '$';
    if (!code && !d->style->every_symbol)
        return 0;
    struct pgk_disasm_symbol s = {e->name, e->addr, e->section, .code = code};
    return pgk_vec_push(&d->symbols, s) ? 0 : PGK_E_NOMEM;
}

const struct pgk_disasm_symbol *pgk_disasm_find(const struct pgk_disasm *d, uint64_t addr)
{
    size_t n = pgk_elf_section_count(d->elf), number = 0;
    for (; number < n; number++) {
        struct pgk_elf_section_info s = pgk_elf_section_at(d->elf, number);
        if ((s.flags & SHF_ALLOC) && addr >= s.addr && addr - s.addr < s.size)
            break;
    }
    size_t from = 0, to = d->symbols.n; /* the first after `addr` */
    while (from < to) {
        const struct pgk_disasm_symbol *s = &d->symbols.v[from + (to - from) / 2];
        if (s->section < number || (s->section == number && s->addr <= addr))
            from += (to - from) / 2 + 1;
        else
            to = from + (to - from) / 2;
    }
    return from && d->symbols.v[from - 1].section == number ? &d->symbols.v[from - 1] : NULL;
}

/* "ns::f" stands for every function of that name. */
static bool is_wanted(const struct pgk_disasm *d, const struct pgk_disasm_symbol *s)
{
    const struct pgk_disasm_opts *o = d->opts;
    bool wanted = !o->n_functions;
    for (size_t i = 0; i < o->n_functions && !wanted; i++)
        wanted = !strcmp(o->functions[i], s->name);
    if (wanted || d->style->every_symbol)
        return wanted;
    char *plain = pgk_demangle(s->name);
    for (size_t i = 0; i < o->n_functions && plain && !wanted; i++)
        wanted = pgk_disasm_is_named(plain, o->functions[i]);
    pgk_mem_free(plain);
    return wanted;
}

/* Whether one of the names of an address is wanted. */
static bool any_wanted(const struct pgk_disasm *d, const struct pgk_disasm_symbol *first,
                       const struct pgk_disasm_symbol *last)
{
    for (; first <= last; first++)
        if (is_wanted(d, first))
            return true;
    return false;
}

/* ---- functions ---- */

/* Symbols `first` .. `end` of a section. A function ends where the next symbol is. */
static bool add_functions(struct pgk_disasm *d, uint32_t section, size_t first, size_t end)
{
    struct pgk_elf_section_info s = pgk_elf_section_at(d->elf, section);
    const struct pgk_disasm_symbol *syms = d->symbols.v;
    uint64_t section_end = s.addr + s.size;
    for (size_t i = first, alias = first; i < end; i++) {
        if (syms[i].addr != syms[alias].addr || d->style->every_symbol)
            alias = i;
        struct pgk_disasm_function f = {.symbol = &syms[i],
                                        .low = syms[i].addr,
                                        .high = section_end,
                                        .section = section,
                                        .aliases = &syms[alias],
                                        .n_aliases = i - alias};
        if (i + 1 < end && syms[i + 1].addr < section_end)
            f.high = syms[i + 1].addr;
        if (f.low < s.addr || f.high < f.low || !s.bytes)
            f.high = f.low;
        if ((f.low == f.high && !d->style->every_symbol) || !any_wanted(d, &syms[alias], &syms[i]))
            continue;
        if (!pgk_vec_push(&d->functions, f))
            return false;
    }
    return true;
}

static bool is_listed(const struct pgk_elf_section_info *s)
{
    return (s->flags & SHF_EXECINSTR) && s->size && s->addr <= UINT64_MAX - s->size;
}

/* The functions to list, by section and address. */
static int choose_functions(struct pgk_disasm *d, struct pgk_err *err)
{
    for (size_t first = 0, end; first < d->symbols.n; first = end) {
        uint32_t section = d->symbols.v[first].section;
        struct pgk_elf_section_info s = pgk_elf_section_at(d->elf, section);
        for (end = first; end < d->symbols.n && d->symbols.v[end].section == section;)
            end++;
        /* llvm-profgen leaves out .plt alone. */
        bool left_out = d->style->every_symbol ? !strcmp(s.name, ".plt") : pgk_disasm_is_plt(&s);
        if (is_listed(&s) && !left_out && !add_functions(d, section, first, end))
            return pgk_fail_nomem(err);
    }
    return d->style->every_symbol ? 0 : pgk_disasm_check_names(d, err);
}

/* ---- counts ---- */

static bool has_counts_by_probes(const struct pgk_disasm *d)
{
    return d->counts && pgk_disasm_profile(d->counts)->kind.probes;
}

static bool has_counts_by_lines(const struct pgk_disasm *d)
{
    return d->counts && !pgk_disasm_profile(d->counts)->kind.probes;
}

static bool is_ranked(const struct pgk_disasm *d)
{
    return d->counts && d->opts->top;
}

struct ranked {
    struct pgk_disasm_function function;
    uint64_t samples;
};

static int compare_heat(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->samples != y->samples)
        return x->samples > y->samples ? -1 : 1;
    return x->function.symbol < y->function.symbol ? -1 : x->function.symbol > y->function.symbol;
}

struct pgk_disasm_heat pgk_disasm_function_heat(const struct pgk_disasm *d,
                                                const struct pgk_disasm_function *f)
{
    struct pgk_disasm_heat heat = pgk_disasm_heat(d->counts, f->symbol->name);
    for (size_t i = 0; i < f->n_aliases && !heat.profiles; i++)
        heat = pgk_disasm_heat(d->counts, f->aliases[i].name);
    return heat;
}

/* Leaves the `top` functions with the most samples, hottest first. */
static int choose_hottest(struct pgk_disasm *d, struct pgk_err *err)
{
    struct ranked *ranked = pgk_mem_alloc(d->functions.n + 1, sizeof *ranked);
    size_t n = 0;
    if (!ranked)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < d->functions.n; i++) {
        const struct pgk_disasm_function *f = &d->functions.v[i];
        struct pgk_disasm_heat heat = pgk_disasm_function_heat(d, f);
        if (heat.samples)
            ranked[n++] = (struct ranked){*f, heat.samples};
    }
    if (n)
        qsort(ranked, n, sizeof *ranked, compare_heat);
    d->functions.n = n < d->opts->top ? n : d->opts->top;
    for (size_t i = 0; i < d->functions.n; i++)
        d->functions.v[i] = ranked[i].function;
    pgk_mem_free(ranked);
    return 0;
}

/* ---- instructions ---- */

static const uint8_t *bytes_at(const struct pgk_elf_section_info *s, uint64_t addr, size_t *n)
{
    *n = (size_t)(s->addr + s->size - addr);
    return s->bytes + (addr - s->addr);
}

static bool collect(struct pgk_disasm *d, const struct pgk_disasm_function *f, struct batch *b)
{
    struct pgk_elf_section_info s = pgk_elf_section_at(d->elf, f->section);
    struct pgk_insn insn;
    for (uint64_t at = f->low; at < f->high; at += insn.length) {
        size_t left;
        const uint8_t *bytes = bytes_at(&s, at, &left);
        pgk_insn_decode(&d->decoder, bytes, left, at, &insn);
        if (!pgk_vec_push(&b->addrs, at))
            return false;
    }
    return true;
}

static void list_insns(struct pgk_disasm *d, const struct pgk_disasm_function *f, struct batch *b)
{
    struct pgk_elf_section_info s = pgk_elf_section_at(d->elf, f->section);
    char text[PGK_INSN_TEXT_SIZE];
    struct pgk_disasm_row row = {.text = text};
    size_t position = d->index ? pgk_probe_lower_bound(d->index, f->low) : 0;
    size_t n_probes = d->index ? pgk_probe_count(d->index) : 0;
    bool was_valid = true, by_lines = has_counts_by_lines(d);
    for (uint64_t at = f->low; at < f->high; at += row.insn.length) {
        size_t left;
        const uint8_t *bytes = bytes_at(&s, at, &left);
        row.text_len = pgk_insn_text(&d->decoder, bytes, left, at, &row.insn, text);
        while (position < n_probes && pgk_probe_address_at(d->index, position) < at)
            position++;
        row.first_probe = position;
        while (position < n_probes && pgk_probe_address_at(d->index, position) == at)
            position++;
        row.n_probes = position - row.first_probe;
        row.frames = d->sym ? &b->chains[pgk_u64_find(b->addrs.v, b->addrs.n, at)] : NULL;
        row.source = d->opts->source ? row.frames : NULL;
        if (by_lines)
            row.count = pgk_disasm_count_frames(d->counts, row.frames);
        d->style->insn(d, &row);
        d->done.instructions += row.insn.valid;
        d->done.probes += row.n_probes;
        d->done.invalid_runs += was_valid && !row.insn.valid;
        was_valid = row.insn.valid;
    }
}

static int look_up_sources(struct pgk_disasm *d, struct batch *b, struct pgk_err *err)
{
    /* An instruction may reach over the next symbol, which is then decoded again. */
    b->addrs.n = pgk_u64_set(b->addrs.v, b->addrs.n);
    b->chains = pgk_arena_alloc(&b->arena, b->addrs.n + 1, sizeof *b->chains);
    if (!b->chains)
        return pgk_fail_nomem(err);
    return pgk_symbolise(d->sym, b->addrs.v, b->addrs.n, d->opts->threads, &b->arena, b->chains,
                         err);
}

/* Functions `first` .. of one section, as many as a batch holds; *next is the one after them. */
static int list_batch(struct pgk_disasm *d, size_t first, size_t *next, struct pgk_err *err)
{
    struct batch b = {0};
    const struct pgk_disasm_function *f = d->functions.v;
    uint32_t section = f[first].section;
    size_t last = first;
    int status = 0;
    do {
        if (d->sym && !collect(d, &f[last], &b))
            status = pgk_fail_nomem(err);
        last++;
    } while (!status && last < d->functions.n && f[last].section == section &&
             b.addrs.n < SOURCE_BATCH);
    if (!status && d->sym)
        status = look_up_sources(d, &b, err);
    for (size_t i = first; i < last && !status; i++) {
        d->style->function(d, &f[i]);
        list_insns(d, &f[i], &b);
        d->style->function_end(d);
        if (d->failed || d->names.failed || (d->counts && pgk_disasm_counts_failed(d->counts)))
            status = pgk_fail_nomem(err);
    }
    d->done.functions += last - first;
    pgk_arena_free(&b.arena);
    pgk_vec_free(&b.addrs);
    *next = last;
    return status;
}

static int list_all(struct pgk_disasm *d, struct pgk_err *err)
{
    for (size_t at = 0; at < d->functions.n;)
        PGK_TRY(list_batch(d, at, &at, err));
    return 0;
}

static int list_sections(struct pgk_disasm *d, struct pgk_err *err)
{
    size_t n = pgk_elf_section_count(d->elf), at = 0;
    for (size_t i = 0; i < n; i++) {
        struct pgk_elf_section_info s = pgk_elf_section_at(d->elf, i);
        if (!is_listed(&s))
            continue;
        if (d->style->section)
            d->style->section(d, &s);
        while (at < d->functions.n && d->functions.v[at].section == i)
            PGK_TRY(list_batch(d, at, &at, err));
    }
    return 0;
}

/* ---- opening ---- */

static int compare_ranges(const void *a, const void *b)
{
    const struct pgk_probe_range *x = a, *y = b;
    return x->low < y->low ? -1 : x->low > y->low;
}

/* Only the probes of what is listed. */
static int index_functions(struct pgk_disasm *d, struct pgk_err *err)
{
    size_t n = d->functions.n;
    struct pgk_probe_range *ranges = pgk_mem_alloc(n + 1, sizeof *ranges);
    if (!ranges)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        ranges[i] = (struct pgk_probe_range){d->functions.v[i].low, d->functions.v[i].high};
    if (n)
        qsort(ranges, n, sizeof *ranges, compare_ranges);
    int status = pgk_probe_index_ranges(&d->index, d->probes, ranges, n, err);
    pgk_mem_free(ranges);
    return status;
}

/* llvm-profgen decodes the trees of the functions that have the symbols' names. */
static int index_names(struct pgk_disasm *d, struct pgk_err *err)
{
    size_t n = d->opts->n_functions;
    uint64_t *guids = pgk_mem_alloc(n + 1, sizeof *guids);
    if (!guids)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < n; i++)
        guids[i] = pgk_md5_low64(d->opts->functions[i], strlen(d->opts->functions[i]));
    int status = pgk_probe_index_functions(&d->index, d->probes, guids, n, err);
    pgk_mem_free(guids);
    return status;
}

static int open_probes(struct pgk_disasm *d, struct pgk_err *err)
{
    int status = pgk_probes_open_elf(&d->probes, d->elf, err);
    /* llvm-profgen shows a program without probes as if they were not asked for. */
    if (status == PGK_E_EMPTY && d->opts->format == PGK_DISASM_LLVM)
        return 0;
    PGK_TRY(status);
    d->done.lost_probes = pgk_probes_totals(d->probes).lost_probes;
    if (!d->opts->n_functions && !is_ranked(d))
        return pgk_probe_index_all(&d->index, d->probes, err);
    return d->opts->format == PGK_DISASM_LLVM ? index_names(d, err) : index_functions(d, err);
}

static int open_all(struct pgk_disasm *d, struct pgk_err *err)
{
    PGK_TRY(pgk_elf_open(&d->elf, d->path, err));
    d->places = (struct pgk_debug_places){d->opts->debug_dirs, d->opts->n_debug_dirs,
                                          d->opts->packages, d->opts->n_packages, NULL};
    if (d->opts->use_caches && !(d->places.caches = pgk_debug_caches_new(d->opts->download)))
        return pgk_fail_nomem(err);
    pgk_elf_look_in(d->elf, &d->places);
    if (d->opts->debug_file)
        PGK_TRY(pgk_elf_use_debug(d->elf, d->opts->debug_file, err));
    PGK_TRY(pgk_insn_decoder_open(&d->decoder, pgk_elf_machine(d->elf), d->style->insns, err));
    if (pgk_elf_entries(d->elf, add_symbol, d) < 0)
        return pgk_fail_nomem(err);
    if (!d->style->every_symbol)
        PGK_TRY(pgk_disasm_name_plt(d, err));
    if (d->symbols.n)
        qsort(d->symbols.v, d->symbols.n, sizeof *d->symbols.v, compare_symbols);
    PGK_TRY(choose_functions(d, err));
    if (d->opts->profile && d->opts->format != PGK_DISASM_LLVM)
        PGK_TRY(pgk_disasm_counts_open(&d->counts, d->opts->profile, err));
    if (is_ranked(d))
        PGK_TRY(choose_hottest(d, err));
    if (d->opts->probes || has_counts_by_probes(d))
        PGK_TRY(open_probes(d, err));
    if (has_counts_by_probes(d))
        PGK_TRY(pgk_disasm_counts_use_probes(d->counts, d->probes, d->index, err));
    if (has_counts_by_lines(d))
        pgk_disasm_counts_use_lines(d->counts, d->flow_sensitive);
    if (d->opts->source || has_counts_by_lines(d))
        PGK_TRY(pgk_symboliser_open(&d->sym, d->elf, err));
    return 0;
}

static int run(struct pgk_disasm *d, struct pgk_err *err)
{
    PGK_TRY(open_all(d, err));
    if (d->style->begin)
        PGK_TRY(d->style->begin(d, err));
    PGK_TRY(is_ranked(d) ? list_all(d, err) : list_sections(d, err));
    if (d->style->end)
        d->style->end(d);
    d->done.stripped = !d->opts->n_functions && !pgk_elf_has_symbols(d->elf);
    if (d->counts)
        d->done.stale_functions = pgk_disasm_stale_functions(d->counts);
    pgk_text_flush(&d->out);
    return 0;
}

int pgk_disasm(const char *path, const struct pgk_disasm_opts *opts, FILE *out,
               struct pgk_disasm_done *done, struct pgk_err *err)
{
    struct pgk_disasm_opts taken;
    static const struct pgk_disasm_style *const styles[] = {
        [PGK_DISASM_TEXT] = &pgk_disasm_text,
        [PGK_DISASM_LLVM] = &pgk_disasm_llvm,
        [PGK_DISASM_JSON] = &pgk_disasm_json,
    };
    PGK_TRY(PGK_OPTS_TAKE(&taken, opts, err));
    struct pgk_disasm *d = pgk_mem_zalloc(1, sizeof *d);
    if (!d)
        return pgk_fail_nomem(err);
    d->path = path;
    d->opts = &taken;
    d->style = styles[d->opts->format];
    pgk_text_to_file(&d->out, out);
    int status = run(d, err);
    if (!status)
        PGK_RESULT_GIVE(done, &d->done);
    pgk_disasm_counts_close(&d->counts);
    pgk_symboliser_close(&d->sym);
    pgk_probe_index_close(&d->index);
    pgk_probes_close(&d->probes);
    pgk_insn_decoder_close(&d->decoder);
    pgk_mem_free(d->desc_names);
    pgk_mem_free(d->symbol_names);
    pgk_shown_names_free(&d->names);
    pgk_source_lines_free(&d->sources);
    pgk_vec_free(&d->functions);
    pgk_vec_free(&d->symbols);
    pgk_elf_close(&d->elf);
    pgk_debug_caches_close(&d->places.caches);
    pgk_mem_free(d);
    return status;
}
