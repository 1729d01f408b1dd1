/* Executable segments of the process. The list only grows: a library that was closed stays, so that
 * its addresses can still be named. */
#ifndef PGG_MODULES_H
#define PGG_MODULES_H

#include "guest.h"

#pragma GCC visibility push(hidden)

/* As raw heap profiles have it since modules are known by their build ids. */
struct pgg_segment {
    u64 start, end, bias, id_size;
    uint8_t id[32]; /* GNU build id */
};
/* Whether the module of an address can be looked up: not before the C library has set itself up. */
extern bool pgg_modules_ready;
void pgg_modules_refresh(void); /* all modules; takes the dynamic linker's lock */
/* The modules of these code addresses, without a lock of others. True if one of them lies where
 * another one was, so that what is known of its code is wrong. */
bool pgg_modules_learn(const u64 *pcs, u32 n);
void pgg_modules_after_fork(void);
/* The segment of code at an address, looked up without a lock and kept nowhere. */
struct pgg_module {
    struct pgg_segment segment;
    u64 file_off;             /* of the segment in its file */
    const char *name;         /* as the dynamic linker has it: "" is the program */
    const void *mapped, *end; /* all that is mapped of it */
    struct pgg_module_mark {
        const void *start, *tables; /* as the dynamic linker has them */
    } mark; /* differs between most modules that lie in the same place, one after the other */
};
/* False: there is none, or what is there can be written. Reads the module's headers, so that it
 * must not be closed meanwhile. */
bool pgg_module_at(u64 pc, struct pgg_module *m);
/* Whether the module of this mark is at the address. Reads nothing of it: the dynamic linker
 * unmaps a module before it forgets it, and a signal may come in between. */
bool pgg_module_is_still(u64 pc, const struct pgg_module_mark *mark);
u32 pgg_modules(const struct pgg_segment **segments); /* how many; they stay where they are */
/* The path of the file of one of these, absolute; "": it is not known. */
const char *pgg_module_path(u32 segment);

#pragma GCC visibility pop
#endif
