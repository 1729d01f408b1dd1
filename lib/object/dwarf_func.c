/* Names and declarations of functions. What a DIE does not say itself is said by the
 * DIEs it refers to; the order of the search is LLVM's: depth first, of one DIE's
 * references DW_AT_signature, DW_AT_specification, DW_AT_abstract_origin. */
#include "dwarf_priv.h"

#include <dwarf.h>

/* Real chains have two or three links. */
enum { MAX_DIES = 32 };

struct search {
    struct pgk_dw_die seen[MAX_DIES], todo[MAX_DIES];
    unsigned n_seen, n_todo;
    bool has_line;
    bool at_origin; /* the next DIE is what the first one is a copy of */
    const char *linkage, *plain;
};

static void add_die(struct search *s, const struct pgk_dw_unit *u, const struct pgk_dw_value *v)
{
    struct pgk_dw_die die;
    if (!v->form || !pgk_dw_reference(u, v, &die))
        return;
    for (unsigned i = 0; i < s->n_seen; i++)
        if (s->seen[i].unit == die.unit && s->seen[i].off == die.off)
            return;
    if (s->n_seen == MAX_DIES || s->n_todo == MAX_DIES)
        return;
    s->seen[s->n_seen++] = die;
    s->todo[s->n_todo++] = die;
}

static const char *decl_file(const struct pgk_dw_unit *u, const struct pgk_dw_value *v)
{
    uint64_t number;
    if (!pgk_dw_constant(v, &number))
        return NULL;
    /* A split unit without a table of its own numbers files as its skeleton does. */
    const struct pgk_dw_unit *home = u->line_off == UINT64_MAX ? u->skeleton : u;
    return pgk_dw_lines_file(pgk_dw_unit_lines(home), number);
}

/* Takes from the DIE what is not known yet, and adds those it refers to: a copy of a function says
 * only what differs from its abstract origin, and that from its declaration. */
static void read_die(struct search *s, struct pgk_dw_die die, struct pgk_dw_func *f)
{
    struct pgk_dw_value origin = {0}, specification = {0}, signature = {0};
    const char *mips = NULL, *linkage = NULL, *plain = NULL;
    uint64_t line;
    struct pgk_dw_iter it;
    pgk_dw_iter_start(&it, die.unit, die.off);
    while (pgk_dw_iter_next(&it)) {
        switch (it.at) {
        case DW_AT_MIPS_linkage_name:
            mips = pgk_dw_string(die.unit, &it.value);
            break;
        case DW_AT_linkage_name:
            linkage = pgk_dw_string(die.unit, &it.value);
            break;
        case DW_AT_name:
            plain = pgk_dw_string(die.unit, &it.value);
            break;
        case DW_AT_decl_line:
            if (!s->has_line && pgk_dw_constant(&it.value, &line)) {
                s->has_line = true;
                f->decl_line = (uint32_t)line;
            }
            break;
        case DW_AT_decl_file:
            if (!f->decl_file)
                f->decl_file = decl_file(die.unit, &it.value);
            break;
        case DW_AT_declaration:
            if (s->n_seen == 1 || s->at_origin)
                f->is_declaration = true;
            break;
        case DW_AT_abstract_origin:
            origin = it.value;
            break;
        case DW_AT_specification:
            specification = it.value;
            break;
        case DW_AT_signature:
            signature = it.value;
            break;
        default:
            break;
        }
    }
    if (!s->linkage)
        s->linkage = mips ? mips : linkage;
    if (!s->plain)
        s->plain = plain;
    s->at_origin = s->n_seen == 1 && origin.form;
    /* A stack: the last added is read first. */
    add_die(s, die.unit, &origin);
    add_die(s, die.unit, &specification);
    add_die(s, die.unit, &signature);
}

void pgk_dw_func_read(struct pgk_dw_die die, struct pgk_dw_func *f)
{
    struct search s = {.seen = {die}, .todo = {die}, .n_seen = 1, .n_todo = 1};
    *f = (struct pgk_dw_func){0};
    while (s.n_todo && !(s.linkage && f->decl_file && s.has_line))
        read_die(&s, s.todo[--s.n_todo], f);
    f->name = s.linkage ? s.linkage : s.plain;
}
