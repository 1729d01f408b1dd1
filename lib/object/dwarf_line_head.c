/* Headers of line tables, versions 2 to 5, and the names of their files. */
#include "dwarf_line_priv.h"

#include "message.h"

#include <dwarf.h>
#include <inttypes.h>

#ifndef DW_LNCT_LLVM_source
#define DW_LNCT_LLVM_source 0x2001
#endif

void pgk_dw_lines_free(struct pgk_dw_lines *t)
{
    if (!t)
        return;
    pgk_vec_free(&t->dirs);
    pgk_vec_free(&t->files);
    pgk_vec_free(&t->sequences);
    pgk_arena_free(&t->arena);
    pthread_mutex_destroy(&t->lock);
    pgk_mem_free(t);
}

/* Versions 2 to 4: folders up to an empty name, then files up to an empty name. False when
 * out of memory. */
static bool read_old_names(struct pgk_dw_lines *t, struct pgk_dw_pos *at)
{
    const char *s;
    t->first_file = 1;
    while ((s = pgk_dw_cstr(at)) && *s)
        if (!pgk_vec_push(&t->dirs, s))
            return false;
    while ((s = pgk_dw_cstr(at)) && *s) {
        uint64_t dir = pgk_dw_uleb(at); /* 0: the unit's own folder */
        (void)pgk_dw_uleb(at);          /* time */
        (void)pgk_dw_uleb(at);          /* size */
        bool known = dir && dir <= t->dirs.n;
        if (!pgk_vec_reserve(&t->files, 1))
            return false;
        t->files.v[t->files.n++] =
            (struct pgk_dw_line_file){s, known ? (uint32_t)dir - 1 : PGK_INDEX_NONE, NULL};
    }
    return true;
}

struct entry_format {
    uint64_t type[256];
    uint16_t form[256];
    unsigned n;
};

static void read_format(struct entry_format *f, struct pgk_dw_pos *at)
{
    f->n = (unsigned)pgk_dw_uint(at, 1);
    for (unsigned i = 0; i < f->n; i++) {
        f->type[i] = pgk_dw_uleb(at);
        uint64_t form = pgk_dw_uleb(at);
        f->form[i] = form <= UINT16_MAX ? (uint16_t)form : 0;
    }
}

/* One folder or file of version 5. */
static void read_entry(const struct entry_format *f, const struct pgk_dw_unit *u,
                       struct pgk_dw_pos *at, const char **name, uint64_t *dir)
{
    *name = NULL;
    *dir = 0;
    for (unsigned i = 0; i < f->n; i++) {
        struct pgk_dw_value v;
        if (!pgk_dw_form_read(u, f->form[i], 0, at, &v))
            return;
        if (f->type[i] == DW_LNCT_path)
            *name = pgk_dw_string(u, &v);
        else if (f->type[i] == DW_LNCT_directory_index)
            (void)pgk_dw_constant(&v, dir);
    }
}

/* Version 5. Folder 0 is the unit's own, which names of files leave out. False when out of
 * memory. */
static bool read_new_names(struct pgk_dw_lines *t, const struct pgk_dw_unit *u,
                           struct pgk_dw_pos *at)
{
    struct entry_format format;
    const char *name;
    uint64_t dir;
    read_format(&format, at);
    /* An entry without any attribute takes no bytes; such a count is worth nothing. */
    for (uint64_t n = pgk_dw_uleb(at); n && format.n && !at->bad; n--) {
        read_entry(&format, u, at, &name, &dir);
        if (!at->bad && !pgk_vec_push(&t->dirs, name))
            return false;
    }
    read_format(&format, at);
    for (uint64_t n = pgk_dw_uleb(at); n && format.n && !at->bad; n--) {
        read_entry(&format, u, at, &name, &dir);
        if (at->bad)
            break;
        bool known = dir && dir < t->dirs.n;
        if (!pgk_vec_reserve(&t->files, 1))
            return false;
        t->files.v[t->files.n++] =
            (struct pgk_dw_line_file){name, known ? (uint32_t)dir : PGK_INDEX_NONE, NULL};
    }
    return true;
}

/* False when damaged or out of memory. */
static bool read_head(struct pgk_dw_lines *t, const struct pgk_dw_unit *u, struct pgk_dw_pos at)
{
    t->off_size = 4;
    uint64_t length = pgk_dw_uint(&at, 4);
    if (length == 0xffffffff) {
        length = pgk_dw_uint(&at, 8);
        t->off_size = 8;
    }
    if (at.bad || length > (uint64_t)(at.end - at.p))
        return false;
    at.end = at.p + length;
    t->version = (uint16_t)pgk_dw_uint(&at, 2);
    if (t->version < 2 || t->version > 5)
        return false;
    if (t->version >= 5) {
        (void)pgk_dw_uint(&at, 1); /* address size */
        (void)pgk_dw_uint(&at, 1); /* segment selector size */
    }
    uint64_t head = pgk_dw_uint(&at, t->off_size);
    if (at.bad || head > (uint64_t)(at.end - at.p))
        return false;
    t->program = (struct pgk_dw_bytes){at.p + head, (uint64_t)(at.end - at.p) - head};
    at.end = at.p + head;
    t->min_inst = (uint8_t)pgk_dw_uint(&at, 1);
    t->max_ops = t->version >= 4 ? (uint8_t)pgk_dw_uint(&at, 1) : 1;
    if (!t->max_ops)
        t->max_ops = 1;
    (void)pgk_dw_uint(&at, 1); /* default of is_stmt */
    t->line_base = (int8_t)pgk_dw_uint(&at, 1);
    t->line_range = (uint8_t)pgk_dw_uint(&at, 1);
    t->opcode_base = (uint8_t)pgk_dw_uint(&at, 1);
    for (unsigned i = 1; i < t->opcode_base; i++)
        t->operands[i] = (uint8_t)pgk_dw_uint(&at, 1);
    if (at.bad)
        return false;
    struct pgk_dw_unit as = {.file = u->file, .version = 5, .off_size = t->off_size,
                             .addr_size = 8, .str_base = u->str_base};
    bool ok = t->version < 5 ? read_old_names(t, &at) : read_new_names(t, &as, &at);
    if (!ok)
        t->file->starved = true;
    return ok;
}

