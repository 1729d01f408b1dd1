/* Recordings of the branch recorder. docs/formats/branch-recording.md */
#include "branch_view.h"

#include "filemap.h"
#include "format_row.h"
#include "mem.h"
#include "message.h"
#include "opts.h"
#include "process_text.h"
#include "saturate.h"

#include <inttypes.h>
#include <string.h>

#define FIELD_OFF(field) offsetof(struct pgk_branch_header, field)

struct checker {
    const uint8_t *bytes;
    uint64_t size;
    const struct pgk_source *src;
    struct pgk_err *err;
};

bool pgk_branches_sniff(const uint8_t *bytes, size_t size)
{
    return pgk_starts_with_u64(bytes, size, PGK_BRANCH_MAGIC) ||
           pgk_starts_with_u64(bytes, size, PGK_BRANCH_MAGIC_UNRELEASED);
}

static int reject(const struct checker *c, int status, uint64_t off, const char *field,
                  const char *found, const char *expected)
{
    return pgk_fail(c->err, status, .file = c->src->file, .format = c->src->format, .offset = &off,
                    .field = field, .found = found, .expected = expected,
                    .hint = "is the file damaged? record again");
}

/* So many items, which must be in the file. */
static int check_list(const struct checker *c, uint64_t off_off, const char *field, uint64_t off,
                      uint64_t n, uint64_t item)
{
    if (off <= c->size && n <= (c->size - off) / item)
        return 0;
    return reject(c, PGK_E_TRUNCATED, off_off, field,
                  PGK_F("%" PRIu64 " of %" PRIu64 " bytes each, from byte %" PRIu64 " on", n, item,
                        off),
                  PGK_F("all of them within the %" PRIu64 " bytes of the file", c->size));
}

static int check_modules(const struct checker *c, const struct pgk_branches_view *v)
{
    for (uint64_t i = 0; i < v->head.modules; i++) {
        const struct pgk_branch_module m = pgk_branches_module(v, i);
        const uint64_t at = v->head.modules_off + i * sizeof m;
        if (m.id_size > sizeof m.id)
            return reject(c, PGK_E_CORRUPT, at + offsetof(struct pgk_branch_module, id_size),
                          "size of a build id", PGK_F("%" PRIu64, m.id_size), "at most 32");
        if (!memchr(m.path, 0, sizeof m.path))
            return reject(c, PGK_E_CORRUPT, at + offsetof(struct pgk_branch_module, path),
                          "path of a module", "no end", "a zero byte behind it");
    }
    return 0;
}

/* Where modules begin no later there is no space for it. */
static bool has_process(const struct pgk_branches_view *v)
{
    return v->head.modules_off >= PGK_BRANCH_PROCESS_OFF + sizeof(struct pgk_branch_process);
}

struct pgk_branch_process pgk_branches_process(const struct pgk_branches_view *view)
{
    struct pgk_branch_process p = {0};
    if (has_process(view))
        memcpy(&p, view->bytes + PGK_BRANCH_PROCESS_OFF, sizeof p);
    return p;
}

static int check_process(const struct checker *c, const struct pgk_branches_view *v)
{
    const struct pgk_branch_process p = pgk_branches_process(v);
    const uint64_t at = PGK_BRANCH_PROCESS_OFF + offsetof(struct pgk_branch_process, bytes);
    if (p.bytes > sizeof p.text)
        return reject(c, PGK_E_CORRUPT, at, "text of the process", PGK_F("%" PRIu64, p.bytes),
                      "at most 1024 bytes");
    if (p.bytes && p.text[p.bytes - 1])
        return reject(c, PGK_E_CORRUPT, at, "text of the process", "no end",
                      "a zero byte after it");
    return 0;
}

