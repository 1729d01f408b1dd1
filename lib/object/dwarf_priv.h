/* DWARF 2 to 5, decoded for one purpose: turning addresses into source frames.
 *
 * Why not libdw, as for other formats that pgokit does not exist for: contexts with
 * their frames are what it does exist for, and libdw is too slow for them. It reads the
 * abbreviation of each DIE anew and steps over children one by one, for clang writes no
 * DW_AT_sibling. 2,700 addresses of a program with 24 MB of .debug_info, 2.07 million
 * DIEs and 0.76 million rows cost, in CPU time:
 *
 *   dwarf_getscopes and dwarf_getsrc_die for each address      16,800 ms
 *   one walk over all DIEs by libdw and dwarf_getsrclines          300 ms
 *   llvm-symbolizer-22                                             320 ms, 212 MiB
 *   this                                                            37 ms, 34 MiB
 *
 * libdw is the slow plain reference of the tests. Where things are:
 *
 *   dwarf_sections.c  the sections of one file, its list of units
 *   dwarf_abbrev.c    abbreviations, with the size of a DIE worked out beforehand
 *   dwarf_form.c      attribute values
 *   dwarf_ranges.c    address ranges of a DIE
 *   dwarf_aranges.c   address -> unit
 *   dwarf_split.c     indexes of .dwp files
 *   dwarf_lines.c     line programs; dwarf_line_head.c their headers
 *   dwarf_rows.c      where in the code the place in the source changes
 *   dwarf_func.c      names and declarations of functions
 *   dwarf_tree.c      address -> inline chain within a unit
 *   dwarf_calls.c     calls that the compiler described
 *   debug_file.c      debug files beside the program and in debug folders
 *   symboliser.c      batches of addresses, units in parallel, frames
 *
 * Offsets count from the start of their section. Everything read is checked against
 * its section; a damaged unit gives fewer answers, never a crash. Tables that only share
 * bytes in files made to exhaust memory are limited by the size of their section. What is in a
 * struct below is written while the file or unit is opened and only read later,
 * except members under a lock, which say so. */
#ifndef PGK_DWARF_PRIV_H
#define PGK_DWARF_PRIV_H

#include "arena.h"
#include "elf_priv.h"
#include "index.h"
#include "vec.h"

#include <pthread.h>
#include <stdatomic.h>

enum pgk_dw_section {
    PGK_DW_INFO,
    PGK_DW_TYPES,
    PGK_DW_ABBREV,
    PGK_DW_STR,
    PGK_DW_LINE_STR,
    PGK_DW_STR_OFFSETS,
    PGK_DW_ADDR,
    PGK_DW_LINE,
    PGK_DW_RANGES,
    PGK_DW_RNGLISTS,
    PGK_DW_ARANGES,
    PGK_DW_CU_INDEX,
    PGK_DW_TU_INDEX,
    PGK_DW_SECTIONS
};

struct pgk_dw_bytes {
    const uint8_t *p;
    uint64_t n;
};

/* The bytes of `b` from `off` on; none, but at some address, if it lies outside. */
static inline struct pgk_dw_bytes pgk_dw_from(struct pgk_dw_bytes b, uint64_t off)
{
    static const uint8_t none;
    if (!b.p || off > b.n)
        return (struct pgk_dw_bytes){.p = &none};
    return (struct pgk_dw_bytes){b.p + off, b.n - off};
}

/* ---- abbreviations ---- */

enum {
    PGK_DW_A_VALID = 1,
    PGK_DW_A_CHILDREN = 2,
    PGK_DW_A_SUBPROGRAM = 4,
    PGK_DW_A_INLINED = 8,
    PGK_DW_A_PC = 16,     /* has attributes of an address range */
    PGK_DW_A_NAMELESS = 32,    /* says nothing itself that a function is known by */
    PGK_DW_A_DECLARATION = 64, /* has DW_AT_declaration */
    PGK_DW_A_CALL = 128,       /* DW_TAG_call_site, or GNU's of before DWARF 5 */
};

struct pgk_dw_spec {
    uint16_t at, form;
    int64_t implicit; /* of DW_FORM_implicit_const */
};

/* How to step over one attribute of varying size, and the fixed bytes after it. */
struct pgk_dw_step {
    uint16_t form;
    uint32_t then;
};