struct pgk_dw_lines *pgk_dw_lines_read(const struct pgk_dw_unit *u)
{
    struct pgk_dw_bytes b = pgk_dw_from(u->file->sec[PGK_DW_LINE], u->line_off);
    struct pgk_dw_lines *t = b.n ? pgk_mem_zalloc(1, sizeof *t) : NULL;
    if (!t) {
        u->file->starved |= b.n != 0;
        return NULL;
    }
    t->file = u->file;
    pthread_mutex_init(&t->lock, NULL);
    if (read_head(t, u, (struct pgk_dw_pos){b.p, b.p + b.n, false}))
        return t;
    if (!u->file->starved)
        pgk_warn("%s: the line table at offset %" PRIu64 " of .debug_line is damaged or of an "
                 "unknown version; lines of its unit are unknown",
                 pgk_elf_path(u->file->elf), u->line_off);
    pgk_dw_lines_free(t);
    return NULL;
}

const struct pgk_dw_lines *pgk_dw_unit_lines(const struct pgk_dw_unit *unit)
{
    const struct pgk_dw_lines *t = atomic_load_explicit(&unit->line_table, memory_order_acquire);
    if (t || unit->line_off == UINT64_MAX)
        return t;
    struct pgk_dw_unit *u = (struct pgk_dw_unit *)(uintptr_t)unit;
    struct pgk_dw_file *f = u->file;
    pthread_mutex_lock(&f->lock);
    bool known = false;
    PGK_INDEX_FOR (&f->lines_index, u->line_off, i) {
        if (f->lines_off.v[i] == u->line_off) {
            t = f->lines.v[i];
            known = true;
            break;
        }
    }
    /* A damaged table is noted, too, so that it is complained about once. */
    if (!known && pgk_vec_reserve(&f->lines, 1) && pgk_vec_reserve(&f->lines_off, 1) &&
        pgk_index_add(&f->lines_index, u->line_off, (uint32_t)f->lines.n)) {
        bool plausible = f->n_line_files <= f->sec[PGK_DW_LINE].n;
        struct pgk_dw_lines *made = plausible ? pgk_dw_lines_read(u) : NULL;
        f->n_line_files += made ? made->files.n + made->dirs.n : 0;
        f->lines.v[f->lines.n++] = made;
        f->lines_off.v[f->lines_off.n++] = u->line_off;
        t = made;
    } else if (!known) {
        f->starved = true;
    }
    pthread_mutex_unlock(&f->lock);
    if (t)
        atomic_store_explicit(&u->line_table, t, memory_order_release);
    return t;
}

static bool is_absolute(const char *s)
{
    bool drive = ((s[0] | 32) >= 'a' && (s[0] | 32) <= 'z') && s[1] == ':' &&
                 (s[2] == '\\' || s[2] == '/');
    return s[0] == '/' || s[0] == '\\' || drive;
}

static const char *make_path(struct pgk_dw_lines *t, const struct pgk_dw_line_file *f)
{
    const char *dir = f->dir < t->dirs.n ? t->dirs.v[f->dir] : NULL;
    if (!dir || !*dir || is_absolute(f->name))
        return f->name;
    size_t a = strlen(dir), b = strlen(f->name);
    bool slash = dir[a - 1] != '/';
    char *path = pgk_arena_alloc(&t->arena, 1, a + slash + b + 1);
    if (!path) {
        t->file->starved = true;
        return NULL;
    }
    memcpy(path, dir, a);
    path[a] = '/';
    memcpy(path + a + slash, f->name, b + 1);
    return path;
}

const char *pgk_dw_lines_file(const struct pgk_dw_lines *table, uint64_t number)
{
    struct pgk_dw_lines *t = (struct pgk_dw_lines *)(uintptr_t)table;
    if (!t || number < t->first_file || number - t->first_file >= t->files.n)
        return NULL;
    struct pgk_dw_line_file *f = &t->files.v[number - t->first_file];
    const char *path = atomic_load_explicit(&f->path, memory_order_acquire);
    if (path || !f->name)
        return path;
    pthread_mutex_lock(&t->lock);
    path = atomic_load_explicit(&f->path, memory_order_relaxed);
    if (!path) {
        path = make_path(t, f);
        atomic_store_explicit(&f->path, path, memory_order_release);
    }
    pthread_mutex_unlock(&t->lock);
    return path;
}
