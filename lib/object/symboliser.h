/* Addresses to source frames, from DWARF 4 and 5 (also 2, 3 where clang -gdwarf-2/3 write them).
 *
 * Names, inline chains and lines come from DWARF alone, never from the symbol
 * table, because a symbol's name need not be the name that the compiler hashed
 * (constructor aliases C1/C2 share an address); see memprof-raw.md section 9.
 *
 * A symboliser finds its debug information itself: in the file, in a separate debug file
 * (.gnu_debuglink, .build-id/xx/yyyy.debug under the debug folders), in split DWARF next to the
 * objects (.dwo, .dwp).
 *
 * Each compilation unit is decoded at most once, and only when an address lies
 * in it. A batch is answered in one sweep over sorted addresses. After
 * pgk_symboliser_open all calls are thread-safe. */
#ifndef PGK_SYMBOLISER_H
#define PGK_SYMBOLISER_H

#include "arena.h"
#include "intern.h"
#include "elf_file.h"

struct pgk_symboliser;

/* One source frame. Strings point into the debug information and live as long
 * as the symboliser; NULL when unknown. */
struct pgk_sym_frame {
    const char *function;   /* linkage name, else the plain name */
    const char *file;       /* of the line below, as recorded (folder/name) */
    const char *decl_file;  /* of the function's declaration */
    uint32_t decl_line;     /* of the function; 0 unknown. Found through
                               DW_AT_specification and DW_AT_abstract_origin. For a
                               frame that is inlined it is the inlined function's own */
    uint32_t line;          /* innermost: of the address; else of the call site; 0 unknown */
    uint32_t column;        /* 0 unknown */
    uint32_t discriminator; /* DWARF discriminator, 0 none */
    bool inlined;           /* into the next frame */
    bool by_symbol;         /* of code that has no debug information, in a file that has some for
                               other code, as assembly and sanitizers */
};

/* Frames of one address, innermost first; the last has inlined = false.
 * count 0: no DWARF function covers the address. */
struct pgk_sym_chain {
    const struct pgk_sym_frame *frames;
    uint32_t count;
};

/* PGK_E_NODEBUG when no debug information with functions is found; the hint
 * says which flags to compile with, and err->found lists where a debug file was
 * looked for. Keeps `elf`, which must stay open; pgk_elf_look_in says where else to look. */
int pgk_symboliser_open(struct pgk_symboliser **sym, const struct pgk_elf *elf,
                        struct pgk_err *err);
void pgk_symboliser_close(struct pgk_symboliser **sym);

/* True if all that it knows is in the program or in its one separate debug file, so that what
 * it answers depends on nothing else. */
bool pgk_symboliser_is_whole(const struct pgk_symboliser *sym);

/* Answers a batch of link-time addresses, sorted ascending, without doubles.
 * chains[i] belongs to addrs[i]; frames live in `arena`. Units are decoded on up to
 * `threads` threads (0: one per processor); the answer does not depend on it.
 * A damaged unit yields what lies before the damage, and one warning. */
int pgk_symbolise(struct pgk_symboliser *sym, const uint64_t *addrs, size_t count,
                  unsigned threads, struct pgk_arena *arena, struct pgk_sym_chain *chains,
                  struct pgk_err *err);

/* As pgk_symbolise, but without what is in the line table: no frame has a file, the innermost one
 * no line, and all addresses of one copy of a function share one chain, that is, have equal
 * `frames`. */
int pgk_symbolise_copies(struct pgk_symboliser *sym, const uint64_t *addrs, size_t count,
                         unsigned threads, struct pgk_arena *arena, struct pgk_sym_chain *chains,
                         struct pgk_err *err);
/* As pgk_symbolise, and says where in its innermost frame each address stands; places[i] belongs to
 * addrs[i]. */
struct pgk_sym_place {
    uint32_t line, discriminator;
};
int pgk_symbolise_places(struct pgk_symboliser *sym, const uint64_t *addrs, size_t count,
                         unsigned threads, struct pgk_arena *arena, struct pgk_sym_chain *chains,
                         struct pgk_sym_place *places, struct pgk_err *err);

/* Addresses at which a row of a line table begins, so that each place in the source that has code
 * has one at least; ascending, without doubles; of the `n_units` units whose ascending numbers are
 * given, or of all if `units` is NULL. The caller frees them (pgk_mem_free). */
int pgk_symboliser_rows(struct pgk_symboliser *sym, const uint64_t *units, size_t n_units,
                        uint64_t **rows, size_t *n_rows, struct pgk_err *err);

/* A range of code of a function; a function that was split has several. */
struct pgk_sym_code {
    uint64_t low, high;   /* low < high */
    const char *function; /* linkage name, else the plain name; NULL unknown */
};
/* Ranges of all functions in the units of debug information that the addresses lie in, which are
 * sorted ascending, without doubles. By unit, then in the order of the debug information; owned
 * by `arena`. */
int pgk_symboliser_code(struct pgk_symboliser *sym, const uint64_t *addrs, size_t count,
                        unsigned threads, struct pgk_arena *arena, struct pgk_sym_code **code,
                        size_t *n_code, struct pgk_err *err);

/* A call that the compiler described, as it does when it optimises. */
struct pgk_sym_call {
    uint64_t addr;           /* in the call instruction: to be symbolised */
    const char *callee;      /* linkage name, else the plain name; NULL: called by its address */
    const char *callee_file; /* of its declaration */
    bool is_elsewhere; /* the unit only declares the callee, whose file is then that of a header */
    bool is_tail;      /* in place of a return: no frame of the caller stays */
};
/* All of them, by unit, then in the order of the debug information; owned by `arena`. */
int pgk_symboliser_calls(struct pgk_symboliser *sym, unsigned threads, struct pgk_arena *arena,
                         struct pgk_sym_call **calls, size_t *n_calls, struct pgk_err *err);

/* Every function that DWARF names (defined or only inlined), each name and
 * declaration once per unit; order of the debug information. For turning GUIDs
 * back into names. `fn` returns 0 to go on. */
struct pgk_sym_function {
    const char *name; /* linkage name, else the plain name */
    const char *decl_file;
    uint32_t decl_line;
    size_t unit; /* its number, from 1, for pgk_symboliser_rows; 0 unknown */
};
typedef int pgk_sym_function_fn(void *ctx, const struct pgk_sym_function *f);
int pgk_symboliser_functions(struct pgk_symboliser *sym, pgk_sym_function_fn *fn, void *ctx,
                             struct pgk_err *err);

/* Calls `fn` for every variable at a fixed address whose declaration DWARF has, in the order of the
 * debug information. For a static member of a C++ class it is the definition. `fn` returns 0 to go
 * on. */
struct pgk_sym_variable {
    uint64_t addr; /* link-time */
    const char *decl_file;
    uint32_t decl_line;
};
typedef int pgk_sym_variable_fn(void *ctx, const struct pgk_sym_variable *v);
int pgk_symboliser_variables(struct pgk_symboliser *sym, pgk_sym_variable_fn *fn, void *ctx,
                             struct pgk_err *err);

#endif