struct pgk_dw_abbrev {
    uint64_t code;
    uint32_t spec, n_specs; /* in the table's `specs` */
    uint32_t step, n_steps; /* in the table's `steps` */
    uint32_t fixed;         /* bytes before the first step */
    uint16_t tag;
    uint16_t flags;         /* PGK_DW_A_... */
    bool has_origin;        /* DW_AT_abstract_origin */
    /* DW_AT_low_pc is an address and DW_AT_high_pc 4 bytes, there are no ranges, and these
     * are their places. */
    bool simple_pc;
    uint16_t low_at, high_at;
};

/* One word per code, so that a walk stays in the first-level cache. */
enum {
    PGK_DW_HOT_SIZE = 0xffff,     /* all bytes of the attributes, if HOT_VARIES is off */
    PGK_DW_HOT_VARIES = 1 << 16,  /* has steps */
    PGK_DW_HOT_WANTED = 1 << 17,  /* a subprogram */
    PGK_DW_HOT_INVALID = 1 << 18, /* no such abbreviation here: search the table */
    PGK_DW_HOT_EXPR = 1 << 19,    /* one expression; low byte: before it, next byte: after */
    PGK_DW_HOT_CALL = 1 << 20,    /* a call site, which only some walks look at */
    PGK_DW_HOT_SPECIAL = PGK_DW_HOT_VARIES | PGK_DW_HOT_WANTED | PGK_DW_HOT_INVALID |
                         PGK_DW_HOT_EXPR,
};

struct pgk_dw_abbrevs {
    uint32_t *hot; /* by code, below n_hot; hot[0] is the null entry */
    uint32_t *at;  /* by code: position in `list` */
    uint64_t n_hot;
    PGK_VEC(struct pgk_dw_abbrev) list; /* ascending codes */
    PGK_VEC(struct pgk_dw_spec) specs;
    PGK_VEC(struct pgk_dw_step) steps;
    bool has_functions; /* subprograms or inlined subroutines with code */
};

struct pgk_dw_unit;

/* The table that the unit uses, decoded on first use; NULL when damaged or out of
 * memory. Thread-safe. */
const struct pgk_dw_abbrevs *pgk_dw_unit_abbrevs(const struct pgk_dw_unit *u);
/* Decodes declarations at `off`; only the one with code `only` unless that is 0. */
struct pgk_dw_abbrevs *pgk_dw_abbrevs_read(const struct pgk_dw_unit *u, uint64_t only);
void pgk_dw_abbrevs_free(struct pgk_dw_abbrevs *t);
const struct pgk_dw_abbrev *pgk_dw_abbrev_search(const struct pgk_dw_abbrevs *t, uint64_t code);

static inline const struct pgk_dw_abbrev *pgk_dw_abbrev_find(const struct pgk_dw_abbrevs *t,
                                                             uint64_t code)
{
    if (PGK_LIKELY(code < t->n_hot && t->hot[code] != PGK_DW_HOT_INVALID && code))
        return &t->list.v[t->at[code]];
    return pgk_dw_abbrev_search(t, code);
}

/* ---- files and units ---- */

struct pgk_dw_lines;

/* The bases and sections that .dwp files give each unit of their own. */
struct pgk_dw_package_row {
    uint64_t unit_off, unit_size;
    uint64_t abbrev, line, str_offsets, rnglists;
    uint64_t id;
    bool types_section; /* of a .debug_types.dwo section */
};

struct pgk_dw_file {
    const struct pgk_elf *elf;
    struct pgk_elf *owned; /* closed with the file; NULL if borrowed */
    bool dwo;              /* split: sections are called .debug_x.dwo */
    struct pgk_dw_bytes sec[PGK_DW_SECTIONS];
    PGK_VEC(struct pgk_dw_unit) units; /* .debug_info's, then .debug_types', by offset */
    size_t n_info_units;
    PGK_VEC(struct pgk_dw_package_row) package; /* of a .dwp, by (types_section, unit_off) */
    struct pgk_dw_file *alt;                    /* dwz's common file */
    uint8_t *joined[2]; /* .debug_info.dwo, .debug_types.dwo made of several sections */

