/* Source frames of instructions, as a profile names them. */
#include "source_frames.h"

#include "discriminator.h"
#include "functions.h"
#include "hash.h"
#include "u64_set.h"

uint32_t pgk_frame_name(struct pgk_frame_names *names, const char *text)
{
    uint64_t hash = pgk_hash_u64((uintptr_t)text);
    PGK_INDEX_FOR (&names->index, hash, i)
        if (names->known.v[i].text == text)
            return names->known.v[i].name;
    uint32_t name = pgk_sample_name(names->p, text, pgk_sample_drop_suffixes(text, strlen(text)));
    return name && pgk_vec_push(&names->known, (struct pgk_frame_name){text, name}) &&
                   pgk_index_add(&names->index, hash, (uint32_t)names->known.n - 1)
               ? name
               : 0;
}

void pgk_frame_names_free(struct pgk_frame_names *names)
{
    pgk_vec_free(&names->known);
    pgk_index_free(&names->index);
}

bool pgk_frame_has_name(const struct pgk_sym_frame *f)
{
    const char *name = f->function;
    return name && *name && (*name != '<' || strcmp(name, "<invalid>") != 0);
}

uint64_t pgk_frame_loc(const struct pgk_sym_frame *f, bool flow_sensitive)
{
    return pgk_sample_loc(pgk_frame_offset(f),
                          pgk_discriminator_base(f->discriminator, flow_sensitive));
}

uint32_t pgk_frame_count(const struct pgk_sym_chain *chain)
{
    uint32_t n = 0;
    while (n < chain->count && pgk_frame_has_name(&chain->frames[chain->count - 1 - n]))
        n++;
    return n;
}

static bool same_name(const struct pgk_sym_frame *a, const struct pgk_sym_frame *b)
{
    return a->function == b->function || !strcmp(a->function, b->function);
}

/* Both instructions have `n` frames: whether all but the innermost are the same. */
static bool same_outer(const struct pgk_sym_frame *a, const struct pgk_sym_frame *b, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (a[i].discriminator != b[i].discriminator ||
            pgk_frame_offset(&a[i]) != pgk_frame_offset(&b[i]) || !same_name(&a[i], &b[i]))
            return false;
    return true;
}

uint32_t pgk_frames_frame(struct pgk_frames *f, uint64_t loc, uint32_t name)
{
    uint64_t hash = pgk_hash_pair(loc, name);
    PGK_INDEX_FOR (&f->index, hash, i)
        if (f->known.v[i].loc == loc && f->known.v[i].name == name)
            return i;
    uint32_t number = (uint32_t)f->known.n;
    return pgk_vec_push(&f->known, (struct pgk_context_frame){loc, name}) &&
                   pgk_index_add(&f->index, hash, number)
               ? number
               : UINT32_MAX;
}

static bool add_run(struct pgk_frames *f, struct pgk_frame_names *names, bool flow_sensitive,
                    const struct pgk_sym_frame *leaf, uint32_t n, bool joins)
{
    struct pgk_frame_run run = {(uint32_t)f->run_frames.n, n, joins};
    if (!pgk_vec_push(&f->runs, run))
        return false;
    for (uint32_t i = n; i-- > 0;) {
        uint32_t name = pgk_frame_name(names, leaf[i].function);
        uint64_t loc = i ? pgk_frame_loc(&leaf[i], flow_sensitive) : 0;
        uint32_t number = name ? pgk_frames_frame(f, loc, name) : UINT32_MAX;
        if (number == UINT32_MAX || !pgk_vec_push(&f->run_frames, number))
            return false;
    }
    return true;
}

/* The number of instructions read at once, which limits memory. */
enum { PART = 1 << 18 };

struct part {
    struct pgk_frames *f;
    struct pgk_frame_names *names;
    bool flow_sensitive;
    struct pgk_sym_chain *chains; /* of instructions of one copy they are the same */
    struct pgk_sym_place *places;
    struct pgk_arena arena;
};

/* The innermost frame has the line of the instruction; if it has no name, the one around it stands
 * at the call. */
