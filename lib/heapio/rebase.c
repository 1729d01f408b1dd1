/* Conversion of addresses between the two forms of raw profiles: offsets in files without build ids
 * (versions 1 and 2), and link-time addresses in modules with build ids (later versions). */
#include "heap_raw.h"
#include "module_match.h"
#include "rekey.h"

struct rebase {
    struct pgk_rekey k;
    struct pgk_binaries *binaries;
    bool by_file_off; /* what is wanted */
    uint32_t *binary_of; /* by old module; PGK_INDEX_NONE: keep */
    struct pgk_err *err;
};

static bool note_build_id(struct pgk_heap *to, const struct pgk_elf *elf,
                          struct pgk_heap_module *m)
{
    size_t size;
    const uint8_t *id = pgk_elf_build_id(elf, &size);
    m->build_id = pgk_intern(&to->strings, (const char *)id, size);
    return m->build_id != PGK_INDEX_NONE;
}

/* The new module for one executable segment of a binary. */
static uint32_t module_of(struct rebase *r, const struct pgk_elf *elf, const struct pgk_segment *s)
{
    struct pgk_heap_module m = {.by_file_off = r->by_file_off, .fixed = !pgk_elf_is_pie(elf)};
    struct pgk_mapped_text mapped = pgk_mapped_text(s);
    uint64_t at = r->by_file_off ? mapped.off : s->vaddr;
    m.text_size = r->by_file_off ? mapped.size : s->memsz;
    m.text_off = at;
    m.bias = r->by_file_off && m.fixed ? s->vaddr - s->offset : 0;
    if (!r->by_file_off) {
        if (!note_build_id(r->k.to, elf, &m))
            return PGK_INDEX_NONE;
        m.text_off = m.build_id ? 0 : at;
    }
    uint32_t module = pgk_heap_module(r->k.to, &m);
    return module != PGK_INDEX_NONE && pgk_heap_note_text(r->k.to, module, at, m.text_size)
               ? module
               : PGK_INDEX_NONE;
}

/* The executable segment of the binary that holds a link-time address; the first one for an
 * address outside of all. */
static const struct pgk_segment *segment_of(const struct pgk_elf *elf, uint64_t address)
{
    size_t n;
    const struct pgk_segment *segments = pgk_elf_segments(elf, &n), *first = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!segments[i].executable)
            continue;
        first = first ? first : &segments[i];
        if (address - segments[i].vaddr < segments[i].memsz)
            return &segments[i];
    }
    return first;
}

/* The segment of a place in a module and the place's link-time address. Padding of a segment's
 * pages holds no code, but stays a place of its own. */
static const struct pgk_segment *locate(const struct rebase *r, uint32_t module,
                                        const struct pgk_elf *elf, uint64_t where,
                                        uint64_t *address)
{
    size_t n;
    const struct pgk_segment *s = pgk_elf_segments(elf, &n);
    *address = pgk_module_link_address(r->k.from, module, elf, where);
    if (*address != UINT64_MAX)
        return segment_of(elf, *address);
    for (size_t i = 0; i < n; i++) {
        struct pgk_mapped_text mapped = pgk_mapped_text(&s[i]);
        if (!s[i].executable || where - mapped.off >= mapped.size)
            continue;
        *address = where - s[i].offset + s[i].vaddr;
        return &s[i];
    }
    return NULL;
}

static int map_frame(struct rebase *r, const struct pgk_frame *f)
{
    bool keep = f->kind != PGK_FRAME_ADDRESS || f->ref == PGK_INDEX_NONE ||
                r->binary_of[f->ref] == PGK_INDEX_NONE;
    if (keep)
        return pgk_rekey_keep(&r->k, r->err);
    const struct pgk_elf *elf = pgk_binaries_elf(r->binaries, r->binary_of[f->ref]);
    uint64_t address;
    const struct pgk_segment *s = locate(r, f->ref, elf, f->where, &address);
    if (!s)
        return pgk_rekey_keep(&r->k, r->err);
    uint32_t module = module_of(r, elf, s);
    uint64_t where = r->by_file_off ? address - s->vaddr + s->offset : address;
    uint32_t frame = module == PGK_INDEX_NONE
                         ? module
                         : pgk_heap_frame(r->k.to, PGK_FRAME_ADDRESS, module, where);
    return frame == PGK_INDEX_NONE ? pgk_fail_nomem(r->err)
                                   : pgk_rekey_replace(&r->k, &frame, 1, r->err);
}

