/* Reads of tables of functions by x86-64: the entry that a register and a displacement lead to. */
#include "x86_priv.h"

#include <string.h>

enum { STACK = 4, FRAME = 5 }; /* rsp, rbp */
enum { REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1 };

/* The operand in memory after `m`, the ModRM byte: a register and a displacement, nothing else. */
static bool x86_slot(const uint8_t *m, size_t n, uint8_t rex, int32_t *slot)
{
    unsigned mod = m[0] >> 6, base = m[0] & 7, size = mod == 2 ? 4 : mod;
    size_t i = 1;
    int8_t near = 0;
    if (base == STACK) { /* a second byte has the base */
        if (n < 2 || (m[1] >> 3 & 7) != STACK || rex & REX_X)
            return false;
        base = m[1] & 7;
        i = 2;
    }
    if ((mod == 0 && base == FRAME) || i + size > n)
        return false;
    base |= (rex & REX_B) << 3;
    *slot = 0;
    if (size == 1) {
        memcpy(&near, m + i, 1);
        *slot = near;
    } else if (size == 4) {
        memcpy(slot, m + i, 4);
    }
    return base != STACK && base != FRAME;
}

bool pgk_x86_table(const uint8_t *bytes, size_t n, struct pgk_insn_table *t)
{
    enum { NOTRACK = 0x3e, LOAD = 0x8b, BRANCH = 0xff, CALL = 2, JUMP = 4 };
    size_t i = n && bytes[0] == NOTRACK;
    uint8_t rex = i < n && (bytes[i] & 0xf0) == 0x40 ? bytes[i++] : 0;
    if (i + 2 > n)
        return false;
    uint8_t op = bytes[i], m = bytes[i + 1], reg = m >> 3 & 7;
    bool branch = op == BRANCH && (reg == CALL || reg == JUMP);
    if (!branch && !(op == LOAD && rex & REX_W))
        return false;
    *t = (struct pgk_insn_table){.reg = -1, .slot = -1, .branch = branch};
    if (m >> 6 == 3) {
        t->reg = (m & 7) | (rex & REX_B) << 3;
        return branch;
    }
    if (!branch)
        t->reg = reg | (rex & REX_R) << 1;
    return x86_slot(bytes + i + 1, n - i - 1, rex, &t->slot);
}

uint64_t pgk_x86_stub_slot(const struct pgk_insn *insn, const uint8_t *bytes, size_t n)
{
    (void)bytes, (void)n;
    return insn->kind == PGK_INSN_JUMP && insn->indirect ? insn->data : 0;
}