static struct pgk_code_site site_of(const struct part *p, const struct pgk_sym_chain *chain,
                                    const struct pgk_sym_frame *leaf,
                                    const struct pgk_sym_place *place)
{
    struct pgk_sym_frame f = *leaf;
    if (leaf == chain->frames) {
        f.line = place->line;
        f.discriminator = place->discriminator;
    }
    return (struct pgk_code_site){
        .loc = pgk_frame_loc(&f, p->flow_sensitive),
        .run = (uint32_t)p->f->runs.n - 1,
        .copies = pgk_discriminator_copies(f.discriminator, p->flow_sensitive)};
}

/* With `goes_on` the first instruction has a site already: it is for comparing. */
static bool name_part(struct part *p, size_t first, size_t n, bool goes_on)
{
    const struct pgk_sym_frame *leaf = NULL;
    uint32_t n_leaf = 0;
    for (size_t i = 0; i < n; i++) {
        const struct pgk_sym_chain *chain = &p->chains[i];
        if (!i || chain->frames != chain[-1].frames) {
            const struct pgk_sym_frame *before = leaf;
            uint32_t n_before = n_leaf;
            n_leaf = pgk_frame_count(chain);
            leaf = n_leaf ? &chain->frames[chain->count - n_leaf] : NULL;
            bool joins = n_leaf && n_leaf == n_before && same_outer(leaf, before, n_leaf);
            bool same = (joins && same_name(leaf, before)) || (!i && goes_on);
            if (n_leaf && !same &&
                !add_run(p->f, p->names, p->flow_sensitive, leaf, n_leaf, joins))
                return false;
        }
        if (n_leaf)
            p->f->sites[first + i] = site_of(p, chain, leaf, &p->places[i]);
    }
    return true;
}

/* A part begins with the last instruction of the part before. */
static int read_part(struct part *p, struct pgk_symboliser *sym, size_t first, size_t n,
                     unsigned threads, struct pgk_err *err)
{
    bool goes_on = first;
    first -= goes_on;
    n += goes_on;
    int status = pgk_symbolise_places(sym, p->f->addrs.v + first, n, threads, &p->arena, p->chains,
                                      p->places, err);
    if (!status && !name_part(p, first, n, goes_on))
        status = pgk_fail_nomem(err);
    pgk_arena_free(&p->arena);
    return status;
}

int pgk_frames_read(struct pgk_frames *f, struct pgk_symboliser *sym,
                    struct pgk_frame_names *names, bool flow_sensitive, unsigned threads,
                    struct pgk_err *err)
{
    struct part p = {.f = f, .names = names, .flow_sensitive = flow_sensitive};
    f->addrs.n = pgk_u64_set(f->addrs.v, f->addrs.n);
    size_t n = f->addrs.n, most = n < PART ? n : PART;
    f->sites = pgk_mem_zalloc(n + 1, sizeof *f->sites);
    p.chains = pgk_mem_alloc(most + 1, sizeof *p.chains);
    p.places = pgk_mem_alloc(most + 1, sizeof *p.places);
    bool ok = f->sites && p.chains && p.places && pgk_vec_push(&f->runs, (struct pgk_frame_run){0});
    int status = ok ? 0 : pgk_fail_nomem(err);
    for (size_t i = 0; !status && sym && i < n; i += PART)
        status = read_part(&p, sym, i, n - i < PART ? n - i : PART, threads, err);
    pgk_mem_free(p.chains);
    pgk_mem_free(p.places);
    return status;
}

uint32_t pgk_frames_find(const struct pgk_frames *f, uint64_t addr)
{
    return (uint32_t)pgk_u64_find(f->addrs.v, f->addrs.n, addr);
}

void pgk_frames_free(struct pgk_frames *f)
{
    pgk_vec_free(&f->addrs);
    pgk_mem_free(f->sites);
    pgk_vec_free(&f->runs);
    pgk_vec_free(&f->run_frames);
    pgk_vec_free(&f->known);
    pgk_index_free(&f->index);
}
