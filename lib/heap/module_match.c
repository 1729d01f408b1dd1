/* Matching the modules of a heap profile with binaries. */
#include "module_match.h"

#include "mem.h"
#include "opts.h"
#include "path.h"

#include <string.h>

enum { PAGE = 4096 };

struct pgk_mapped_text pgk_mapped_text(const struct pgk_segment *s)
{
    uint64_t off = s->offset & ~(uint64_t)(PAGE - 1),
             end = (s->offset + s->filesz + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    return (struct pgk_mapped_text){off, end - off};
}

/* Is `s` what a process maps for the executable segment of the module? */
static bool is_text_of(const struct pgk_segment *s, const struct pgk_heap_module *m)
{
    if (!s->executable)
        return false;
    if (!m->by_file_off)
        return s->memsz == m->text_size;
    struct pgk_mapped_text text = pgk_mapped_text(s);
    return text.off == m->text_off && text.size == m->text_size;
}

static bool has_text_of(const struct pgk_elf *elf, const struct pgk_heap_module *m)
{
    size_t id_size, n;
    pgk_elf_build_id(elf, &id_size);
    if (id_size && !m->by_file_off)
        return false; /* the profile would have recorded the id */
    const struct pgk_segment *segments = pgk_elf_segments(elf, &n);
    for (size_t k = 0; k < n; k++)
        if (is_text_of(&segments[k], m))
            return true;
    return false;
}

uint32_t pgk_module_binary(const struct pgk_heap *h, uint32_t module,
                           const struct pgk_binaries *binaries)
{
    const struct pgk_heap_module *m = &h->modules.v[module];
    size_t size = pgk_intern_len(&h->strings, m->build_id);
    if (size)
        return pgk_binaries_find(
            binaries, (const uint8_t *)pgk_intern_str(&h->strings, m->build_id), size);
    const char *name = pgk_base_name(pgk_intern_str(&h->strings, m->name));
    for (uint32_t i = 0; i < pgk_binaries_count(binaries); i++) {
        const struct pgk_elf *elf = pgk_binaries_elf(binaries, i);
        if (*name ? !strcmp(name, pgk_base_name(pgk_elf_path(elf))) : has_text_of(elf, m))
            return i;
    }
    return PGK_INDEX_NONE;
}

bool pgk_heap_was_loaded(const struct pgk_heap *heap, const struct pgk_binaries *set, size_t number)
{
    for (uint32_t i = 0; i < heap->modules.n; i++)
        if (pgk_module_binary(heap, i, set) == number)
            return true;
    return false;
}

/* By its build id. */
static struct pgk_program_wanted wanted_of(const struct pgk_heap *h, uint32_t module)
{
    const struct pgk_heap_module *m = &h->modules.v[module];
    return (struct pgk_program_wanted){
        .path = pgk_intern_str(&h->strings, m->path),
        .build_id = (const uint8_t *)pgk_intern_str(&h->strings, m->build_id),
        .build_id_size = pgk_intern_len(&h->strings, m->build_id)};
}

int pgk_module_look_for(const struct pgk_heap *h, uint32_t module, struct pgk_binaries *binaries,
                        uint32_t *pos, struct pgk_err *err)
{
    if (h->modules.v[module].build_id) {
        const struct pgk_program_wanted wanted = wanted_of(h, module);
        return pgk_binaries_look_for(binaries, &wanted, pos, err);
    }
    *pos = pgk_module_binary(h, module, binaries);
    return 0;
}

size_t *pgk_module_addresses(const struct pgk_heap *h)
{
    size_t *addresses = pgk_mem_zalloc(h->modules.n + 1, sizeof *addresses);
    for (size_t i = 0; addresses && i < h->frames.n; i++)
        if (h->frames.v[i].kind == PGK_FRAME_ADDRESS && h->frames.v[i].ref != PGK_INDEX_NONE)
            addresses[h->frames.v[i].ref]++;
    return addresses;
}

/* One that is stripped has no function main that can be seen, but its recording says what ran. */
static bool is_program(const struct pgk_heap *h, uint32_t module, const struct pgk_elf *elf)
{
    const char *path = pgk_intern_str(&h->strings, h->modules.v[module].path);
    return pgk_elf_has_main(elf) ||
           (*path && !strcmp(path, pgk_intern_str(&h->strings, h->recorded.program)));
}

/* Its file is there, and was not taken for want of names. */
static void note_nameless(const struct pgk_heap *h, uint32_t module, struct pgk_heap_found *found)
{
    const struct pgk_program_wanted wanted = wanted_of(h, module);
    const bool ran = !strcmp(wanted.path, pgk_intern_str(&h->strings, h->recorded.program));
    bool symbols;
    if ((found->nameless && !ran) || !wanted.build_id_size || !pgk_is_at_path(&wanted, &symbols))
        return;
    found->nameless = wanted.path;
    found->nameless_symbols = symbols;
}

int pgk_heap_find_binaries(const struct pgk_heap *heap, struct pgk_binaries *binaries,
                           struct pgk_heap_found *found, struct pgk_err *err)
{
    struct pgk_heap_found own = {.struct_size = sizeof own};
    size_t *addresses = pgk_module_addresses(heap);
    int status = addresses ? 0 : pgk_fail_nomem(err);
    for (uint32_t i = 0; i < heap->modules.n && !status; i++) {
        uint32_t pos = PGK_INDEX_NONE;
        if (!addresses[i])
            continue;
        status = pgk_module_look_for(heap, i, binaries, &pos, err);
        own.modules++;
        own.addresses += addresses[i];
        own.modules_found += pos != PGK_INDEX_NONE;
        own.addresses_found += pos != PGK_INDEX_NONE ? addresses[i] : 0;
        own.at_path |= pos != PGK_INDEX_NONE && pgk_binaries_at_path(binaries, pos);
        own.program |=
            pos != PGK_INDEX_NONE && is_program(heap, i, pgk_binaries_elf(binaries, pos));
        if (pos == PGK_INDEX_NONE && !status)
            note_nameless(heap, i, &own);
    }
    pgk_mem_free(addresses);
    if (!status)
        PGK_RESULT_GIVE(found, &own);
    return status;
}

uint64_t pgk_module_link_address(const struct pgk_heap *h, uint32_t module,
                                 const struct pgk_elf *elf, uint64_t where)
{
    if (!h->modules.v[module].by_file_off)
        return where;
    size_t n;
    const struct pgk_segment *segments = pgk_elf_segments(elf, &n);
    for (size_t i = 0; i < n; i++)
        if (segments[i].executable && where >= segments[i].offset &&
            where - segments[i].offset < segments[i].filesz)
            return where - segments[i].offset + segments[i].vaddr;
    return UINT64_MAX; /* padding of the last page: no code */
}
