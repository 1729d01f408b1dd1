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

int pgk_frames_read(struct pgk_frames *f, struct pgk_symboliser *sym, unsigned threads,
                    struct pgk_err *err)
{
    f->addrs.n = pgk_u64_set(f->addrs.v, f->addrs.n);
    f->chains = pgk_mem_zalloc(f->addrs.n + 1, sizeof *f->chains);
    if (!f->chains)
        return pgk_fail_nomem(err);
    return sym ? pgk_symbolise(sym, f->addrs.v, f->addrs.n, threads, &f->arena, f->chains, err) : 0;
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

bool pgk_frames_name(struct pgk_frames *f, struct pgk_frame_names *names, bool flow_sensitive)
{
    const struct pgk_sym_frame *before = NULL;
    uint32_t n_before = 0;
    f->sites = pgk_mem_zalloc(f->addrs.n + 1, sizeof *f->sites);
    if (!f->sites || !pgk_vec_push(&f->runs, (struct pgk_frame_run){0}))
        return false;
    for (size_t i = 0; i < f->addrs.n; i++) {
        const struct pgk_sym_chain *chain = &f->chains[i];
        uint32_t n = pgk_frame_count(chain);
        const struct pgk_sym_frame *leaf = n ? &chain->frames[chain->count - n] : NULL;
        bool joins = n && n == n_before && same_outer(leaf, before, n);
        if (n && !(joins && same_name(leaf, before)) &&
            !add_run(f, names, flow_sensitive, leaf, n, joins))
            return false;
        if (n)
            f->sites[i] = (struct pgk_code_site){
                .loc = pgk_frame_loc(leaf, flow_sensitive),
                .run = (uint32_t)f->runs.n - 1,
                .copies = pgk_discriminator_copies(leaf->discriminator, flow_sensitive)};
        before = leaf;
        n_before = n;
    }
    return true;
}

uint32_t pgk_frames_find(const struct pgk_frames *f, uint64_t addr)
{
    return (uint32_t)pgk_u64_find(f->addrs.v, f->addrs.n, addr);
}

void pgk_frames_free(struct pgk_frames *f)
{
    pgk_vec_free(&f->addrs);
    pgk_mem_free(f->chains);
    pgk_arena_free(&f->arena);
    pgk_mem_free(f->sites);
    pgk_vec_free(&f->runs);
    pgk_vec_free(&f->run_frames);
    pgk_vec_free(&f->known);
    pgk_index_free(&f->index);
}
