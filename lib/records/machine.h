/* The machines whose programs are read: rows of machines.def. */
#ifndef PGK_MACHINE_H
#define PGK_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The fields are explained in machines.def. */
struct pgk_machine {
    uint16_t number;
    const char *name;
    uint32_t jump_slot, data_slot;
    uint32_t landing_pad;
    bool link_register;
    bool table_operand;
    bool framed_library;
};

/* NULL for a machine without a row. */
const struct pgk_machine *pgk_machine_find(uint16_t number);
/* The machine that this runs on; NULL if it has no row. */
const struct pgk_machine *pgk_machine_of_host(void);
/* "x86-64 (62) or AArch64 (183)", for errors; returns `text`. */
const char *pgk_machine_names(char *text, size_t size);

#endif
