/* Sample profiles as inputs of a generator. docs/formats/profile-generation.md section 7 */
#include "gen_from_profile.h"

#include "mem.h"
#include "probes.h"

#include <inttypes.h>

const struct pgk_format_row *pgk_gen_profile_format(pgk_format_rows row_at, const uint8_t *bytes,
                                                    size_t size)
{
    const struct pgk_format_row *row;
    for (size_t i = 0; (row = row_at(i)); i++)
        if (row->read_sample && row->sniff(bytes, size))
            return row;
    return NULL;
}

/* Options about samples, which would have no effect. gcc only takes lines, so for gcc they are not
 * an option. */
static const char *useless_option(const struct pgk_gen_opts *o)
{
    const bool for_gcc = o->plain_discriminators && o->mode == PGK_GEN_LINES;
    return o->mode != PGK_GEN_AUTO && !for_gcc                         ? "mode"
           : o->traces || o->data                                      ? "format"
           : o->context_depth || o->stack_depth                        ? "depth of contexts"
           : o->recursion || o->keep_recursion                         ? "recursion"
           : o->pid || o->comm || o->n_events                          ? "choice of samples"
           : o->ignore_chains || o->leading_ip_only || o->scale_vtables ? "use of samples"
                                                                       : NULL;
}

int pgk_gen_add_profile(struct pgk_gen *g, const struct pgk_format_row *row,
                        const struct pgk_filemap *map, const char *path, struct pgk_err *err)
{
    struct pgk_source src = {.file = path, .format = row->format.name};
    struct pgk_file_info info = {.row = row, .size_bytes = map->size};
    const char *useless = useless_option(&g->opts);
    if (useless)
        return pgk_fail(err, PGK_E_ARG, .file = path, .format = src.format, .field = useless,
                        .found = "options that are about samples",
                        .expected = "a recording, or a sample profile without such options",
                        .hint = "leave them out, or generate from the recording again");
    return row->read_sample(g->profile, &(struct pgk_file_bytes){map->bytes, map->size, &src}, 1,
                            &info, err);
}

/* ---- code ---- */

struct profiled {
    const struct pgk_sample *p;
    bool *named; /* by name: a function or context, or a caller of one */
    pgk_addr_vec *addrs;
};

static int add_symbol(void *ctx, const struct pgk_elf_entry *e)
{
    enum { FUNCTION = 2 }; /* STT_FUNC */
    struct profiled *f = ctx;
    uint32_t name = e->type == FUNCTION && e->section
                        ? pgk_sample_names_find(&f->p->names, e->name, pgk_symbol_length(e->name))
                        : 0;
    return name && f->named[name] && !pgk_vec_push(f->addrs, e->addr) ? PGK_E_NOMEM : 0;
}

static bool list_profiled(const struct pgk_sample *p, struct pgk_gen_binary *b)
{
    struct profiled f = {.p = p, .addrs = &b->profiled};
    f.named = pgk_mem_zalloc(p->names.list.n + 1, sizeof *f.named);
    for (size_t i = 1; f.named && i < p->nodes.n; i++)
        if (p->nodes.v[i].flags & PGK_NODE_CONTEXT)
            f.named[p->nodes.v[i].name] = true;
    bool ok = f.named && !pgk_elf_entries(b->elf, add_symbol, &f);
    pgk_mem_free(f.named);
    return ok;
}

/* The data that the pre-inliner needs: functions, and their probes or else debug information. */
static int open_code(struct pgk_gen *g, uint32_t number, struct pgk_err *err)
{
    struct pgk_gen_binary *b = &g->images.v[number];
    bool by_probes = g->profile->kind.probes;
    PGK_TRY(pgk_gen_need_code(g, b));
    if (by_probes)
        PGK_TRY(pgk_probes_open_elf(&b->probes, b->elf, err));
    int status = pgk_binaries_symboliser(g->binaries, number, &b->sym, err);
    if (status && (status != PGK_E_NODEBUG || !by_probes))
        return status;
    PGK_TRY(pgk_gen_functions(b, &b->functions, by_probes, g->opts.threads, err));
    return by_probes ? pgk_gen_probe_index(b, &b->functions, &b->index, err) : 0;
}

int pgk_gen_find_profiled(struct pgk_gen *g, struct pgk_err *err)
{
    bool any = false, sizes = g->profile->kind.contexts && !g->opts.no_preinliner;
    g->err = err;
    g->contexts = g->profile->kind.contexts;
    if (pgk_sample_names_unspelled(&g->profile->names))
        PGK_TRY(pgk_sample_name_from_binaries(g->profile, g->binaries, err));
    for (uint32_t i = 0; i < g->images.n; i++) {
        if (!list_profiled(g->profile, &g->images.v[i]))
            return pgk_fail_nomem(err);
        if (g->images.v[i].profiled.n && sizes)
            PGK_TRY(open_code(g, i, err));
        any |= g->images.v[i].profiled.n;
    }
    if (any)
        return 0;
    return pgk_fail(err, PGK_E_MISMATCH, .file = pgk_elf_path(g->images.v[0].elf),
                    .field = "functions", .found = "none of those of the profile",
                    .expected = "symbols of the program that the profile is of",
                    .hint = "give exactly the file that was recorded with -b; if it was stripped, "
                            "its debug file, too (--debug-binary)");
}
