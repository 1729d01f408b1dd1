/* The size of an instruction's memory operand, and whether it is read or written. */
#ifndef PGBR_OPERAND_H
#define PGBR_OPERAND_H

#include "recorder_decode.h"

#pragma GCC visibility push(hidden)

enum { PGBR_MAP_ONE, PGBR_MAP_0F, PGBR_MAP_0F38, PGBR_MAP_0F3A }; /* of opcodes */
enum pgbr_form_kind { PGBR_FORM_PLAIN, PGBR_FORM_VEX, PGBR_FORM_EVEX };

/* What the prefixes and the opcode say. */
struct pgbr_form {
    enum pgbr_form_kind kind;
    uint8_t map, opcode;
    uint8_t prefix; /* that is part of the opcode; 0: none, 1: 66, 2: f3, 3: f2 */
    uint8_t longer; /* of vectors: 0: 16 bytes, 1: 32, 2: 64 */
    uint8_t reg;    /* field of ModRM */
    bool wide, word, broadcast;
};

void pgbr_operand(struct pgbr_insn *insn, const struct pgbr_form *form);
uint8_t pgbr_string_of(uint8_t opcode); /* enum pgbr_string */

#pragma GCC visibility pop
#endif