    /* Memory ran out where only a missing part could be reported; what was found since is
     * incomplete and must not be used. */
    _Atomic(bool) starved;
    /* Made on first use, under the lock. */
    pthread_mutex_t lock;
    PGK_VEC(struct pgk_dw_abbrevs *) abbrevs;
    uint64_t n_specs; /* of all abbreviations */
    PGK_VEC(uint64_t) abbrevs_off;
    struct pgk_index abbrevs_index;
    PGK_VEC(struct pgk_dw_lines *) lines; /* NULL: damaged */
    uint64_t n_line_files; /* of all line tables */
    PGK_VEC(uint64_t) lines_off;
    struct pgk_index lines_index;
    struct pgk_index signatures; /* of type units */
    bool signatures_made;
};

struct pgk_dw_func_range {
    uint64_t low, high;
    uint64_t die;
};

struct pgk_dw_unit {
    struct pgk_dw_file *file;
    uint64_t off, die, end; /* header, unit DIE, end */
    bool in_types;          /* lies in .debug_types */
    bool usable;            /* header and unit DIE could be read */
    bool has_low, has_ranges;
    uint8_t version, off_size, addr_size, type; /* type: DW_UT_... */
    uint16_t tag;
    uint64_t abbrev_off;
    uint64_t id; /* split unit or type signature */
    uint64_t type_die;
    uint64_t str_base, addr_base, rnglists_base, ranges_base;
    uint64_t low_pc;
    uint64_t line_off; /* UINT64_MAX: no line table */
    const char *comp_dir, *dwo_name;
    /* The unit whose addresses, v4 ranges and line table this unit uses: itself, or the skeleton of
     * a split unit. */
    const struct pgk_dw_unit *skeleton;
    const struct pgk_dw_package_row *row;

    /* Made on first use, under the file's lock, published by a release store. */
    _Atomic(const struct pgk_dw_abbrevs *) abbrevs;
    _Atomic(const struct pgk_dw_lines *) line_table;

    _Atomic(bool) warned; /* that its DIEs are damaged */

    /* Functions with code, in the order of their DIEs; under `indexing`. */
    pthread_mutex_t indexing;
    bool indexed;
    PGK_VEC(struct pgk_dw_func_range) funcs;
    const struct pgk_dw_unit *split; /* the unit in the .dwo, NULL if not found */
    bool split_tried;
    struct pgk_dw_file *split_file; /* owned; NULL when in a shared .dwp */
};

/* Lists the units of `elf` (a split file if `dwo`). Takes over `owned`, also on
 * failure. The file may turn out to have no units. */
int pgk_dw_file_open(struct pgk_dw_file **file, const struct pgk_elf *elf, struct pgk_elf *owned,
                     bool dwo, struct pgk_err *err);
void pgk_dw_file_close(struct pgk_dw_file **file);
/* The unit of .debug_info that holds offset `off`; NULL if there is none. */
const struct pgk_dw_unit *pgk_dw_unit_at(const struct pgk_dw_file *file, uint64_t off);
const struct pgk_dw_unit *pgk_dw_unit_by_signature(struct pgk_dw_file *file, uint64_t sig);
/* The section that the unit's DIEs lie in. */
static inline struct pgk_dw_bytes pgk_dw_unit_bytes(const struct pgk_dw_unit *u)
{
    return u->file->sec[u->in_types ? PGK_DW_TYPES : PGK_DW_INFO];
}
/* Reads the unit DIE; sets the members that come from it. */
void pgk_dw_unit_read_die(struct pgk_dw_unit *u);

/* ---- .dwp ---- */

void pgk_dw_package_read(struct pgk_dw_file *file);
const struct pgk_dw_package_row *pgk_dw_package_find(const struct pgk_dw_file *file,
                                                     bool types_section, uint64_t unit_off);

/* ---- values ---- */

/* A reading position inside a section; `bad` once a read went past `end`. */
struct pgk_dw_pos {
    const uint8_t *p, *end;
    bool bad;
};

uint64_t pgk_dw_uleb_long(struct pgk_dw_pos *at);
int64_t pgk_dw_sleb(struct pgk_dw_pos *at);
const char *pgk_dw_cstr(struct pgk_dw_pos *at);

/* At most 8 bytes, little-endian. */
static inline uint64_t pgk_dw_uint(struct pgk_dw_pos *at, unsigned size)
{
    uint64_t v = 0;
    if (PGK_UNLIKELY(at->bad || (size_t)(at->end - at->p) < size)) {
        at->bad = true;
        return 0;
    }
    memcpy(&v, at->p, size);
    at->p += size;
    return v;
}

