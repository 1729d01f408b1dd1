/* Opening: finds the sections, reads the descriptors, and walks all bodies once to check them
 * and to note where each root is, so that any of them can be decoded alone. */
#include "probe_walk.h"

#include "format_row.h"
#include "mem.h"

#include <elf.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
    MAX_INDEX = 1 << 29, /* what an index can hold */
};

struct scan {
    struct pgk_probes *p;
    struct pgk_probe_place *place; /* of the root being read */
    uint64_t text_low, text_high;  /* hull of the code */
    uint64_t outside;              /* probes of this root that are not in the hull */
    uint32_t highest_index;
};

static void begin_root(struct pgk_probe_walk *w, uint64_t guid)
{
    struct pgk_probe_start *s = pgk_probe_start_of(w->probes, guid);
    w->symbol = w->absolute ? s : NULL;
    w->doubtful = false;
    w->lost_guid = !s && !w->absolute ? guid : 0;
    if (s && !w->absolute)
        w->last = s->addr;
    w->start = w->last;
}

static int scan_node(struct pgk_probe_walk *w, void *ctx, uint64_t guid, uint32_t site,
                     size_t level, uint32_t probes, struct pgk_err *err)
{
    struct scan *s = ctx;
    (void)site, (void)probes;
    if (PGK_UNLIKELY(!guid))
        return pgk_probe_walk_reject(w, "GUID", "0", "the GUID of a function", PGK_E_CORRUPT, err);
    if (PGK_UNLIKELY(level > PGK_PROBE_MAX_DEPTH))
        return pgk_probe_walk_reject(w, "inline depth", PGK_F("%zu callers", level),
                                     "at most 2000 callers", PGK_E_LIMIT, err);
    if (!level) {
        begin_root(w, guid);
        s->place->root.guid = guid;
    }
    if (level >= s->p->depth)
        s->p->depth = (uint32_t)level + 1;
    s->place->root.nodes++;
    return 0;
}

static void scan_probe(struct pgk_probe_walk *w, void *ctx, const struct pgk_probe_seen *seen)
{
    struct scan *s = ctx;
    struct pgk_probe_root *root = &s->place->root;
    (void)w;
    root->probes++;
    if (PGK_UNLIKELY(seen->addr - s->text_low > s->text_high - s->text_low)) {
        s->outside++;
        return;
    }
    if (seen->addr < root->low)
        root->low = seen->addr;
    if (seen->addr > root->high)
        root->high = seen->addr;
    if (seen->index > s->highest_index)
        s->highest_index = seen->index;
}

/* Probes may stand at the very end of the code, after a call that does not return. */
static bool in_text(const struct pgk_probes *p, uint64_t addr)
{
    for (size_t i = 0; i < p->text.n; i++)
        if (addr >= p->text.v[i].low && addr <= p->text.v[i].high)
            return true;
    return false;
}

static void note_issue(struct pgk_probes *p, const struct pgk_probe_root *root, const char *field,
                       const char *found, const char *expected, const char *hint)
{
    char record[64];
    if (!p->first_issue.status)
        (void)pgk_fail(&p->first_issue, PGK_E_MISMATCH, .file = pgk_elf_path(p->elf),
                       .format = PGK_PROBE_FORMAT, .offset = &root->offset,
                       .record = pgk_probe_record(p, root->guid, record), .field = field,
                       .found = found, .expected = expected, .hint = hint);
}

/* Reads the root at the cursor into `place`, which says where it is. */
static int scan_root(struct scan *s, struct pgk_probe_walk *w, struct pgk_probe_place *place,
                     struct pgk_err *err)
{
    struct pgk_probe_root *root = &place->root;
    *root = (struct pgk_probe_root){.offset = pgk_cur_off(&w->cur), .low = UINT64_MAX};
    s->place = place;
    s->outside = 0;
    PGK_TRY(pgk_probe_walk_root(w, s, scan_node, scan_probe, err));
    if (root->low > root->high)
        root->low = root->high = 0;
    root->located = !w->lost_guid;
    place->start = w->start;
    place->lost = w->lost_guid;
    place->doubtful = w->doubtful;
    place->outside = s->outside;
    return 0;
}

