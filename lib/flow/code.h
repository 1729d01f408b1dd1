/* The instructions of a binary by address, decoded where somebody asks.
 *
 * Code is what lies in executable sections, but .plt, from the first symbol of a section on;
 * it is decoded from symbol to symbol, as llvm-profgen does, so that an address is an
 * instruction here exactly if it is one there. One byte is kept per byte of code. Asking decodes,
 * so it is for one thread. */
#ifndef PGK_CODE_H
#define PGK_CODE_H

#include "elf_file.h"
#include "insn.h"
#include "vec.h"

typedef PGK_VEC(uint64_t) pgk_addr_vec;

/* Bits of the byte that stands for an address. */
enum {
    PGK_CODE_LENGTH = 0x0f, /* 0: no instruction starts here */
    PGK_CODE_KIND_SHIFT = 4,
    PGK_CODE_KIND = 7 << PGK_CODE_KIND_SHIFT,
    PGK_CODE_INDIRECT = 0x80,
};

struct pgk_code_region { /* from a symbol to the next one */
    uint64_t low, high;
    const uint8_t *bytes;
    bool decoded; /* a stripped program has regions of many pages */
};

struct pgk_code {
    const struct pgk_elf *elf;
    struct pgk_insn_decoder decoder;
    uint64_t base, span;   /* of all code; span: below 2^32 */
    uint8_t *marks;        /* by address - base */
    uint8_t *pages;        /* decoded, by page */
    uint8_t *frames;       /* of AArch64, by word; of frame_states.c, on first use */
    PGK_VEC(struct pgk_code_region) regions; /* ascending */
};

/* Keeps `elf`, which must stay open. PGK_E_NODEBUG without symbols of code. */
int pgk_code_open(struct pgk_code *code, const struct pgk_elf *elf, struct pgk_err *err);
void pgk_code_close(struct pgk_code *code);

enum { PGK_CODE_PAGE_BITS = 12 };
void pgk_code_decode_page(struct pgk_code *code, uint64_t off);

/* The byte for an address; 0 outside of the code. */
static inline uint8_t pgk_code_mark(struct pgk_code *code, uint64_t addr)
{
    uint64_t off = addr - code->base;
    if (off >= code->span)
        return 0;
    if (PGK_UNLIKELY(!code->pages[off >> PGK_CODE_PAGE_BITS]))
        pgk_code_decode_page(code, off);
    return code->marks[off];
}

static inline bool pgk_code_is(struct pgk_code *code, uint64_t addr)
{
    return pgk_code_mark(code, addr) & PGK_CODE_LENGTH;
}

/* From the base of the code; UINT32_MAX outside of it. */
static inline uint32_t pgk_code_offset(const struct pgk_code *code, uint64_t addr)
{
    uint64_t off = addr - code->base;
    return off < code->span ? (uint32_t)off : UINT32_MAX;
}

static inline enum pgk_insn_kind pgk_code_kind(uint8_t mark)
{
    return (mark & PGK_CODE_KIND) >> PGK_CODE_KIND_SHIFT;
}

/* The bytes at `addr`, up to the next symbol: n bytes, at least one; NULL outside of the code. */
const uint8_t *pgk_code_bytes(const struct pgk_code *code, uint64_t addr, size_t *n);
/* The instruction that starts at `addr`; false if there is none. */
bool pgk_code_insn(const struct pgk_code *code, uint64_t addr, struct pgk_insn *insn);

/* The displacement at which an indirect branch reads its target from the table that a register
 * points to, itself or in an instruction shortly before; -1 if it does not. */
int32_t pgk_code_slot(struct pgk_code *code, uint64_t branch);

/* First instruction at `addr` or after it, up to `last`; UINT64_MAX if there is none. */
uint64_t pgk_code_first(struct pgk_code *code, uint64_t addr, uint64_t last);
/* Adds the addresses of all instructions from `first` to `last`. False when out of memory. */
bool pgk_code_list(struct pgk_code *code, uint64_t first, uint64_t last, pgk_addr_vec *addrs);
/* Whether `addr` lies in code, but no instruction starts there. */
bool pgk_code_is_between(struct pgk_code *code, uint64_t addr);
/* The nearest instruction before `addr`; UINT64_MAX if there is none within its region. */
uint64_t pgk_code_before(struct pgk_code *code, uint64_t addr);

/* Whether control can have run from `start` to `end` without leaving: start <= end, and no call,
 * return or direct jump in [start, end). Both must be instructions. */
bool pgk_code_is_straight(struct pgk_code *code, uint64_t start, uint64_t end);

/* Whether a function's frame is not there yet or no more: its first two instructions, and a return
 * and the instruction before; of AArch64, also where the code has none. */
bool pgk_code_is_frame_edge(struct pgk_code *code, uint64_t addr);

#endif
