/* One file with DWARF: its sections and the list of its units. */
#include "dwarf_priv.h"
#include "hash.h"
#include "message.h"
#include "search.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>

static const char *const section_names[PGK_DW_SECTIONS] = {
    [PGK_DW_INFO] = ".debug_info",
    [PGK_DW_TYPES] = ".debug_types",
    [PGK_DW_ABBREV] = ".debug_abbrev",
    [PGK_DW_STR] = ".debug_str",
    [PGK_DW_LINE_STR] = ".debug_line_str",
    [PGK_DW_STR_OFFSETS] = ".debug_str_offsets",
    [PGK_DW_ADDR] = ".debug_addr",
    [PGK_DW_LINE] = ".debug_line",
    [PGK_DW_RANGES] = ".debug_ranges",
    [PGK_DW_RNGLISTS] = ".debug_rnglists",
    [PGK_DW_ARANGES] = ".debug_aranges",
    [PGK_DW_CU_INDEX] = ".debug_cu_index",
    [PGK_DW_TU_INDEX] = ".debug_tu_index",
};

/* gcc gives each type unit of a .dwo a section of its own. They are joined, which is
 * right as no offset in them leads out of its unit. */
static bool join_sections(struct pgk_dw_file *f, enum pgk_dw_section which, const char *name)
{
    PGK_VEC(uint8_t) all = {0};
    size_t size;
    if (!pgk_elf_section_nth(f->elf, name, 1, &size))
        return true;
    for (size_t i = 0;; i++) {
        const uint8_t *p = pgk_elf_section_nth(f->elf, name, i, &size);
        if (!p && i > 1)
            break;
        if (!pgk_vec_reserve(&all, size)) {
            pgk_vec_free(&all);
            return false;
        }
        if (p)
            memcpy(all.v + all.n, p, size);
        all.n += size;
    }
    f->joined[which == PGK_DW_TYPES] = all.v;
    f->sec[which] = (struct pgk_dw_bytes){all.v, all.n};
    return true;
}

static bool find_sections(struct pgk_dw_file *f)
{
    bool ok = true;
    for (int i = 0; i < PGK_DW_SECTIONS; i++) {
        char name[40];
        bool index = i == PGK_DW_CU_INDEX || i == PGK_DW_TU_INDEX;
        snprintf(name, sizeof name, "%s%s", section_names[i], f->dwo && !index ? ".dwo" : "");
        size_t size;
        f->sec[i].p = pgk_elf_section(f->elf, name, &size);
        f->sec[i].n = size;
        if (f->dwo && (i == PGK_DW_INFO || i == PGK_DW_TYPES))
            ok = ok && join_sections(f, (enum pgk_dw_section)i, name);
    }
    /* No string ends after the last zero; without that part each offset inside is a terminated
     * string and need not be checked again. */
    for (int i = PGK_DW_STR; i <= PGK_DW_LINE_STR; i++) {
        struct pgk_dw_bytes *b = &f->sec[i];
        const uint8_t *last = b->n ? memrchr(b->p, 0, b->n) : NULL;
        b->n = last ? (uint64_t)(last - b->p) + 1 : 0;
    }
    return ok;
}

static bool is_type_unit(const struct pgk_dw_unit *u)
{
    return u->in_types || u->type == DW_UT_type || u->type == DW_UT_split_type;
}

/* Reads the header after the length; false if it is unknown. */
static bool read_header(struct pgk_dw_unit *u, struct pgk_dw_pos *at, const uint8_t *start)
{
    u->version = (uint8_t)pgk_dw_uint(at, 2);
    if (at->bad || u->version < 2 || u->version > 5)
        return false;
    if (u->version >= 5) {
        u->type = (uint8_t)pgk_dw_uint(at, 1);
        u->addr_size = (uint8_t)pgk_dw_uint(at, 1);
        u->abbrev_off = pgk_dw_uint(at, u->off_size);
    } else {
        u->type = u->in_types ? DW_UT_type : DW_UT_compile;
        u->abbrev_off = pgk_dw_uint(at, u->off_size);
        u->addr_size = (uint8_t)pgk_dw_uint(at, 1);
    }
    if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
        u->id = pgk_dw_uint(at, 8);
    if (is_type_unit(u)) {
        u->id = pgk_dw_uint(at, 8);
        uint64_t type_off = pgk_dw_uint(at, u->off_size);
        u->type_die = type_off < u->end - u->off ? u->off + type_off : u->end;
    }
    u->die = (uint64_t)(at->p - start);
    return !at->bad && u->addr_size == 8 && u->abbrev_off < UINT64_MAX >> 3;
}

