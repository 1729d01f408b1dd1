/* Abbreviation tables: what a DIE of each code consists of, and how to step over it. */
#include "dwarf_priv.h"
#include "search.h"

#include <dwarf.h>
#include <stdlib.h>

/* Codes are dense in practice. A table that is not gets a direct part of this many times
 * its size, and the rest is searched. */
enum { DIRECT_PER_CODE = 4, DIRECT_MIN = 64 };

void pgk_dw_abbrevs_free(struct pgk_dw_abbrevs *t)
{
    if (!t)
        return;
    pgk_mem_free(t->hot);
    pgk_mem_free(t->at);
    pgk_vec_free(&t->list);
    pgk_vec_free(&t->specs);
    pgk_vec_free(&t->steps);
    pgk_mem_free(t);
}

/* Places of the two values of most address ranges. They are of use only while all
 * attributes before have a fixed size. */
struct places {
    uint32_t low, high; /* UINT32_MAX: none, or of another form */
    bool ranges;
};

static void note_place(struct places *p, const struct pgk_dw_abbrev *a,
                       const struct pgk_dw_spec *s)
{
    uint32_t at = a->n_steps ? UINT32_MAX : a->fixed;
    if (s->at == DW_AT_low_pc)
        p->low = s->form == DW_FORM_addr ? at : UINT32_MAX;
    else if (s->at == DW_AT_high_pc)
        p->high = s->form == DW_FORM_data4 ? at : UINT32_MAX;
    else if (s->at == DW_AT_ranges)
        p->ranges = true;
}

/* Facts from the attributes that hold for every DIE of the abbreviation, so that most DIEs need not
 * be read. */
static void note_flags(struct pgk_dw_abbrev *a, const struct pgk_dw_spec *s)
{
    switch (s->at) {
    case DW_AT_low_pc:
    case DW_AT_ranges:
        a->flags |= PGK_DW_A_PC;
        break;
    case DW_AT_abstract_origin:
        a->has_origin = true;
        break;
    case DW_AT_declaration:
        a->flags |= PGK_DW_A_DECLARATION;
        break;
    case DW_AT_name:
    case DW_AT_linkage_name:
    case DW_AT_MIPS_linkage_name:
    case DW_AT_decl_line:
    case DW_AT_decl_file:
    case DW_AT_specification:
    case DW_AT_signature:
        a->flags &= (uint16_t)~PGK_DW_A_NAMELESS;
        break;
    default:
        break;
    }
}

/* Adds the sizes of one attribute; false when out of memory. */
static bool add_size(struct pgk_dw_abbrevs *t, const struct pgk_dw_unit *u,
                     struct pgk_dw_abbrev *a, uint16_t form)
{
    int size = pgk_dw_form_size(u, form);
    if (size < 0) {
        a->n_steps++;
        return pgk_vec_push(&t->steps, (struct pgk_dw_step){.form = form});
    }
    uint32_t *sum = a->n_steps ? &t->steps.v[t->steps.n - 1].then : &a->fixed;
    *sum += (uint32_t)size;
    return true;
}

/* Reads one declaration; 0 at the end of the table or when it is damaged, -1 when out of
 * memory. */
static int read_one(struct pgk_dw_abbrevs *t, const struct pgk_dw_unit *u,
                    struct pgk_dw_pos *at, uint64_t only, uint64_t *code_out)
{
    uint64_t code = pgk_dw_uleb(at);
    if (at->bad || code == 0)
        return 0;
    uint64_t tag = pgk_dw_uleb(at);
    bool children = pgk_dw_uint(at, 1) != 0;
    struct pgk_dw_abbrev a = {
        .code = code,
        .spec = (uint32_t)t->specs.n,
        .step = (uint32_t)t->steps.n,
        .tag = tag <= UINT16_MAX ? (uint16_t)tag : 0,
        .flags = PGK_DW_A_VALID | PGK_DW_A_NAMELESS,
    };
    struct places places = {UINT32_MAX, UINT32_MAX, false};
    if (children)
        a.flags |= PGK_DW_A_CHILDREN;
    if (a.tag == DW_TAG_subprogram)
        a.flags |= PGK_DW_A_SUBPROGRAM;
    if (a.tag == DW_TAG_inlined_subroutine)
        a.flags |= PGK_DW_A_INLINED;
    if (a.tag == DW_TAG_call_site || a.tag == DW_TAG_GNU_call_site)
        a.flags |= PGK_DW_A_CALL;
    bool keep = !only || code == only;
    for (;;) {
        uint64_t name = pgk_dw_uleb(at), form = pgk_dw_uleb(at);
        struct pgk_dw_spec s = {(uint16_t)name, (uint16_t)form, 0};
        if (form == DW_FORM_implicit_const)
            s.implicit = pgk_dw_sleb(at);
        if (at->bad || (name == 0 && form == 0))
            break;
        if (!keep)
            continue;
        if (name > UINT16_MAX || form > UINT16_MAX) {
            s.at = 0;
            s.form = (uint16_t)(form > UINT16_MAX ? 0 : form);
        }
        note_flags(&a, &s);
        note_place(&places, &a, &s);
        if (!pgk_vec_push(&t->specs, s) || !add_size(t, u, &a, s.form))
            return -1;
        a.n_specs++;
    }
    if (at->bad)
        return 0;
    *code_out = code;
    if (places.low <= UINT16_MAX && places.high <= UINT16_MAX && !places.ranges) {
        a.simple_pc = true;
        a.low_at = (uint16_t)places.low;
        a.high_at = (uint16_t)places.high;
    }
    if (keep && !pgk_vec_push(&t->list, a))
        return -1;
    if (keep && (a.flags & (PGK_DW_A_SUBPROGRAM | PGK_DW_A_INLINED)) && (a.flags & PGK_DW_A_PC))
        t->has_functions = true;
    return 1;
}