static int scan_section(struct scan *s, struct pgk_probe_walk *w, uint32_t number,
                        struct pgk_err *err)
{
    struct pgk_probes *p = s->p;
    const struct pgk_probe_section *section = &p->trees.v[number];
    struct pgk_source src = {
        .file = section->file, .format = PGK_PROBE_FORMAT, .base_off = section->file_off};
    pgk_cur_init(&w->cur, section->bytes, section->size, &src);
    w->last = 0;
    w->absolute = false;
    w->guid_off = section->file_off;
    if (section->size >= UINT32_MAX)
        return pgk_probe_walk_reject(w, "size", PGK_F("%zu bytes", section->size),
                                     "less than 4 GiB", PGK_E_LIMIT, err);
    while (pgk_cur_left(&w->cur)) {
        struct pgk_probe_place place = {.section = number,
                                        .at = (uint32_t)(w->cur.at - w->cur.start)};
        if (!pgk_vec_push(&p->places, place))
            return pgk_fail_nomem(err);
        PGK_TRY(scan_root(s, w, &p->places.v[p->places.n - 1], err));
        if (s->highest_index >= MAX_INDEX)
            return pgk_probe_walk_reject(w, "probe index", PGK_F("%" PRIu32, s->highest_index),
                                         "less than 2^29", PGK_E_LIMIT, err);
    }
    return 0;
}

/* Roots that lead nowhere by their chain, and that no other root leads to, are of a later release
 * than those before them: they begin at their symbols. */
static int settle_doubts(struct scan *s, struct pgk_probe_walk *w, struct pgk_err *err)
{
    struct pgk_probes *p = s->p;
    for (size_t i = 0; i < p->places.n; i++) {
        struct pgk_probe_place *place = &p->places.v[i];
        if (!place->doubtful || pgk_probe_start_of(p, place->root.guid)->rooted)
            continue;
        pgk_probe_cursor(p, place, &w->cur);
        w->absolute = false;
        PGK_TRY(scan_root(s, w, place, err));
    }
    return 0;
}

static void add_up(struct pgk_probes *p, const struct pgk_probe_place *place)
{
    const struct pgk_probe_root *root = &place->root;
    if (place->lost) {
        p->totals.lost_roots++;
        p->totals.lost_probes += root->probes;
        note_issue(p, root, "symbol", PGK_F("no symbol whose name has GUID %" PRIu64, place->lost),
                   "a symbol where the code starts",
                   "the linker removed the code but kept its probes, or the program was stripped");
        return;
    }
    p->totals.roots++;
    p->totals.nodes += root->nodes;
    p->totals.probes += root->probes;
    p->totals.outside += place->outside;
    bool empty = root->probes == place->outside;
    if (place->outside || (!empty && (!in_text(p, root->low) || !in_text(p, root->high))))
        note_issue(p, root, "address",
                   place->outside ? PGK_F("%" PRIu64 " probe%s outside of the code", place->outside,
                                          pgk_plural(place->outside))
                                  : PGK_F("0x%" PRIx64 " to 0x%" PRIx64, root->low, root->high),
                   "addresses inside executable sections", "build the program again");
}

int pgk_probe_scan(struct pgk_probes *p, struct pgk_err *err)
{
    struct scan s = {.p = p};
    struct pgk_probe_walk w = {.probes = p};
    int status = 0;
    if (p->text.n) {
        s.text_low = p->text.v[0].low;
        s.text_high = p->text.v[p->text.n - 1].high;
    }
    for (uint32_t i = 0; i < p->trees.n && !status; i++)
        status = scan_section(&s, &w, i, err);
    if (!status)
        status = settle_doubts(&s, &w, err);
    pgk_vec_free(&w.pending);
    for (size_t i = 0; i < p->places.n && !status; i++)
        add_up(p, &p->places.v[i]);
    if (!status && p->totals.probes >= PGK_PROBE_NONE)
        status =
            pgk_fail(err, PGK_E_LIMIT, .file = pgk_elf_path(p->elf), .format = PGK_PROBE_FORMAT,
                     .field = "probes", .found = PGK_F("%" PRIu64, p->totals.probes),
                     .expected = "fewer than 2^32");
    return status;
}

/* ---- opening ---- */

static int compare_ranges(const void *a, const void *b)
{
    const struct pgk_probe_range *x = a, *y = b;
    return x->low < y->low ? -1 : x->low > y->low;
}

/* Contents of all sections of a name, of the program or its debug file; several are taken one after
 * the other. */
static int find_sections(struct pgk_probes *p, const char *name, bool *any, struct pgk_err *err)
{
    const struct pgk_elf *debug = pgk_elf_with(p->elf, name), *elf = debug ? debug : p->elf;
    size_t n = pgk_elf_section_count(elf), nth = 0;
    bool descs = !strcmp(name, ".pseudo_probe_desc");
    *any = false;
    for (size_t i = 0; i < n; i++) {
        struct pgk_elf_section_info info = pgk_elf_section_at(elf, i);
        if (strcmp(info.name, name) != 0)
            continue;
        struct pgk_probe_section s = {.file = pgk_elf_path(elf), .file_off = info.offset};
        s.bytes = pgk_elf_section_nth(elf, name, nth++, &s.size);
        *any = true;
        if (descs) {
            p->totals.desc_bytes += s.size;
            PGK_TRY(pgk_probe_descs_read(p, &s, err));
        } else {
            p->totals.probe_bytes += s.size;
            if (!pgk_vec_push(&p->trees, s))
                return pgk_fail_nomem(err);
        }
    }
    return 0;
}

