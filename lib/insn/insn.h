/* Machine instructions of x86-64 and AArch64: length, branch class, target, text.
 *
 * Decoding forward through a range needs no text and formats none:
 *
 *     struct pgk_insn insn;
 *     for (uint64_t at = low; at < high; at += insn.length)
 *         pgk_insn_decode(&decoder, code + (at - low), high - at, at, &insn);
 *
 * x86-64 is decoded by Zydis, AArch64 by its fixed encodings here, and only its text by
 * Capstone. The text is AT&T syntax as LLVM prints it. Any number of threads may decode with one
 * decoder; text of AArch64 is for one thread. */
#ifndef PGK_INSN_H
#define PGK_INSN_H

#include "fail.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum pgk_insn_kind {
    PGK_INSN_OTHER,
    PGK_INSN_COND, /* conditional branch; falls through, too */
    PGK_INSN_JUMP, /* unconditional; a tail call where it leaves its function */
    PGK_INSN_CALL,
    PGK_INSN_RET,
    PGK_INSN_STOP, /* does not go on: ud2, hlt, brk */
};

struct pgk_insn {
    uint64_t addr;
    uint64_t target; /* of a direct branch or call; else 0 */
    uint64_t data;   /* address of an operand relative to the program counter; else 0 */
    uint8_t length;  /* bytes; of bytes that are no instruction what to skip: never 0 */
    uint8_t kind;    /* enum pgk_insn_kind */
    bool valid;
    bool indirect; /* branch or call through a register or memory */
};

enum pgk_insn_style {
    PGK_INSN_READABLE, /* numbers from 10 on in hexadecimal */
    PGK_INSN_LLVM,     /* as llvm-profgen: a lock prefix is an instruction of its own, AArch64
                          only in its first version, with targets counted from the next one */
};

struct pgk_machine;
struct pgk_insn_machine;
struct pgk_insn_decoder {
    const struct pgk_machine *machine;
    const struct pgk_insn_machine *code; /* the functions of the machine */
    enum pgk_insn_style style;
    void *capstone; /* csh and its instruction, opened on first use */
    void *zydis;
    void *memo; /* of instructions of x86-64 */
};

enum { PGK_INSN_TEXT_SIZE = 192 };

/* PGK_E_VERSION for a machine whose instructions are not known. */
int pgk_insn_decoder_open(struct pgk_insn_decoder *d, const struct pgk_machine *machine,
                          enum pgk_insn_style style, struct pgk_err *err);
void pgk_insn_decoder_close(struct pgk_insn_decoder *d);

/* Decodes the instruction at `addr`, whose bytes are the first of `n` > 0. */
void pgk_insn_decode(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                     uint64_t addr, struct pgk_insn *insn);
/* Decodes as pgk_insn_decode, and puts "mnemonic<TAB>operands" into `text`; "<unknown>" if the
 * bytes are not an instruction. Returns the length of the text. */
size_t pgk_insn_text(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                     uint64_t addr, struct pgk_insn *insn, char text[PGK_INSN_TEXT_SIZE]);

/* A branch through a register or a table, or a load that may be of an entry of a table: virtual
 * functions are called by the latter and the former, or in one. */
struct pgk_insn_table {
    int reg;      /* that is loaded or, without `slot`, branched to; -1: a branch to the entry */
    int32_t slot; /* displacement of the entry from what a register points to; -1: none is read */
    bool branch;
};
/* False for any other instruction, and for one that reads the stack. */
bool pgk_insn_table(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                    struct pgk_insn_table *table);
/* The address of the pointer that a stub of a procedure linkage table takes its target from, if
 * `insn`, whose bytes are the first of `n`, is where it does so; else 0. */
uint64_t pgk_insn_stub_slot(const struct pgk_insn_decoder *d, const struct pgk_insn *insn,
                            const uint8_t *bytes, size_t n);

/* The first 4 bytes of code; 0 if there are fewer. */
static inline uint32_t pgk_insn_word(const uint8_t *bytes, size_t n)
{
    uint32_t word = 0;
    if (n >= sizeof word)
        memcpy(&word, bytes, sizeof word);
    return word;
}

/* True if control may go on to the next instruction. */
static inline bool pgk_insn_falls_through(const struct pgk_insn *i)
{
    return i->kind == PGK_INSN_OTHER || i->kind == PGK_INSN_COND || i->kind == PGK_INSN_CALL;
}

#endif