/* Notes of loaded modules: the new ones for those that change. */
static int copy_loaded(struct rebase *r)
{
    const struct pgk_heap *from = r->k.from;
    for (size_t i = 0; i < from->loaded.n; i++) {
        const struct pgk_heap_loaded *l = &from->loaded.v[i];
        const struct pgk_segment *s = NULL;
        const struct pgk_elf *elf = NULL;
        if (r->binary_of[l->module] != PGK_INDEX_NONE) {
            uint64_t address;
            elf = pgk_binaries_elf(r->binaries, r->binary_of[l->module]);
            s = locate(r, l->module, elf, from->modules.v[l->module].text_off, &address);
        }
        uint32_t module = s ? module_of(r, elf, s)
                            : pgk_heap_copy_module(r->k.to, from, l->module);
        if (module == PGK_INDEX_NONE ||
            !pgk_heap_note_loaded(r->k.to, pgk_intern_str(&from->strings, l->profile), module))
            return pgk_fail_nomem(r->err);
    }
    for (size_t i = 0; i < from->texts.n; i++) {
        const struct pgk_heap_text *t = &from->texts.v[i];
        if (r->binary_of[t->module] != PGK_INDEX_NONE)
            continue;
        uint32_t module = pgk_heap_copy_module(r->k.to, from, t->module);
        if (module == PGK_INDEX_NONE || !pgk_heap_note_text(r->k.to, module, t->at, t->size))
            return pgk_fail_nomem(r->err);
    }
    return 0;
}

/* Texts of runtimes say of a module neither where its code begins nor where it ends. */
static bool has_text(const struct pgk_heap *h, uint32_t module)
{
    for (size_t i = 0; i < h->texts.n; i++)
        if (h->texts.v[i].module == module)
            return true;
    return false;
}

static int match(struct rebase *r)
{
    const struct pgk_heap *from = r->k.from;
    size_t wanted = 0, matched = 0;
    r->binary_of = pgk_mem_alloc(from->modules.n + 1, sizeof *r->binary_of);
    if (!r->binary_of)
        return pgk_fail_nomem(r->err);
    for (uint32_t i = 0; i < from->modules.n; i++) {
        const struct pgk_heap_module *m = &from->modules.v[i];
        bool is_known = m->by_file_off == r->by_file_off && has_text(from, i);
        r->binary_of[i] = is_known ? PGK_INDEX_NONE : pgk_module_binary(from, i, r->binaries);
        wanted += !is_known;
        matched += r->binary_of[i] != PGK_INDEX_NONE;
    }
    if (!wanted || matched)
        return 0;
    return pgk_fail(
        r->err, PGK_E_MISMATCH, .format = "raw heap profile", .record = "segments",
        .file = from->loaded.n ? pgk_intern_str(&from->strings, from->loaded.v[0].profile) : NULL,
        .found = from->modules.v[0].by_file_off
                     ? "modules without build ids, known by offsets in their files"
                     : "modules known by build ids",
        .expected = r->by_file_off ? "offsets in files, as raw versions 1 and 2 have them"
                                   : "build ids and link-time addresses, as later raw versions "
                                     "have them",
        .hint = "the binary that was run is needed to translate them: give it with -b");
}

size_t pgk_heap_build_ids_lost(const struct pgk_heap *heap, uint32_t raw_version)
{
    const struct pgk_raw_version *v = pgk_raw_version(raw_version);
    size_t n = 0;
    for (size_t i = 0; v && !pgk_raw_has_build_ids(v) && i < heap->modules.n; i++)
        n += heap->modules.v[i].build_id != 0;
    return n;
}

int pgk_heap_rebase(struct pgk_heap **into, const struct pgk_heap *from,
                    struct pgk_binaries *binaries, uint32_t raw_version, struct pgk_err *err)
{
    const struct pgk_raw_version *v = pgk_raw_version(raw_version);
    struct pgk_heap *to;
    if (!v)
        return pgk_fail(err, PGK_E_ARG, .format = "raw heap profile", .field = "version",
                        .found = PGK_F("%u", raw_version),
                        .expected = PGK_F("1 to %d", PGK_RAW_NOW),
                        .hint = "choose another --format-version");
    struct rebase r = {
        .binaries = binaries, .by_file_off = !pgk_raw_has_build_ids(v), .err = err};
    PGK_TRY(pgk_heap_new(&to, err));
    int status = pgk_rekey_begin(&r.k, to, from, err);
    if (!status)
        status = match(&r);
    /* In the order of the profile, so that the program stays the first module. */
    if (!status)
        status = copy_loaded(&r);
    for (size_t i = 0; i < from->frames.n && !status; i++)
        status = map_frame(&r, &from->frames.v[i]);
    if (!status)
        status = pgk_rekey_run(&r.k, err);
    pgk_rekey_end(&r.k);
    pgk_mem_free(r.binary_of);
    if (status)
        pgk_heap_close(&to);
    else
        *into = to;
    return status;
}
