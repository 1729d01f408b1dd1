/* The system instructions of AArch64 as LLVM lists them where no extension is asked for. Each
 * release of Capstone names other registers and operations of extensions, so it is not asked. */
#include "insn_priv.h"

#include "mem.h"
#include "search.h"

#include <stdio.h>
#include <string.h>

enum { OPERAND = 31 }; /* bits of the general register; all of them: xzr, or none */

struct place {
    unsigned op0, op1, n, m, op2;
};

/* op1, CRn, CRm and op2, and op0 in front of them, as they lie in the instruction. */
#define FIELDS(op0, op1, n, m, op2) ((op0) << 14 | (op1) << 11 | (n) << 7 | (m) << 3 | (op2))

static unsigned fields(uint32_t word)
{
    return word >> 5 & 0xffff;
}

static struct place place_of(uint32_t word)
{
    return (struct place){word >> 19 & 3, word >> 16 & 7, word >> 12 & 15, word >> 8 & 15,
                          word >> 5 & 7};
}

static const char *fixed_name(uint32_t word)
{
    switch (word) {
#define PGK_ARM64_FIXED(value, text) \
    case value: \
        return text;
#include "arm64_system.def"
#undef PGK_ARM64_FIXED
    default:
        return NULL;
    }
}

enum { ALONE, REGISTER };
static const struct operation {
    uint16_t fields;
    uint8_t operand;
    const char *text;
} operations[] = {
#define PGK_ARM64_OPERATION(op1, n, m, op2, operand, text) \
    {FIELDS(1, op1, n, m, op2), operand, text},
#include "arm64_system.def"
#undef PGK_ARM64_OPERATION
};

static const struct operation *operation_of(uint32_t word)
{
    PGK_SEARCH(at, PGK_COUNTOF(operations), mid, operations[mid].fields < fields(word))
    const struct operation *o = &operations[at];
    return at < PGK_COUNTOF(operations) && o->fields == fields(word) &&
                   (o->operand == REGISTER || (word & OPERAND) == OPERAND)
               ? o
               : NULL;
}

enum use { READ = 1, WRITE = 2, BOTH = READ | WRITE };
static const struct system_register {
    uint16_t fields;
    uint8_t use;
    const char *name;
} registers[] = {
#define PGK_ARM64_REGISTER(op0, op1, n, m, op2, use, name) \
    {(uint16_t)FIELDS(op0, op1, n, m, op2), use, name},
#include "arm64_system.def"
#undef PGK_ARM64_REGISTER
};

/* Two registers may have the same numbers, one to read and one to write. */
static const char *register_name(uint32_t word, enum use use)
{
    PGK_SEARCH(at, PGK_COUNTOF(registers), mid, registers[mid].fields < fields(word))
    for (; at < PGK_COUNTOF(registers) && registers[at].fields == fields(word); at++)
        if (registers[at].use & use)
            return registers[at].name;
    return NULL;
}

/* Instructions without a register of their own, whose number is in CRm. False for others. */
static bool put_number(uint32_t word, char *text, size_t size)
{
    static const char *const barriers[8] = {
        [2] = "clrex", [4] = "dsb", [5] = "dmb", [6] = "isb"};
    const struct place p = place_of(word);
    const char *state = p.op1 == 0 && p.op2 == 5   ? "SPSel"
                        : p.op1 == 3 && p.op2 == 6 ? "DAIFSet"
                        : p.op1 == 3 && p.op2 == 7 ? "DAIFClr"
                                                   : NULL;
    if (p.op1 == 3 && p.n == 2)
        snprintf(text, size, "hint\t#%u", p.m << 3 | p.op2);
    else if (p.op1 == 3 && p.n == 3 && barriers[p.op2])
        snprintf(text, size, "%s\t#%u", barriers[p.op2], p.m);
    else if (p.n == 4 && state)
        snprintf(text, size, "msr\t%s, #%u", state, p.m);
    else if (p.op1 == 1 && p.n == 4 && p.op2 == 0 && p.m >> 1 == 1)
        snprintf(text, size, "msr\tPM, #%u", p.m & 1);
    else
        return false;
    return true;
}

/* An operation by its name, or with the numbers of all fields. */
static void put_operation(uint32_t word, const char *general, char *text, size_t size)
{
    const struct place p = place_of(word);
    const bool result = word >> 21 & 1, bare = !result && (word & OPERAND) == OPERAND;
    const struct operation *named = result ? NULL : operation_of(word);
    if (named)
        snprintf(text, size, "%s%s", named->text, named->operand == REGISTER ? general : "");
    else
        snprintf(text, size, "%s\t%s%s#%u, c%u, c%u, #%u%s%s", result ? "sysl" : "sys",
                 result ? general : "", result ? ", " : "", p.op1, p.n, p.m, p.op2,
                 result || bare ? "" : ", ", result || bare ? "" : general);
}

static void put_register(uint32_t word, const char *general, char *text, size_t size)
{
    const bool read = word >> 21 & 1;
    const struct place p = place_of(word);
    const char *name = register_name(word, read ? READ : WRITE);
    char numbers[32];
    if (!name) {
        snprintf(numbers, sizeof numbers, "S%u_%u_C%u_C%u_%u", p.op0, p.op1, p.n, p.m, p.op2);
        name = numbers;
    }
    snprintf(text, size, "%s\t%s, %s", read ? "mrs" : "msr", read ? general : name,
             read ? name : general);
}

bool pgk_arm64_system(uint32_t word, char *text, size_t size)
{
    if (word >> 22 != 0xd5000000 >> 22)
        return false;
    const struct place p = place_of(word);
    const char *fixed = fixed_name(word);
    char general[8] = "xzr";
    if ((word & OPERAND) != OPERAND)
        snprintf(general, sizeof general, "x%u", word & OPERAND);
    if (fixed)
        snprintf(text, size, "%s", fixed);
    else if (p.op0 == 1)
        put_operation(word, general, text, size);
    else if (p.op0 != 0 || word >> 21 & 1 || (word & OPERAND) != OPERAND ||
             !put_number(word, text, size))
        put_register(word, general, text, size);
    return true;
}