static inline const uint8_t *pgk_dw_take(struct pgk_dw_pos *at, uint64_t size)
{
    if (PGK_UNLIKELY(at->bad || (uint64_t)(at->end - at->p) < size)) {
        at->bad = true;
        return NULL;
    }
    const uint8_t *p = at->p;
    at->p += size;
    return p;
}

/* Bits beyond 64 are dropped, as other readers of DWARF do. */
static inline uint64_t pgk_dw_uleb(struct pgk_dw_pos *at)
{
    if (PGK_LIKELY(!at->bad && at->p < at->end && !(*at->p & 0x80)))
        return *at->p++;
    return pgk_dw_uleb_long(at);
}

struct pgk_dw_value {
    uint16_t form; /* after DW_FORM_indirect; 0: none */
    uint64_t u;    /* number, offset, index; length of a block */
    const uint8_t *p; /* block or string */
};

/* Size of a form where it is always the same, else -1. */
int pgk_dw_form_size(const struct pgk_dw_unit *u, uint16_t form);
bool pgk_dw_form_read(const struct pgk_dw_unit *u, uint16_t form, int64_t implicit,
                      struct pgk_dw_pos *at, struct pgk_dw_value *v);
void pgk_dw_form_skip(const struct pgk_dw_unit *u, uint16_t form, struct pgk_dw_pos *at);

/* Interpret a value; false or NULL if it has another class or is damaged. */
const char *pgk_dw_string(const struct pgk_dw_unit *u, const struct pgk_dw_value *v);
bool pgk_dw_address(const struct pgk_dw_unit *u, const struct pgk_dw_value *v, uint64_t *addr);
bool pgk_dw_constant(const struct pgk_dw_value *v, uint64_t *n);
bool pgk_dw_section_offset(const struct pgk_dw_value *v, uint64_t *off);
bool pgk_dw_indexed_address(const struct pgk_dw_unit *u, uint64_t index, uint64_t *addr);

struct pgk_dw_die {
    const struct pgk_dw_unit *unit;
    uint64_t off;
};
bool pgk_dw_reference(const struct pgk_dw_unit *u, const struct pgk_dw_value *v,
                      struct pgk_dw_die *die);

/* Walks the attributes of one DIE:
 *     struct pgk_dw_iter it;
 *     pgk_dw_iter_start(&it, unit, off);
 *     while (pgk_dw_iter_next(&it))
 *         switch (it.at) { ... it.value ... } */
struct pgk_dw_iter {
    const struct pgk_dw_unit *unit;
    const struct pgk_dw_abbrev *abbrev; /* NULL: null entry or damaged */
    const struct pgk_dw_spec *spec, *spec_end;
    struct pgk_dw_pos pos;
    uint16_t at;
    struct pgk_dw_value value;
};
bool pgk_dw_iter_start(struct pgk_dw_iter *it, const struct pgk_dw_unit *u, uint64_t off);
bool pgk_dw_iter_start_in(struct pgk_dw_iter *it, const struct pgk_dw_unit *u, uint64_t off,
                          const struct pgk_dw_abbrevs *table);
bool pgk_dw_iter_next(struct pgk_dw_iter *it);

/* ---- address ranges ---- */

struct pgk_dw_range {
    uint64_t low, high; /* low < high */
};
typedef PGK_VEC(struct pgk_dw_range) pgk_dw_range_vec;

/* The values a DIE's range comes from. */
struct pgk_dw_pc {
    struct pgk_dw_value low, high, ranges;
};
/* Appends the ranges; false when out of memory. Ranges of discarded code are left out. */
bool pgk_dw_ranges(const struct pgk_dw_unit *u, const struct pgk_dw_pc *pc, pgk_dw_range_vec *out);

/* address -> position of the unit; sorted, without overlaps. */
struct pgk_dw_arange {
    uint64_t low, high;
    uint32_t unit;
};
typedef PGK_VEC(struct pgk_dw_arange) pgk_dw_arange_vec;
bool pgk_dw_aranges(const struct pgk_dw_file *file, pgk_dw_arange_vec *out);

/* ---- line tables ---- */

/* The first of the sorted addresses that is not below `addr`. */
size_t pgk_dw_lower_bound(const uint64_t *addrs, size_t count, uint64_t addr);

