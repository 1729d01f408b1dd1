/* The system instructions of AArch64 as LLVM lists them where no extension is asked for. Each
 * release of Capstone names other registers and operations of extensions, so it is not asked. */
#include "insn_priv.h"

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

/* The names of one CRn, as arm64_system.def describes them. */
static const struct names {
    uint16_t fields;
    const char *text;
} names[] = {
#define PGK_ARM64_NAMES(op0, op1, n, text) {(uint16_t)FIELDS(op0, op1, n, 0, 0), text},
#include "arm64_system.def"
#undef PGK_ARM64_NAMES
};

enum { LAST_FIELDS = 0x7f, NAME_SIZE = 32 }; /* CRm and op2 */
struct name {
    char text[3 * NAME_SIZE];
};

/* The name that an entry at `at` has for `wanted`; false if it is for others. */
static bool take_name(struct name *name, const char *entry, unsigned at, unsigned wanted)
{
    char before[NAME_SIZE], after[NAME_SIZE] = "";
    unsigned first, last, step;
    if (wanted < at)
        return false;
    if (sscanf(entry, "%31[^{]{%u-%u/%u}%31s", before, &first, &last, &step, after) < 4) {
        snprintf(name->text, sizeof name->text, "%s", entry);
        return wanted == at;
    }
    const unsigned number = first + (wanted - at) / step;
    snprintf(name->text, sizeof name->text, "%s%u%s", before, number, after);
    return !((wanted - at) % step) && number <= last;
}

/* The name with one of these signs. */
static bool find_name(struct name *name, uint32_t word, const char *signs)
{
    const unsigned wanted = fields(word) & LAST_FIELDS, group = fields(word) - wanted;
    PGK_SEARCH(i, PGK_COUNTOF(names), mid, names[mid].fields < group)
    if (i == PGK_COUNTOF(names) || names[i].fields != group)
        return false;
    char entry[NAME_SIZE], sign;
    unsigned m, op2;
    int size;
    for (const char *at = names[i].text;
         sscanf(at, "%u.%u%c%31s%n", &m, &op2, &sign, entry, &size) == 4; at += size)
        if (strchr(signs, sign) && take_name(name, entry, m << 3 | op2, wanted))
            return true;
    return false;
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

/* An instruction by its name, with the general register where it has one. */
static bool put_named(uint32_t word, const char *general, char *text, size_t size)
{
    struct name name;
    const bool bare = (word & OPERAND) == OPERAND && find_name(&name, word, "!");
    if (word >> 21 & 1 || (!bare && !find_name(&name, word, ":")))
        return false;
    char *blank = strchr(name.text, '/');
    const char *comma = blank && blank[1] ? ", " : "";
    if (blank)
        *blank = '\t';
    snprintf(text, size, "%s%s%s", name.text, bare ? "" : comma, bare ? "" : general);
    return true;
}

/* An operation with the numbers of all fields. */
static void put_operation(uint32_t word, const char *general, char *text, size_t size)
{
    const struct place p = place_of(word);
    const bool result = word >> 21 & 1, bare = !result && (word & OPERAND) == OPERAND;
    snprintf(text, size, "%s\t%s%s#%u, c%u, c%u, #%u%s%s", result ? "sysl" : "sys",
             result ? general : "", result ? ", " : "", p.op1, p.n, p.m, p.op2,
             result || bare ? "" : ", ", result || bare ? "" : general);
}

static void put_register(uint32_t word, const char *general, char *text, size_t size)
{
    const bool read = word >> 21 & 1;
    const struct place p = place_of(word);
    struct name name;
    if (!find_name(&name, word, read ? ":<" : ":>"))
        snprintf(name.text, sizeof name.text, "S%u_%u_C%u_C%u_%u", p.op0, p.op1, p.n, p.m, p.op2);
    snprintf(text, size, "%s\t%s, %s", read ? "mrs" : "msr", read ? general : name.text,
             read ? name.text : general);
}

bool pgk_arm64_system(uint32_t word, char *text, size_t size)
{
    if (word >> 22 != 0xd5000000 >> 22)
        return false;
    const struct place p = place_of(word);
    char general[8] = "xzr";
    if ((word & OPERAND) != OPERAND)
        snprintf(general, sizeof general, "x%u", word & OPERAND);
    if (p.op0 < 2 && put_named(word, general, text, size))
        return true;
    if (p.op0 == 1)
        put_operation(word, general, text, size);
    else if (p.op0 != 0 || word >> 21 & 1 || (word & OPERAND) != OPERAND ||
             !put_number(word, text, size))
        put_register(word, general, text, size);
    return true;
}
