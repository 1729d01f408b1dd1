/* Code that windows may run in: that of programs and libraries. Files keep their number for good,
 * so that what was counted in one that was closed can still be named. */
#ifndef PGBR_MODULES_H
#define PGBR_MODULES_H

#include "guest_modules.h"
#include "pgbr.h"

#pragma GCC visibility push(hidden)

enum pgbr_code {
    PGBR_CODE_UNKNOWN,
    PGBR_CODE_KNOWN,
    PGBR_CODE_RESTARTABLE, /* of a library that has sequences that the kernel restarts */
};
struct pgbr_module {
    u64 start, end, bias; /* end is 0 when it was closed */
    const void *mapped, *mapped_end;
    struct pgg_module_mark mark;
    enum pgbr_code code;
    u64 file_off;    /* of its code in its file */
    bool written;    /* to perf.data */
    bool may_change; /* the program made its code writable */
    u32 file;        /* number of its file, once it is named */
    u32 checked;     /* in which window it was looked up again */
};
/* The recorder may be linked into the program, so that its code is not known by its module: the
 * ends of its section, which the linker defines. */
extern const char __start_pgbr_code[], __stop_pgbr_code[];
PGG_INLINE bool pgbr_is_own(u64 pc)
{
    return pc - (u64)__start_pgbr_code < (u64)(__stop_pgbr_code - __start_pgbr_code);
}

extern struct pgbr_module pgbr_modules[PGK_BRANCH_MODULES_MAX];
extern u32 pgbr_modules_n, pgbr_modules_last; /* the last one that was asked for */

PGG_INLINE struct pgbr_module *pgbr_module_of(u64 pc)
{
    struct pgbr_module *m = &pgbr_modules[pgbr_modules_last];
    if (pc >= m->start && pc < m->end)
        return m;
    const u32 n = __atomic_load_n(&pgbr_modules_n, __ATOMIC_ACQUIRE);
    for (u32 i = 0; i < n; i++) {
        m = &pgbr_modules[i];
        if (pc >= m->start && pc < m->end) {
            pgbr_modules_last = i;
            return m;
        }
    }
    return NULL;
}

/* The module that data belong to, whose code ran before. */
PGG_INLINE struct pgbr_module *pgbr_module_of_data(u64 addr)
{
    const u32 n = __atomic_load_n(&pgbr_modules_n, __ATOMIC_ACQUIRE);
    for (u32 i = 0; i < n; i++) {
        struct pgbr_module *m = &pgbr_modules[i];
        if (addr >= (u64)m->mapped && addr < (u64)m->mapped_end && m->end)
            return m;
    }
    return NULL;
}

/* Not between two branches of the program, and for one thread at a time: */
void pgbr_modules_learn(u64 pc); /* the module there, if it was not known */
/* Changes when what lies at an address, or whether it stays as it is, may have changed. */
u32 pgbr_modules_changes(void);
void pgbr_modules_closing(void); /* the program has closed a library */
void pgbr_modules_forked(void);
void pgbr_modules_check(void); /* loaded modules are looked up again, by the next names */
/* The address as the file of counts has it; 0: in no module. *gone is set if it is in one that was
 * closed in the meantime. */
u64 pgbr_module_name(u64 pc, bool *gone);
u64 pgbr_module_data_name(u64 addr, bool *gone);

#pragma GCC visibility pop
#endif