static int check_entries(const struct checker *c, const struct pgk_branches_view *v)
{
    for (uint64_t i = 0; i < v->head.entries; i++) {
        const struct pgk_branch_entry e = pgk_branches_entry(v, i);
        const uint64_t at = v->head.entries_off + i * sizeof e,
                       from = e.from >> PGK_BRANCH_MODULE_SHIFT,
                       to = e.to >> PGK_BRANCH_MODULE_SHIFT;
        if (e.kind >= PGK_BRANCH_KINDS)
            return reject(c, PGK_E_CORRUPT, at + offsetof(struct pgk_branch_entry, kind),
                          "kind of an entry", PGK_F("%" PRIu32, e.kind), "at most 4");
        if (e.under > i ||
            (e.under && pgk_branches_entry(v, e.under - 1).kind != PGK_BRANCH_CALLED))
            return reject(c, PGK_E_CORRUPT, at + offsetof(struct pgk_branch_entry, under),
                          "call of an entry", PGK_F("%" PRIu32, e.under),
                          "number of an earlier entry that is a call, or 0");
        if (from > v->head.modules || to > v->head.modules)
            return reject(c, PGK_E_CORRUPT, at, "module of an entry",
                          PGK_F("%" PRIx64 " and %" PRIx64, e.from, e.to),
                          PGK_F("one of %" PRIu64, v->head.modules));
        if (e.kind == PGK_BRANCH_RAN && (from != to || !from || e.from > e.to))
            return reject(c, PGK_E_CORRUPT, at, "range",
                          PGK_F("from %" PRIx64 " to %" PRIx64, e.from, e.to),
                          "ascending addresses of one module");
    }
    return 0;
}

int pgk_branches_check(struct pgk_branches_view *view, const uint8_t *bytes, size_t size,
                       const struct pgk_source *src, struct pgk_err *err)
{
    const struct checker c = {bytes, size, src, err};
    *view = (struct pgk_branches_view){.bytes = bytes};
    struct pgk_branch_header *h = &view->head;
    const size_t fixed = FIELD_OFF(counters);
    if (size < fixed)
        return reject(&c, PGK_E_TRUNCATED, size, "header", PGK_F("%zu bytes", size),
                      PGK_F("at least %zu", fixed));
    memcpy(h, bytes, fixed);
    if (h->magic == PGK_BRANCH_MAGIC_UNRELEASED)
        return pgk_fail(err, PGK_E_VERSION, .file = src->file, .format = src->format,
                        .offset = &(uint64_t){FIELD_OFF(magic)}, .field = "magic",
                        .found = "a recording of a pgokit before 0.1.0", .expected = "PGKBRANC",
                        .hint = "record it again with pgokit record branches");
    if (h->version != PGK_BRANCH_VERSION)
        return pgk_fail(err, PGK_E_VERSION, .file = src->file, .format = src->format,
                        .offset = &(uint64_t){FIELD_OFF(version)}, .field = "version",
                        .found = PGK_F("%" PRIu32, h->version),
                        .expected = PGK_F("%d", PGK_BRANCH_VERSION),
                        .hint = "the file is newer than this pgokit: use the pgokit that "
                                "recorded it");
    PGK_TRY(check_list(&c, FIELD_OFF(n_counters), "counters", fixed, h->n_counters,
                       sizeof *h->counters));
    if (h->modules > PGK_BRANCH_MODULES_MAX)
        return reject(&c, PGK_E_CORRUPT, FIELD_OFF(modules), "modules",
                      PGK_F("%" PRIu64, h->modules), "at most 255");
    PGK_TRY(check_list(&c, FIELD_OFF(modules), "modules", h->modules_off, h->modules,
                       sizeof(struct pgk_branch_module)));
    PGK_TRY(check_list(&c, FIELD_OFF(entries), "entries", h->entries_off, h->entries,
                       sizeof(struct pgk_branch_entry)));
    const uint64_t known =
        h->n_counters < PGK_BRANCH_COUNTERS ? h->n_counters : PGK_BRANCH_COUNTERS;
    memcpy(h->counters, bytes + fixed, known * sizeof *h->counters);
    PGK_TRY(check_modules(&c, view));
    PGK_TRY(check_process(&c, view));
    return check_entries(&c, view);
}

struct pgk_branch_module pgk_branches_module(const struct pgk_branches_view *view, uint64_t i)
{
    struct pgk_branch_module m;
    memcpy(&m, view->bytes + view->head.modules_off + i * sizeof m, sizeof m);
    return m;
}

struct pgk_branch_entry pgk_branches_entry(const struct pgk_branches_view *view, uint64_t i)
{
    struct pgk_branch_entry e;
    memcpy(&e, view->bytes + view->head.entries_off + i * sizeof e, sizeof e);
    return e;
}