struct pgk_dw_row {
    uint32_t file, line, column, discriminator;
    bool found;
};

/* The line table of the unit, its header decoded on first use; NULL if none. Thread-safe. */
const struct pgk_dw_lines *pgk_dw_unit_lines(const struct pgk_dw_unit *u);
/* Rows of sorted addresses. False when out of memory. */
bool pgk_dw_lines_find(const struct pgk_dw_lines *t, const uint64_t *addrs, size_t count,
                       struct pgk_dw_row *rows);
/* Adds the addresses at which another row begins, by sequence. False when out of memory. */
typedef PGK_VEC(uint64_t) pgk_dw_addr_vec;
bool pgk_dw_lines_rows(const struct pgk_dw_lines *t, pgk_dw_addr_vec *out);
/* Name of a file by its number, as folder/name; NULL if there is none. Thread-safe. */
const char *pgk_dw_lines_file(const struct pgk_dw_lines *t, uint64_t number);
struct pgk_dw_lines *pgk_dw_lines_read(const struct pgk_dw_unit *u);
void pgk_dw_lines_free(struct pgk_dw_lines *t);

/* ---- functions ---- */

struct pgk_dw_func {
    const char *name, *decl_file;
    uint32_t decl_line;
    bool is_declaration; /* what is at the DIE only declares it, or copies a declaration,
                            as gcc does for constructors of other units */
};
/* Name and declaration of a function or variable, found at a DIE or at those it refers to. */
void pgk_dw_func_read(struct pgk_dw_die die, struct pgk_dw_func *f);

/* ---- inline chains ---- */

/* Lists the unit's functions with code, once; false when out of memory. Thread-safe. */
bool pgk_dw_unit_index(struct pgk_dw_unit *u);

/* Calls `fn` for each subprogram DIE with or without code, in order, until it does not
 * return 0; returns what it returned. A damaged unit ends early. */
typedef int pgk_dw_function_fn(void *ctx, const struct pgk_dw_unit *u,
                               const struct pgk_dw_abbrev *a, uint64_t die);
int pgk_dw_unit_functions(const struct pgk_dw_unit *u, pgk_dw_function_fn *fn, void *ctx);

/* The same of each call site. */
int pgk_dw_unit_calls(const struct pgk_dw_unit *u, pgk_dw_function_fn *fn, void *ctx);

/* Calls `fn` for each variable that is at a fixed address, in order, until it does not return 0;
 * returns what it returned. A damaged unit ends early. */
typedef int pgk_dw_variable_fn(void *ctx, uint64_t addr, struct pgk_dw_die die);
int pgk_dw_unit_variables(const struct pgk_dw_unit *u, pgk_dw_variable_fn *fn, void *ctx);

/* One DIE of a chain. */
struct pgk_dw_node {
    uint64_t die;
    uint32_t parent;   /* node that it is inlined into; PGK_INDEX_NONE: a function */
    bool decoded;
    uint32_t call_file, call_line, call_column, call_discriminator;
    struct pgk_dw_func func;
};

struct pgk_dw_chains {
    PGK_VEC(struct pgk_dw_node) nodes;
    uint32_t *innermost; /* by address: a node, or PGK_INDEX_NONE */
};
/* Finds the innermost function DIE of each of the sorted addresses. `c->innermost` has space for
 * `count`. False when out of memory. */
bool pgk_dw_unit_chains(struct pgk_dw_unit *u, const uint64_t *addrs, size_t count,
                        struct pgk_dw_chains *c);

/* ---- finding debug files ---- */

bool pgk_dw_is_regular(const char *path);

struct pgk_dw_search {
    const struct pgk_debug_places *places; /* NULL: only /usr/lib/debug */
    char tried[200];                       /* for the message */
};

/* The file with the DWARF of a program: itself or its debug file; NULL if there is none. */
const struct pgk_elf *pgk_dw_file_of(const struct pgk_elf *elf);
/* dwz's common file named in .gnu_debugaltlink; *alt NULL if none is named or found. */
int pgk_dw_find_alt(struct pgk_dw_search *s, const struct pgk_elf *elf, struct pgk_elf **alt,
                    struct pgk_err *err);
/* The .dwo of a skeleton unit. */
int pgk_dw_find_dwo(const struct pgk_dw_unit *skeleton, const char *binary, struct pgk_elf **dwo,
                    struct pgk_err *err);

#endif