static bool list_units(struct pgk_dw_file *f, bool types)
{
    struct pgk_dw_bytes b = f->sec[types ? PGK_DW_TYPES : PGK_DW_INFO];
    for (uint64_t off = 0; b.n - off >= 4;) {
        struct pgk_dw_unit u = {.file = f, .off = off, .in_types = types, .off_size = 4};
        struct pgk_dw_pos at = {b.p + off, b.p + b.n, false};
        uint64_t length = pgk_dw_uint(&at, 4);
        if (length == 0xffffffff) {
            length = pgk_dw_uint(&at, 8);
            u.off_size = 8;
        }
        if (at.bad || length > (uint64_t)(at.end - at.p)) {
            pgk_warn("%s: debug information ends at offset %" PRIu64 " of %s: a unit claims "
                     "%" PRIu64 " bytes",
                     pgk_elf_path(f->elf), off, section_names[types ? PGK_DW_TYPES : PGK_DW_INFO],
                     length);
            break;
        }
        at.end = at.p + length;
        u.end = (uint64_t)(at.end - b.p);
        u.line_off = UINT64_MAX;
        u.usable = read_header(&u, &at, b.p);
        if (!u.usable)
            u.die = u.end;
        u.str_base = u.version >= 5 ? 2u * u.off_size : 0;
        u.addr_base = u.version >= 5 ? 8 : 0;
        u.rnglists_base = u.off_size == 8 ? 20 : 12;
        if (length && !pgk_vec_push(&f->units, u))
            return false;
        off = u.end;
    }
    return true;
}

/* First pass over the unit DIE: what the second needs to read strings and addresses. */
static void read_base(struct pgk_dw_unit *u, const struct pgk_dw_iter *it)
{
    uint64_t n;
    if (!pgk_dw_section_offset(&it->value, &n))
        return;
    switch (it->at) {
    case DW_AT_str_offsets_base:
        u->str_base = n;
        break;
    case DW_AT_addr_base:
    case DW_AT_GNU_addr_base:
        u->addr_base = n;
        break;
    case DW_AT_rnglists_base:
        u->rnglists_base = n;
        break;
    case DW_AT_GNU_ranges_base:
        u->ranges_base = n;
        break;
    case DW_AT_stmt_list:
        u->line_off = n;
        break;
    default:
        break;
    }
}

static void read_other(struct pgk_dw_unit *u, const struct pgk_dw_iter *it)
{
    switch (it->at) {
    case DW_AT_low_pc:
        u->has_low = pgk_dw_address(u, &it->value, &u->low_pc);
        break;
    case DW_AT_ranges:
        u->has_ranges = true;
        break;
    case DW_AT_comp_dir:
        u->comp_dir = pgk_dw_string(u, &it->value);
        break;
    case DW_AT_dwo_name:
    case DW_AT_GNU_dwo_name:
        u->dwo_name = pgk_dw_string(u, &it->value);
        break;
    case DW_AT_GNU_dwo_id:
        u->id = it->value.u;
        break;
    default:
        break;
    }
}

void pgk_dw_unit_read_die(struct pgk_dw_unit *u)
{
    struct pgk_dw_bytes b = pgk_dw_unit_bytes(u);
    struct pgk_dw_pos at = {b.p + u->die, b.p + u->end, false};
    uint64_t code = pgk_dw_uleb(&at);
    struct pgk_dw_abbrevs *t = at.bad || !code ? NULL : pgk_dw_abbrevs_read(u, code);
    struct pgk_dw_iter it;
    u->usable = pgk_dw_iter_start_in(&it, u, u->die, t);
    if (u->usable) {
        u->tag = it.abbrev->tag;
        while (pgk_dw_iter_next(&it))
            read_base(u, &it);
        if (u->row && u->line_off != UINT64_MAX)
            u->line_off += u->row->line;
        pgk_dw_iter_start_in(&it, u, u->die, t);
        while (pgk_dw_iter_next(&it))
            read_other(u, &it);
    }
    pgk_dw_abbrevs_free(t);
}

/* A unit of a .dwp finds its parts of the other sections through the package's index. */
static void apply_package(struct pgk_dw_file *f, struct pgk_dw_unit *u)
{
    u->row = pgk_dw_package_find(f, u->in_types, u->off);
    if (!u->row)
        return;
    u->abbrev_off += u->row->abbrev;
    u->str_base += u->row->str_offsets;
    u->rnglists_base += u->row->rnglists;
    if (u->abbrev_off >= UINT64_MAX >> 3)
        u->usable = false;
}

