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
    return f->function && *f->function && strcmp(f->function, "<invalid>") != 0;
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

struct pgk_sym_chain pgk_frames_of(const struct pgk_frames *f, uint64_t addr)
{
    return f->chains[pgk_u64_find(f->addrs.v, f->addrs.n, addr)]; /* [n] is empty */
}

void pgk_frames_free(struct pgk_frames *f)
{
    pgk_vec_free(&f->addrs);
    pgk_mem_free(f->chains);
    pgk_arena_free(&f->arena);
}