/* ---- how it went ---- */

struct pgk_branches {
    uint64_t counters[PGK_BRANCH_COUNTERS];
    uint64_t start_time;
    char process[PGK_BRANCH_PROCESS_BYTES];
    struct pgk_process_text text;
    size_t n_files;
    struct {
        char path[PGK_BRANCH_PATH];
        uint64_t branches;
    } files[PGK_BRANCH_MODULES_MAX];
};

static int take(struct pgk_branches *b, const struct pgk_filemap *map, const char *path,
                struct pgk_err *err)
{
    const struct pgk_source src = {.file = path, .format = "branch recording"};
    struct pgk_branches_view view;
    if (!pgk_branches_sniff(map->bytes, map->size))
        return pgk_fail(err, PGK_E_FORMAT, .file = path, .format = src.format,
                        .offset = &(uint64_t){0}, .field = "magic", .found = "another number",
                        .expected = "PGKBRANC", .hint = "make one by pgokit record branches");
    PGK_TRY(pgk_branches_check(&view, map->bytes, map->size, &src, err));
    memcpy(b->counters, view.head.counters, sizeof b->counters);
    const struct pgk_branch_process process = pgk_branches_process(&view);
    b->start_time = process.start_time;
    memcpy(b->process, process.text, process.bytes);
    if (!pgk_process_text_split(&b->text, b->process, process.bytes))
        return pgk_fail_nomem(err);
    b->n_files = view.head.modules;
    for (size_t i = 0; i < b->n_files; i++)
        memcpy(b->files[i].path, pgk_branches_module(&view, i).path, PGK_BRANCH_PATH);
    for (uint64_t i = 0; i < view.head.entries; i++) {
        const struct pgk_branch_entry e = pgk_branches_entry(&view, i);
        const uint64_t module = pgk_branches_module_of(&view, e.from);
        if (e.kind == PGK_BRANCH_TAKEN && module < b->n_files)
            b->files[module].branches = pgk_add_saturated(b->files[module].branches, e.count);
    }
    return 0;
}

int pgk_branches_open(struct pgk_branches **branches, const char *path, struct pgk_err *err)
{
    struct pgk_filemap map;
    struct pgk_branches *b = pgk_mem_zalloc(1, sizeof *b);
    if (!b)
        return pgk_fail_nomem(err);
    int status = pgk_filemap_open(&map, path, err);
    if (!status) {
        status = take(b, &map, path, err);
        pgk_filemap_close(&map);
    }
    if (status)
        pgk_branches_close(&b);
    else
        *branches = b;
    return status;
}

void pgk_branches_close(struct pgk_branches **branches)
{
    if (*branches)
        pgk_process_text_free(&(*branches)->text);
    pgk_mem_free(*branches);
    *branches = NULL;
}

bool pgk_branches_work_at(const struct pgk_branches *b, size_t i, struct pgk_branches_work *work)
{
    static const struct {
        enum pgk_branches_kind kind;
        const char *name, *text;
    } rows[PGK_BRANCH_COUNTERS] = {
#define PGK_BRANCH_COUNTER(name, kind, text) {PGK_BRANCHES_##kind, #name, text},
#include "branch_recording.def"
#undef PGK_BRANCH_COUNTER
    };
    if (i >= PGK_BRANCH_COUNTERS)
        return false;
    const struct pgk_branches_work full = {sizeof full, rows[i].kind, rows[i].name, rows[i].text,
                                           b->counters[i]};
    PGK_RESULT_GIVE(work, &full);
    return true;
}

bool pgk_branches_file_at(const struct pgk_branches *b, size_t i, struct pgk_branches_file *file)
{
    if (i >= b->n_files)
        return false;
    const struct pgk_branches_file full = {sizeof full, b->files[i].path, b->files[i].branches};
    PGK_RESULT_GIVE(file, &full);
    return true;
}

void pgk_branches_process_of(const struct pgk_branches *b, struct pgk_branches_process *process)
{
    const struct pgk_branches_process full = {sizeof full, b->text.program, b->text.host,
                                              b->text.command_line, b->start_time};
    PGK_RESULT_GIVE(process, &full);
}
