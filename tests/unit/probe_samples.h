/* Pseudo probe sections made by hand, and a plain decoder to compare with. */
#ifndef PROBE_SAMPLES_H
#define PROBE_SAMPLES_H

#include "elf_image.h"

#include "elf_priv.h"
#include "hash.h"
#include "probes.h"

enum { TEXT = 0x2000, TEXT_SIZE = 0x8000 };
enum { BLOCK, INDIRECT, DIRECT, SENTINEL = 0x20, HAS_DISCRIMINATOR = 0x40, DELTA = 0x80 };

static inline uint64_t guid_of(const char *name)
{
    return pgk_md5_low64(name, strlen(name));
}

/* A program under construction. */
struct program {
    struct test_bytes desc, probe, symtab, strtab;
    struct test_bytes image;
};

static inline void tb_sleb(struct test_bytes *b, int64_t v)
{
    for (;; v >>= 7) {
        bool last = v >= -64 && v < 64;
        tb_u8(b, (uint64_t)(v & 0x7f) | (last ? 0 : 0x80));
        if (last)
            return;
    }
}

static inline void add_desc(struct program *p, const char *name, uint64_t hash)
{
    tb_u64(&p->desc, guid_of(name));
    tb_u64(&p->desc, hash);
    tb_uleb(&p->desc, strlen(name));
    tb_put(&p->desc, name, strlen(name));
}

static inline void add_symbol(struct program *p, const char *name, uint64_t addr, uint64_t size)
{
    if (!p->symtab.n) {
        tb_put(&p->symtab, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
        tb_str(&p->strtab, "");
    }
    Elf64_Sym s = {.st_name = (Elf64_Word)p->strtab.n,
                   .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                   .st_shndx = 1,
                   .st_value = addr,
                   .st_size = size};
    tb_put(&p->symtab, &s, sizeof s);
    tb_str(&p->strtab, name);
}

static inline void add_body(struct program *p, const char *name, unsigned probes, unsigned children)
{
    tb_u64(&p->probe, guid_of(name));
    tb_uleb(&p->probe, probes);
    tb_uleb(&p->probe, children);
}

static inline void add_child(struct program *p, unsigned site, const char *name, unsigned probes,
                             unsigned children)
{
    tb_uleb(&p->probe, site);
    add_body(p, name, probes, children);
}

static inline void add_probe(struct program *p, unsigned index, unsigned type, int64_t delta)
{
    tb_uleb(&p->probe, index);
    tb_u8(&p->probe, type | DELTA);
    tb_sleb(&p->probe, delta);
}

static inline void add_sentinel(struct program *p, const char *linkage_name)
{
    tb_uleb(&p->probe, 0);
    tb_u8(&p->probe, SENTINEL);
    tb_u64(&p->probe, guid_of(linkage_name));
}

static inline void add_absolute(struct program *p, unsigned index, unsigned type, uint64_t addr)
{
    tb_uleb(&p->probe, index);
    tb_u8(&p->probe, type);
    tb_u64(&p->probe, addr);
}

static inline struct pgk_elf *link_program(struct program *p)
{
    static uint8_t code[TEXT_SIZE];
    const struct test_section sections[] = {
        {.name = ".text", .flags = SHF_ALLOC | SHF_EXECINSTR, .bytes = code, .size = sizeof code,
         .addr = TEXT},
        {.name = ".pseudo_probe_desc", .bytes = p->desc.v, .size = p->desc.n},
        {.name = ".pseudo_probe", .bytes = p->probe.v, .size = p->probe.n},
        {.name = ".symtab", .type = SHT_SYMTAB, .bytes = p->symtab.v, .size = p->symtab.n,
         .link = 5},
        {.name = ".strtab", .type = SHT_STRTAB, .bytes = p->strtab.v, .size = p->strtab.n},
    };
    struct pgk_elf *elf;
    tb_free(&p->image);
    p->image = test_elf(ET_EXEC, sections, sizeof sections / sizeof *sections);
    assert_int_equal(pgk_elf_open_memory(&elf, p->image.v, p->image.n, "image", PGK_ELF_PROGRAM,
                                         NULL), 0);
    return elf;
}

static inline void program_free(struct program *p)
{
    tb_free(&p->desc), tb_free(&p->probe), tb_free(&p->symtab), tb_free(&p->strtab);
    tb_free(&p->image);
}

/* ---- the plain decoder: recursive, one probe after the other, sound sections only ---- */

enum { PLAIN_MAX = 4096 };

struct plain_probe {
    uint64_t addr;
    unsigned index, type, node;
};
struct plain_node {
    uint64_t guid;
    unsigned site, parent; /* parent + 1; 0: none */
};
struct plain {
    const uint8_t *at, *end;
    uint64_t last;
    uint64_t (*start)(void *ctx, uint64_t guid);
    void *ctx;
    struct plain_probe probes[PLAIN_MAX];
    struct plain_node nodes[PLAIN_MAX];
    size_t n_probes, n_nodes;
};

static inline uint64_t plain_uleb(struct plain *d)
{
    uint64_t v = 0;
    for (unsigned shift = 0;; shift += 7) {
        v |= (uint64_t)(*d->at & 0x7f) << shift;
        if (*d->at++ < 0x80)
            return v;
    }
}

static inline int64_t plain_sleb(struct plain *d)
{
    uint64_t v = 0;
    for (unsigned shift = 0;;) {
        uint8_t b = *d->at++;
        v |= (uint64_t)(b & 0x7f) << shift;
        shift += 7;
        if (b < 0x80)
            return (int64_t)(v << (64 - shift)) >> (64 - shift);
    }
}

static inline uint64_t plain_u64(struct plain *d)
{
    uint64_t v;
    memcpy(&v, d->at, sizeof v);
    d->at += sizeof v;
    return v;
}

static inline void plain_body(struct plain *d, unsigned parent)
{
    unsigned site = parent ? (unsigned)plain_uleb(d) : 0;
    uint64_t guid = plain_u64(d);
    unsigned node = (unsigned)d->n_nodes++;
    assert_true(d->n_nodes < PLAIN_MAX);
    d->nodes[node] = (struct plain_node){guid, site, parent};
    if (!parent)
        d->last = d->start(d->ctx, guid);
    uint64_t probes = plain_uleb(d), children = plain_uleb(d);
    while (probes--) {
        unsigned index = (unsigned)plain_uleb(d), packed = *d->at++;
        if (packed & DELTA)
            d->last += (uint64_t)plain_sleb(d);
        else if (packed & SENTINEL)
            d->last = d->start(d->ctx, plain_u64(d));
        else
            d->last = plain_u64(d);
        if (packed & HAS_DISCRIMINATOR)
            (void)plain_uleb(d);
        if (!(packed & SENTINEL)) {
            assert_true(d->n_probes < PLAIN_MAX);
            d->probes[d->n_probes++] = (struct plain_probe){d->last, index, packed & 15, node};
        }
    }
    while (children--)
        plain_body(d, node + 1);
}

static inline void plain_decode(struct plain *d, const struct test_bytes *section)
{
    d->at = section->v;
    d->end = section->v + section->n;
    d->n_probes = d->n_nodes = 0;
    while (d->at < d->end)
        plain_body(d, 0);
    assert_ptr_equal(d->at, d->end);
}

#endif