int pgk_dw_file_open(struct pgk_dw_file **out, const struct pgk_elf *elf, struct pgk_elf *owned,
                     bool dwo, struct pgk_err *err)
{
    struct pgk_dw_file *f = pgk_mem_zalloc(1, sizeof *f);
    if (!f) {
        pgk_elf_close(&owned);
        return pgk_fail_nomem(err);
    }
    f->elf = elf;
    f->owned = owned;
    f->dwo = dwo;
    pthread_mutex_init(&f->lock, NULL);
    bool ok = find_sections(f);
    if (dwo)
        pgk_dw_package_read(f);
    ok = ok && list_units(f, false);
    f->n_info_units = f->units.n;
    ok = ok && list_units(f, true);
    size_t unusable = 0, first = 0;
    for (size_t i = 0; i < f->units.n; i++) {
        struct pgk_dw_unit *u = &f->units.v[i];
        pthread_mutex_init(&u->indexing, NULL);
        u->skeleton = u;
        if (u->usable && f->package.n)
            apply_package(f, u);
        if (u->usable)
            pgk_dw_unit_read_die(u);
        if (!u->usable && !unusable++)
            first = i;
    }
    if (unusable && !f->starved)
        pgk_warn("%s: %zu unit%s damaged or of an unknown version, the first at offset %" PRIu64
                 " of %s",
                 pgk_elf_path(elf), unusable, unusable == 1 ? " is" : "s are",
                 f->units.v[first].off,
                 section_names[f->units.v[first].in_types ? PGK_DW_TYPES : PGK_DW_INFO]);
    if (!ok || f->starved) {
        pgk_dw_file_close(&f);
        return pgk_fail_nomem(err);
    }
    *out = f;
    return 0;
}

void pgk_dw_file_close(struct pgk_dw_file **file)
{
    struct pgk_dw_file *f = *file;
    if (!f)
        return;
    *file = NULL;
    for (size_t i = 0; i < f->units.n; i++) {
        struct pgk_dw_unit *u = &f->units.v[i];
        if (u->split_file)
            pgk_dw_file_close(&u->split_file); /* has no split units itself */
        pgk_vec_free(&u->funcs);
        pthread_mutex_destroy(&u->indexing);
    }
    if (f->alt)
        pgk_dw_file_close(&f->alt); /* has no alt file itself */
    for (size_t i = 0; i < f->abbrevs.n; i++)
        pgk_dw_abbrevs_free(f->abbrevs.v[i]);
    for (size_t i = 0; i < f->lines.n; i++)
        pgk_dw_lines_free(f->lines.v[i]);
    pgk_vec_free(&f->abbrevs);
    pgk_vec_free(&f->abbrevs_off);
    pgk_index_free(&f->abbrevs_index);
    pgk_vec_free(&f->lines);
    pgk_vec_free(&f->lines_off);
    pgk_index_free(&f->lines_index);
    pgk_index_free(&f->signatures);
    pgk_vec_free(&f->units);
    pgk_vec_free(&f->package);
    pgk_mem_free(f->joined[0]);
    pgk_mem_free(f->joined[1]);
    pthread_mutex_destroy(&f->lock);
    pgk_elf_close(&f->owned);
    pgk_mem_free(f);
}

const struct pgk_dw_unit *pgk_dw_unit_at(const struct pgk_dw_file *f, uint64_t off)
{
    /* the first unit that ends after `off` */
    PGK_SEARCH(low, f->n_info_units, mid, f->units.v[mid].end <= off)
    return low < f->n_info_units && f->units.v[low].off <= off ? &f->units.v[low] : NULL;
}

const struct pgk_dw_unit *pgk_dw_unit_by_signature(struct pgk_dw_file *f, uint64_t sig)
{
    const struct pgk_dw_unit *found = NULL;
    pthread_mutex_lock(&f->lock);
    if (!f->signatures_made) {
        f->signatures_made = true;
        for (size_t i = 0; i < f->units.n; i++)
            if (f->units.v[i].usable && is_type_unit(&f->units.v[i]) &&
                !pgk_index_add(&f->signatures, pgk_hash_u64(f->units.v[i].id), (uint32_t)i))
                f->starved = true;
    }
    PGK_INDEX_FOR (&f->signatures, pgk_hash_u64(sig), i) {
        if (f->units.v[i].id == sig) {
            found = &f->units.v[i];
            break;
        }
    }
    pthread_mutex_unlock(&f->lock);
    return found;
}