static int find_text(struct pgk_probes *p, struct pgk_err *err)
{
    size_t n = pgk_elf_section_count(p->elf);
    for (size_t i = 0; i < n; i++) {
        struct pgk_elf_section_info s = pgk_elf_section_at(p->elf, i);
        if (!(s.flags & SHF_EXECINSTR) || !s.size || s.addr > UINT64_MAX - s.size)
            continue;
        if (!pgk_vec_push(&p->text, (struct pgk_probe_range){s.addr, s.addr + s.size}))
            return pgk_fail_nomem(err);
        p->totals.text_bytes += s.size;
    }
    if (p->text.n)
        qsort(p->text.v, p->text.n, sizeof *p->text.v, compare_ranges);
    return 0;
}

static int read_all(struct pgk_probes *p, struct pgk_err *err)
{
    bool descs, trees;
    PGK_TRY(find_sections(p, ".pseudo_probe_desc", &descs, err));
    PGK_TRY(find_sections(p, ".pseudo_probe", &trees, err));
    if (!descs || !trees)
        return pgk_fail(err, PGK_E_EMPTY, .file = pgk_elf_path(p->elf), .format = PGK_PROBE_FORMAT,
                        .field = descs ? ".pseudo_probe" : ".pseudo_probe_desc",
                        .found = "no such section", .expected = "a program with pseudo probes",
                        .hint =
                            "compile with -fpseudo-probe-for-profiling; pgokit record profiles any "
                            "program");
    PGK_TRY(find_text(p, err));
    PGK_TRY(pgk_probe_starts_read(p, err));
    return pgk_probe_scan(p, err);
}

int pgk_probes_open_elf(struct pgk_probes **probes, const struct pgk_elf *elf, struct pgk_err *err)
{
    struct pgk_probes *p = pgk_mem_zalloc(1, sizeof *p);
    if (!p)
        return pgk_fail_nomem(err);
    p->elf = elf;
    int status = read_all(p, err);
    if (status < 0)
        pgk_probes_close(&p);
    else
        *probes = p;
    return status;
}

int pgk_probes_open(struct pgk_probes **probes, const char *path, struct pgk_err *err)
{
    struct pgk_elf *elf;
    struct pgk_probes *p;
    PGK_TRY(pgk_elf_open(&elf, path, err));
    int status = pgk_probes_open_elf(&p, elf, err);
    if (status < 0) {
        pgk_elf_close(&elf);
        return status;
    }
    p->own = elf;
    *probes = p;
    return 0;
}

void pgk_probes_close(struct pgk_probes **probes)
{
    struct pgk_probes *p = *probes;
    if (!p)
        return;
    *probes = NULL;
    pgk_vec_free(&p->trees);
    pgk_vec_free(&p->descs);
    pgk_index_free(&p->desc_index);
    pgk_vec_free(&p->starts);
    pgk_index_free(&p->start_index);
    pgk_vec_free(&p->text);
    pgk_vec_free(&p->places);
    pgk_elf_close(&p->own);
    pgk_mem_free(p);
}

size_t pgk_probe_roots(const struct pgk_probes *p)
{
    return p->places.n;
}

struct pgk_probe_root pgk_probe_root_at(const struct pgk_probes *p, size_t number)
{
    return p->places.v[number].root;
}

struct pgk_probes_totals pgk_probes_totals(const struct pgk_probes *p)
{
    return p->totals;
}

int pgk_probes_check(const struct pgk_probes *p, struct pgk_err *err)
{
    if (p->first_issue.status && err)
        *err = p->first_issue;
    return p->first_issue.status;
}

/* ---- among the formats ---- */

static bool sniff(const uint8_t *bytes, size_t size)
{
    return size >= 4 && !memcmp(bytes, "\177ELF", 4);
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    (void)info;
    pgk_info_add(text, "LLVM 14 to " PGK_LLVM_NOW_TEXT);
}

const struct pgk_format_row pgk_format_probes = {
    .format = {.name = "ELF binary with pseudo probes",
               .kind = PGK_KIND_BINARY,
               .reads = "of clang 13 to " PGK_LLVM_NOW_TEXT,
               .writes = "",
               .made_by = "clang -fpseudo-probe-for-profiling",
               .page = "pseudo-probe.md"},
    .sniff = sniff,
    .readers = readers,
};
