/* A cache of decoded instructions, keyed by the bytes that their length and class depend on.
 *
 *     prefix  REX  0f  opcode  ModRM  SIB
 *       66    48   0f    af      04    25       66 imul 0x1234, %rax
 *
 * A program has few such beginnings, and Zydis takes some 400 steps for an instruction. Kept is
 * what has at most one prefix before REX, and none of the maps in which later bytes decide. An
 * entry is one word, so any number of threads may use a memo. */
#include "x86_priv.h"

#include "mem.h"

#include <stdatomic.h>
#include <string.h>

enum { BITS = 14, LONGEST = 15, LOOKED_AT = 6 };

struct entry {
    uint32_t key; /* 0: no entry */
    uint8_t length;
    uint8_t kind : 4, valid : 1, indirect : 1;
    uint8_t distance; /* bytes of a branch's distance, which ends it; 0: has none */
    uint8_t data; /* where an operand's distance from the next instruction stands; 0: has none */
};
_Static_assert(sizeof(struct entry) == sizeof(uint64_t), "an entry is one word");

struct pgk_x86_memo {
    _Atomic uint64_t entries[1 << BITS];
};

/* A key: of the bytes before the opcode what is in the table below. */
enum {
    REX = 0x10,
    ELSE = 0xff, /* left to Zydis: VEX and EVEX, XOP (8f), and prefixes that are rare */
    SECOND = 1 << 16, /* the opcode follows 0f */
    WIDE = 1 << 17, /* index without base, with a distance of four bytes */
    PREFIX_SHIFT = 18,
    REX_SHIFT = 21,
    KEPT = 1 << 26,
};

static const uint8_t before_opcode[256] = {
    [0x66] = 1,    [0xf2] = 2,    [0xf3] = 3,    [0x2e] = 4,    [0x3e] = 5,
    [0x64] = 6,    [0x65] = 7,    [0x26] = ELSE, [0x36] = ELSE, [0x67] = ELSE,
    [0xf0] = ELSE, [0x62] = ELSE, [0xc4] = ELSE, [0xc5] = ELSE, [0x8f] = ELSE,
    [0x40] = 0x10, [0x41] = 0x11, [0x42] = 0x12, [0x43] = 0x13, [0x44] = 0x14,
    [0x45] = 0x15, [0x46] = 0x16, [0x47] = 0x17, [0x48] = 0x18, [0x49] = 0x19,
    [0x4a] = 0x1a, [0x4b] = 0x1b, [0x4c] = 0x1c, [0x4d] = 0x1d, [0x4e] = 0x1e,
    [0x4f] = 0x1f,
};

/* Frequent opcodes without a ModRM byte: the bytes after them are not part of the key. */
static bool is_alone(uint8_t opcode, bool second)
{
    uint8_t row = opcode & 0xf0;
    if (second)
        return row == 0x80;
    return row == 0x50 || row == 0x70 || row == 0x90 || row == 0xb0 || opcode == 0xc3 ||
           opcode == 0xcc || (opcode >= 0xe8 && opcode <= 0xeb) || opcode == 0xa8 ||
           opcode == 0xa9 || opcode == 0x68 || opcode == 0x6a ||
           (opcode < 0x40 && (opcode & 6) == 4);
}

/* After 0f: other maps, instructions with the opcode at the end, and those that constrain
 * addresses. */
static bool is_left_out(uint8_t opcode)
{
    return opcode == 0x38 || opcode == 0x3a || opcode == 0x0f || opcode == 0x1a || opcode == 0x1b;
}

/* 0 for what is not kept. */
static uint32_t key_of(const uint8_t bytes[LOOKED_AT])
{
    const uint8_t *p = bytes;
    uint32_t key = KEPT;
    uint8_t what = before_opcode[*p];
    if (what && what < REX) {
        key |= (uint32_t)what << PREFIX_SHIFT;
        what = before_opcode[*++p];
    }
    if (what >= REX && what != ELSE) {
        key |= (uint32_t)what << REX_SHIFT;
        what = before_opcode[*++p];
    }
    if (what)
        return 0;
    if (*p == 0x0f) {
        key |= SECOND;
        if (is_left_out(*++p))
            return 0;
    }
    key |= (uint32_t)*p << 8;
    if (is_alone(*p, key & SECOND))
        return key;
    uint8_t operand = *++p;
    key |= operand;
    if (operand < 0x40 && (operand & 7) == 4 && (p[1] & 7) == 5)
        key |= WIDE;
    return key;
}

struct pgk_x86_memo *pgk_x86_memo_new(void)
{
    return pgk_mem_zalloc(1, sizeof(struct pgk_x86_memo));
}

static _Atomic uint64_t *place_of(struct pgk_x86_memo *memo, uint32_t key)
{
    return &memo->entries[(key * UINT32_C(0x9e3779b1)) >> (32 - BITS)];
}

static uint64_t distance_at(const uint8_t *bytes, unsigned size)
{
    int8_t byte;
    int16_t word;
    int32_t dword;
    switch (size) {
    case sizeof byte:
        memcpy(&byte, bytes, sizeof byte);
        return (uint64_t)byte;
    case sizeof word:
        memcpy(&word, bytes, sizeof word);
        return (uint64_t)word;
    default:
        memcpy(&dword, bytes, sizeof dword);
        return (uint64_t)dword;
    }
}

bool pgk_x86_memo_find(struct pgk_x86_memo *memo, const uint8_t *bytes, size_t n, uint64_t addr,
                       struct pgk_insn *insn)
{
    uint8_t last[LOOKED_AT] = {0};
    if (n < LOOKED_AT)
        memcpy(last, bytes, n);
    uint32_t key = key_of(n < LOOKED_AT ? last : bytes);
    if (!key)
        return false;
    struct entry e;
    uint64_t word = atomic_load_explicit(place_of(memo, key), memory_order_relaxed);
    memcpy(&e, &word, sizeof e);
    if (e.key != key || e.length > n)
        return false;
    uint64_t next = addr + e.length;
    *insn = (struct pgk_insn){.addr = addr,
                              .length = e.length,
                              .kind = e.kind,
                              .valid = e.valid,
                              .indirect = e.indirect};
    if (e.distance)
        insn->target = next + distance_at(bytes + e.length - e.distance, e.distance);
    if (e.data)
        insn->data = next + distance_at(bytes + e.data, sizeof(int32_t));
    return true;
}

void pgk_x86_memo_keep(struct pgk_x86_memo *memo, const uint8_t *bytes, size_t n,
                       const ZydisDecodedInstruction *in, const struct pgk_insn *insn)
{
    struct entry e = {.length = insn->length,
                      .kind = insn->kind & 15,
                      .valid = insn->valid,
                      .indirect = insn->indirect};
    if (n < LONGEST || !(e.key = key_of(bytes))) /* what is cut off is no instruction */
        return;
    if (insn->valid && in->raw.imm[0].is_relative)
        e.distance = in->raw.imm[0].size / 8;
    if (insn->valid && pgk_x86_has_data(in))
        e.data = in->raw.disp.offset;
    uint64_t word;
    memcpy(&word, &e, sizeof word);
    atomic_store_explicit(place_of(memo, e.key), word, memory_order_relaxed);
}
