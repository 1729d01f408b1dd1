/* The functions of a binary as llvm-bolt names and bounds them. docs/formats/bolt.md section 2 */
#ifndef PGK_BOLT_FUNCTIONS_H
#define PGK_BOLT_FUNCTIONS_H

#include "arena.h"
#include "elf_file.h"
#include "vec.h"

#define PGK_BOLT_NO_FUNCTION UINT32_MAX

struct pgk_bolt_function {
    uint64_t low;
    uint64_t high;   /* as its symbol has it */
    uint64_t limit;  /* start of what follows in its section: padding belongs to the function */
    const char *name;
    uint32_t rank; /* in the order of names */
};

struct pgk_bolt_functions {
    struct pgk_arena arena;
    PGK_VEC(struct pgk_bolt_function) list; /* ascending by address */
    PGK_VEC(uint32_t) by_name;           /* positions in `v` */
    PGK_VEC(uint64_t) entries; /* symbols of code inside of functions, ascending */
};

/* PGK_E_NODEBUG without symbols of functions. */
int pgk_bolt_functions_open(struct pgk_bolt_functions *f, const struct pgk_elf *elf,
                            struct pgk_err *err);
void pgk_bolt_functions_close(struct pgk_bolt_functions *f);
/* Position of the function that holds `addr`, the padding after it included. */
uint32_t pgk_bolt_functions_at(const struct pgk_bolt_functions *f, uint64_t addr);

#endif
