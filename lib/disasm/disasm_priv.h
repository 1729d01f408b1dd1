/* Shared by the listing and its three styles. */
#ifndef PGK_DISASM_PRIV_H
#define PGK_DISASM_PRIV_H

#include "disasm_counts.h"
#include "shown_names.h"
#include "source_lines.h"
#include "elf_file.h"
#include "insn.h"
#include "json_out.h"
#include "pgokit/disasm.h"
#include "probes.h"
#include "symboliser.h"
#include "vec.h"

struct pgk_disasm_symbol {
    const char *name;
    uint64_t addr;
    uint32_t section;
    bool code; /* function or label, not a section, a file or a mark such as $x */
    bool plt;  /* stub for a function of another library, whose name this is */
};

/* One instruction with all that belongs to it. */
struct pgk_disasm_row {
    struct pgk_insn insn;
    const char *text;
    size_t text_len;
    size_t first_probe, n_probes;       /* positions in the order by address */
    const struct pgk_sym_chain *frames; /* NULL: not looked up */
    const struct pgk_sym_chain *source; /* the same, to be shown; NULL: not asked for */
    struct pgk_disasm_count count;      /* of a profile by lines */
};

/* A stretch of code with a name. */
struct pgk_disasm_function {
    const struct pgk_disasm_symbol *symbol;
    uint64_t low, high;
    uint32_t section;
    const struct pgk_disasm_symbol *aliases; /* earlier names of the same address */
    size_t n_aliases;
};

struct pgk_disasm {
    const char *path;
    struct pgk_debug_places places;
    const struct pgk_disasm_opts *opts;
    const struct pgk_disasm_style *style;
    struct pgk_elf *elf;
    struct pgk_probes *probes;       /* NULL: none, or not asked for */
    struct pgk_probe_index *index;
    struct pgk_symboliser *sym;
    struct pgk_insn_decoder decoder;
    struct pgk_disasm_counts *counts; /* NULL: no profile */
    PGK_VEC(struct pgk_disasm_symbol) symbols; /* by section, address, name */
    PGK_VEC(struct pgk_disasm_function) functions; /* to be listed, in the same order */
    bool flow_sensitive; /* the program's discriminators */
    struct pgk_disasm_done done;
    struct pgk_json json;                    /* JSON */
    const struct pgk_sym_chain *last_source; /* TEXT: the line printed last */
    const struct pgk_disasm_function *function; /* TEXT: being printed */
    struct pgk_source_lines sources;         /* TEXT */
    bool failed;                             /* TEXT: out of memory for them */
    struct pgk_shown_names names;           /* TEXT */
    const char **desc_names;                 /* TEXT: of them, by descriptor; NULL: not yet */
    const char **symbol_names;               /* TEXT: the same by symbol */
    struct pgk_text_out out;
};

/* The parts that a style prints, in this order; NULL: nothing. */
struct pgk_disasm_style {
    enum pgk_insn_style insns;
    bool every_symbol; /* also those that are no code, and aliases on their own */
    int (*begin)(struct pgk_disasm *d, struct pgk_err *err);
    void (*section)(struct pgk_disasm *d, const struct pgk_elf_section_info *s);
    void (*function)(struct pgk_disasm *d, const struct pgk_disasm_function *f);
    void (*insn)(struct pgk_disasm *d, const struct pgk_disasm_row *row);
    void (*function_end)(struct pgk_disasm *d);
    void (*end)(struct pgk_disasm *d);
};
extern const struct pgk_disasm_style pgk_disasm_text, pgk_disasm_llvm, pgk_disasm_json;

/* The function symbol that holds `addr` (the last one at or before it in its section); NULL
 * if there is none. */
const struct pgk_disasm_symbol *pgk_disasm_find(const struct pgk_disasm *d, uint64_t addr);

/* Whether a demangled name is that of a function as its programmer says it: "f[abi:cxx11]" is
 * "f", too. */
bool pgk_disasm_is_named(const char *plain, const char *name);
/* Adds a symbol for each stub of the linkage table, whose sections are not listed. */
int pgk_disasm_name_plt(struct pgk_disasm *d, struct pgk_err *err);
bool pgk_disasm_is_plt(const struct pgk_elf_section_info *s);
/* PGK_E_EMPTY if a function that was asked for is not among those to be listed. */
int pgk_disasm_check_names(struct pgk_disasm *d, struct pgk_err *err);

/* From the profile, which there must be. */
struct pgk_disasm_heat pgk_disasm_function_heat(const struct pgk_disasm *d,
                                                const struct pgk_disasm_function *f);

#endif
