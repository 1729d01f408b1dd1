/* Symbolisation with libdw, written for clearness; see plain_symboliser.h. */
#include "plain_symboliser.h"

#include "vec.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_DEPTH = 256, AT_GNU_DISCRIMINATOR = 0x2136 /* not in dwarf.h */ };

struct function {
    Dwarf_Die die;
    size_t outer; /* 1 + index of the function around it; 0: none */
};

struct plain_symboliser {
    int fd;
    Dwarf *dw;
    /* Of the unit whose DIE this is, all functions, each before those in it. */
    void *unit;
    PGK_VEC(struct function) functions;
};

struct plain_symboliser *plain_open(const char *path)
{
    struct plain_symboliser *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    s->dw = s->fd < 0 ? NULL : dwarf_begin(s->fd, DWARF_C_READ);
    if (!s->dw) {
        plain_close(s);
        return NULL;
    }
    return s;
}

void plain_close(struct plain_symboliser *s)
{
    pgk_vec_free(&s->functions);
    dwarf_end(s->dw);
    if (s->fd >= 0)
        close(s->fd);
    free(s);
}

static bool is_function(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine;
}

static void collect(struct plain_symboliser *s, Dwarf_Die *parent, size_t outer, unsigned depth)
{
    Dwarf_Die die;
    if (depth == MAX_DEPTH || dwarf_child(parent, &die) != 0)
        return;
    do {
        size_t around = outer;
        if (is_function(&die)) {
            if (!pgk_vec_push(&s->functions, ((struct function){die, outer})))
                abort();
            around = s->functions.n;
        }
        if (dwarf_haschildren(&die) > 0)
            collect(s, &die, around, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
}

/* The innermost function at the address. A later one that covers it replaces an earlier one, as in
 * LLVM. */
static struct function *find_function(struct plain_symboliser *s, Dwarf_Die *unit, uint64_t addr)
{
    if (s->unit != unit->addr) {
        s->functions.n = 0;
        collect(s, unit, 0, 0);
        s->unit = unit->addr;
    }
    for (size_t i = s->functions.n; i > 0; i--)
        if (dwarf_haspc(&s->functions.v[i - 1].die, addr) > 0)
            return &s->functions.v[i - 1];
    return NULL;
}

static struct function *around(struct plain_symboliser *s, const struct function *f)
{
    return f->outer ? &s->functions.v[f->outer - 1] : NULL;
}

static const char *name_of(Dwarf_Die *die)
{
    static const unsigned names[] = {DW_AT_MIPS_linkage_name, DW_AT_linkage_name, DW_AT_name};
    Dwarf_Attribute attr;
    for (unsigned i = 0; i < 3; i++)
        if (dwarf_attr_integrate(die, names[i], &attr))
            return dwarf_formstring(&attr);
    return NULL;
}

static uint32_t number(Dwarf_Die *die, unsigned name, bool integrate)
{
    Dwarf_Attribute attr, *found;
    Dwarf_Word value;
    if (integrate)
        found = dwarf_attr_integrate(die, name, &attr);
    else
        found = dwarf_attr(die, name, &attr);
    return found && dwarf_formudata(found, &value) == 0 ? (uint32_t)value : 0;
}

static const char *call_file(Dwarf_Die *cu, uint32_t index)
{
    Dwarf_Files *files;
    size_t n;
    if (dwarf_getsrcfiles(cu, &files, &n) != 0 || index >= n)
        return NULL;
    return dwarf_filesrc(files, index, NULL, NULL);
}

static void fill_line(Dwarf_Die *cu, uint64_t addr, struct plain_frame *f)
{
    Dwarf_Line *line = dwarf_getsrc_die(cu, addr);
    int n;
    unsigned discriminator;
    if (!line)
        return;
    f->file = dwarf_linesrc(line, NULL, NULL);
    f->line = dwarf_lineno(line, &n) == 0 ? (uint32_t)n : 0;
    f->column = dwarf_linecol(line, &n) == 0 ? (uint32_t)n : 0;
    f->discriminator = dwarf_linediscriminator(line, &discriminator) == 0 ? discriminator : 0;
}

/* The unit that covers the address, and where its functions are: of a skeleton in the
 * split unit. */
static bool find_unit(struct plain_symboliser *s, uint64_t addr, Dwarf_Die *cu,
                      Dwarf_Die *functions)
{
    Dwarf_CU *unit = NULL;
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die split;
    while (dwarf_get_units(s->dw, unit, &unit, &version, &type, cu, &split) == 0) {
        if (type != DW_UT_compile && type != DW_UT_skeleton)
            continue;
        if (dwarf_haspc(cu, addr) > 0) {
            bool is_split = type == DW_UT_skeleton && dwarf_tag(&split) == DW_TAG_compile_unit;
            *functions = is_split ? split : *cu;
            return true;
        }
    }
    return false;
}

unsigned plain_symbolise(struct plain_symboliser *s, uint64_t addr,
                         struct plain_frame frames[PLAIN_MAX_FRAMES])
{
    Dwarf_Die cu, functions, *inner = NULL;
    unsigned n = 0;
    if (!find_unit(s, addr, &cu, &functions))
        return 0;
    struct function *at = find_function(s, &functions, addr);
    for (; at && n < PLAIN_MAX_FRAMES; at = around(s, at)) {
        struct plain_frame f = {.function = name_of(&at->die),
                                .decl_line = number(&at->die, DW_AT_decl_line, true)};
        if (inner) {
            f.file = call_file(&cu, number(inner, DW_AT_call_file, false));
            f.line = number(inner, DW_AT_call_line, false);
            f.column = number(inner, DW_AT_call_column, false);
            f.discriminator = number(inner, AT_GNU_DISCRIMINATOR, false);
        } else {
            fill_line(&cu, addr, &f);
        }
        frames[n++] = f;
        inner = &at->die;
        if (dwarf_tag(inner) == DW_TAG_subprogram)
            break;
    }
    return n;
}