static int compare_codes(const void *x, const void *y)
{
    const struct pgk_dw_abbrev *a = x, *b = y;
    return a->code < b->code ? -1 : a->code > b->code;
}

static uint32_t hot_word(const struct pgk_dw_abbrevs *t, const struct pgk_dw_abbrev *a)
{
    uint32_t w = 0;
    const struct pgk_dw_step *s = a->n_steps ? &t->steps.v[a->step] : NULL;
    if (a->n_steps == 1 && s->form == DW_FORM_exprloc && a->fixed <= UINT8_MAX &&
        s->then <= UINT8_MAX)
        w |= PGK_DW_HOT_EXPR | a->fixed | s->then << 8;
    else if (a->n_steps || a->fixed > PGK_DW_HOT_SIZE)
        w |= PGK_DW_HOT_VARIES;
    else
        w |= a->fixed;
    if (a->flags & PGK_DW_A_SUBPROGRAM)
        w |= PGK_DW_HOT_WANTED;
    if (a->flags & PGK_DW_A_CALL)
        w |= PGK_DW_HOT_CALL;
    return w;
}

static bool make_direct(struct pgk_dw_abbrevs *t)
{
    bool sorted = true;
    for (size_t i = 1; i < t->list.n && sorted; i++)
        sorted = t->list.v[i - 1].code < t->list.v[i].code;
    if (!sorted)
        qsort(t->list.v, t->list.n, sizeof *t->list.v, compare_codes);
    uint64_t limit = t->list.n * DIRECT_PER_CODE + DIRECT_MIN;
    uint64_t max = t->list.n ? t->list.v[t->list.n - 1].code : 0;
    t->n_hot = (max < limit ? max : limit) + 1;
    t->hot = pgk_mem_alloc(t->n_hot, sizeof *t->hot);
    t->at = pgk_mem_zalloc(t->n_hot, sizeof *t->at);
    if (!t->hot || !t->at)
        return false;
    t->hot[0] = 0;
    for (uint64_t i = 1; i < t->n_hot; i++)
        t->hot[i] = PGK_DW_HOT_INVALID;
    for (size_t i = 0; i < t->list.n; i++) {
        uint64_t code = t->list.v[i].code;
        /* Of two declarations with one code the first is the valid one. */
        if (code < t->n_hot && t->hot[code] == PGK_DW_HOT_INVALID) {
            t->hot[code] = hot_word(t, &t->list.v[i]);
            t->at[code] = (uint32_t)i;
        }
    }
    return true;
}

struct pgk_dw_abbrevs *pgk_dw_abbrevs_read(const struct pgk_dw_unit *u, uint64_t only)
{
    struct pgk_dw_bytes b = pgk_dw_from(u->file->sec[PGK_DW_ABBREV], u->abbrev_off);
    struct pgk_dw_pos at = {b.p, b.p + b.n, b.n == 0};
    struct pgk_dw_abbrevs *t = pgk_mem_zalloc(1, sizeof *t);
    if (!t) {
        u->file->starved = true;
        return NULL;
    }
    uint64_t code = 0;
    int more;
    while ((more = read_one(t, u, &at, only, &code)) > 0)
        if (only && code == only)
            break;
    if (more < 0 || !make_direct(t)) {
        u->file->starved = true;
        pgk_dw_abbrevs_free(t);
        return NULL;
    }
    return t;
}

const struct pgk_dw_abbrev *pgk_dw_abbrev_search(const struct pgk_dw_abbrevs *t, uint64_t code)
{
    PGK_SEARCH(low, t->list.n, mid, t->list.v[mid].code < code)
    return low < t->list.n && t->list.v[low].code == code ? &t->list.v[low] : NULL;
}

const struct pgk_dw_abbrevs *pgk_dw_unit_abbrevs(const struct pgk_dw_unit *unit)
{
    const struct pgk_dw_abbrevs *t = atomic_load_explicit(&unit->abbrevs, memory_order_acquire);
    if (t)
        return t;
    struct pgk_dw_unit *u = (struct pgk_dw_unit *)(uintptr_t)unit;
    struct pgk_dw_file *f = u->file;
    /* Sizes of forms depend on these properties of the unit, too. */
    uint64_t key = u->abbrev_off << 2 | (uint64_t)(u->off_size == 8) << 1 | (u->version <= 2);
    pthread_mutex_lock(&f->lock);
    PGK_INDEX_FOR (&f->abbrevs_index, key, i) {
        if (f->abbrevs_off.v[i] == key) {
            t = f->abbrevs.v[i];
            break;
        }
    }
    if (!t) {
        /* Tables do not overlap, so all of them together have fewer attributes than the
         * section has bytes; the factor is for tables read for units of several kinds. */
        bool plausible = f->n_specs <= 4 * f->sec[PGK_DW_ABBREV].n;
        struct pgk_dw_abbrevs *made = pgk_dw_abbrevs_read(u, plausible ? 0 : UINT64_MAX);
        f->n_specs += made ? made->specs.n : 0;
        if (made && pgk_vec_reserve(&f->abbrevs, 1) && pgk_vec_reserve(&f->abbrevs_off, 1) &&
            pgk_index_add(&f->abbrevs_index, key, (uint32_t)f->abbrevs.n)) {
            f->abbrevs.v[f->abbrevs.n++] = made;
            f->abbrevs_off.v[f->abbrevs_off.n++] = key;
            t = made;
        } else {
            f->starved = true;
            pgk_dw_abbrevs_free(made);
        }
    }
    pthread_mutex_unlock(&f->lock);
    if (t)
        atomic_store_explicit(&u->abbrevs, t, memory_order_release);
    return t;
}
