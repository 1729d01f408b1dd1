/* AArch64 as text: Capstone's, which comes from an old LLVM, with the spelling of LLVM 22:
 * numbers are decimal but for masks, addresses have no "#", and moves are called moves. */
#include "insn_priv.h"

#include "mem.h"

#include <capstone/capstone.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct handle {
    csh cs;
    cs_insn *insn;
};

int pgk_arm64_open(struct pgk_insn_decoder *d, struct pgk_err *err)
{
    struct handle *h = pgk_mem_zalloc(1, sizeof *h);
    if (!h)
        return pgk_fail_nomem(err);
    if (cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &h->cs) != CS_ERR_OK) {
        pgk_mem_free(h);
        return pgk_fail_nomem(err);
    }
    d->capstone = h;
    /* Groups are part of the details, which is_extension needs. */
    if (d->style != PGK_INSN_LLVM ||
        cs_option(h->cs, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK)
        h->insn = cs_malloc(h->cs);
    if (h->insn)
        return 0;
    pgk_arm64_close(d);
    return pgk_fail_nomem(err);
}

void pgk_arm64_close(struct pgk_insn_decoder *d)
{
    struct handle *h = d->capstone;
    if (!h)
        return;
    if (h->insn)
        cs_free(h->insn, 1);
    cs_close(&h->cs);
    pgk_mem_free(h);
    d->capstone = NULL;
}

/* ---- moves of constants ---- */

static bool is_movz(uint64_t v, unsigned shift)
{
    return (v || !shift) && !(v & ~((uint64_t)0xffff << shift));
}

static bool is_any_movz(uint64_t v, unsigned width)
{
    for (unsigned shift = 0; shift < width; shift += 16)
        if (is_movz(v, shift))
            return true;
    return false;
}

static uint64_t to_width(uint64_t v, unsigned width)
{
    return width == 32 ? (uint32_t)v : v;
}

/* The constant, if the instruction is the one that "mov" stands for: of several that could load
 * it, movz comes before movn and that before orr. */
static bool moved_constant(uint32_t word, const char *operands, int64_t *value)
{
    unsigned width = word >> 31 ? 64 : 32, shift = (word >> 21 & 3) * 16;
    uint64_t v = (uint64_t)(word >> 5 & 0xffff) << shift;
    if ((word & 0x7f800000) == 0x52800000) { /* movz */
        if (!is_movz(v, shift))
            return false;
    } else if ((word & 0x7f800000) == 0x12800000) { /* movn */
        if (!is_movz(v, shift) || is_any_movz(to_width(~v, width), width))
            return false;
        v = to_width(~v, width);
    } else if ((word & 0x7f8003e0) == 0x320003e0) { /* orr of the zero register */
        const char *imm = strrchr(operands, '#');
        v = imm ? to_width(strtoull(imm + 1, NULL, 0), width) : 0;
        if (!imm || is_any_movz(v, width) || is_any_movz(to_width(~v, width), width))
            return false;
    } else {
        return false;
    }
    *value = width == 32 ? (int32_t)(uint32_t)v : (int64_t)v;
    return true;
}

/* ---- operands ---- */

struct text {
    char *at, *end;
    bool hex;         /* numbers from 10 on in hexadecimal */
    bool mask;        /* all numbers in hexadecimal */
    bool has_address; /* one operand is an address: `address`, printed as `shown` */
    uint64_t address, shown;
};

static void put_char(struct text *t, char c)
{
    if (t->at < t->end)
        *t->at++ = c;
}

static void put_str(struct text *t, const char *s)
{
    while (*s)
        put_char(t, *s++);
}

static void put_immediate(struct text *t, int64_t v)
{
    char number[32];
    uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;
    bool hex = t->mask || (t->hex && u >= 10);
    snprintf(number, sizeof number, hex ? "#%s%#" PRIx64 : "#%s%" PRIu64,
             v < 0 && !t->mask ? "-" : "", t->mask ? (uint64_t)v : u);
    put_str(t, number);
}

/* Bit patterns of logical operations on general registers, and numbers of exceptions. */
static bool is_masking(const char *mnemonic, const char *operands)
{
    static const char *const logical[] = {"and", "ands", "orr", "eor", "tst"};
    static const char *const exceptions[] = {"brk", "hlt",   "svc",   "hvc",
                                            "smc", "dcps1", "dcps2", "dcps3"};
    for (size_t i = 0; i < PGK_COUNTOF(exceptions); i++)
        if (!strcmp(mnemonic, exceptions[i]))
            return true;
    bool general = operands[0] == 'w' || operands[0] == 'x' || operands[0] == 's';
    bool shifted = strstr(operands, "lsl #") || strstr(operands, "lsr #") ||
                   strstr(operands, "asr #") || strstr(operands, "ror #");
    for (size_t i = 0; i < PGK_COUNTOF(logical) && general && !shifted; i++)
        if (!strcmp(mnemonic, logical[i]))
            return true;
    return false;
}

/* movi of 64 bits, whose immediate stands for a byte mask. */
static bool put_byte_mask(struct text *t, const cs_insn *cs)
{
    const char *s = cs->op_str, *imm = strchr(s, '#');
    char number[32];
    if (strcmp(cs->mnemonic, "movi") != 0 || !imm || (!strstr(s, ".2d") && s[0] != 'd'))
        return false;
    for (; s < imm; s++)
        put_char(t, *s);
    snprintf(number, sizeof number, "#%#016llx", strtoull(imm + 1, NULL, 0));
    put_str(t, number);
    return true;
}

static void put_operands(struct text *t, const char *s)
{
    for (; *s; s++) {
        if (*s == '#' && (isdigit((unsigned char)s[1]) || s[1] == '-') && !strpbrk(s, ".")) {
            char *after;
            bool negative = s[1] == '-';
            uint64_t v = strtoull(s + 1 + negative, &after, 0);
            if (t->has_address && v == t->address && !negative) {
                char number[32];
                snprintf(number, sizeof number, "0x%" PRIx64, t->shown);
                put_str(t, number);
            } else {
                put_immediate(t, negative ? -(int64_t)v : (int64_t)v);
            }
            s = after - 1;
        } else if (*s == '[' && isdigit((unsigned char)s[1])) {
            /* The number of an element. */
            char *after, number[32];
            snprintf(number, sizeof number, "[%llu", strtoull(s + 1, &after, 0));
            put_str(t, number);
            s = after - 1;
        } else if (*s == '{') {
            put_str(t, "{ ");
        } else if (*s == '}') {
            put_str(t, " }");
        } else {
            put_char(t, *s);
        }
    }
}

/* Names that Capstone 5 gives and LLVM does not, where no extension is asked for: bfc, and mov for
 * a mask that movz or movn could load. */
static bool put_newer_alias(struct text *t, uint32_t word, const cs_insn *cs)
{
    const char *rest = strchr(cs->op_str, ','), *zero = word >> 31 ? ", xzr" : ", wzr";
    const bool clear = !strcmp(cs->mnemonic, "bfc"),
               mask = (word & 0x7f8003e0) == 0x320003e0 && !strcmp(cs->mnemonic, "mov");
    if (!rest || !strchr(rest, '#') || (!clear && !mask))
        return false;
    put_str(t, clear ? "bfi\t" : "orr\t");
    for (const char *s = cs->op_str; s < rest; s++)
        put_char(t, *s);
    put_str(t, zero);
    t->mask = mask;
    if (mask) {
        put_str(t, ", ");
        put_immediate(t, (int64_t)to_width(strtoull(strchr(rest, '#') + 1, NULL, 0),
                                           word >> 31 ? 64 : 32));
    } else {
        put_operands(t, rest);
    }
    return true;
}

static void spell(const struct pgk_insn_decoder *d, const cs_insn *cs, uint32_t word,
                  const struct pgk_insn *insn, struct text *t)
{
    int64_t constant;
    const char *mnemonic = cs->mnemonic;
    bool llvm = d->style == PGK_INSN_LLVM;
    t->hex = !llvm;
    bool branch =
        insn->kind == PGK_INSN_COND || insn->kind == PGK_INSN_JUMP || insn->kind == PGK_INSN_CALL;
    bool literal = (word & 0x1f000000) == 0x10000000 || (word & 0x3b000000) == 0x18000000;
    t->has_address = (branch && !insn->indirect) || literal;
    t->address = t->shown = branch ? insn->target : insn->data;
    /* llvm-profgen counts from the next instruction; adrp from its page. */
    if (llvm && (word & 0x9f000000) == 0x90000000)
        t->shown += ((insn->addr + 4) & ~(uint64_t)0xfff) - (insn->addr & ~(uint64_t)0xfff);
    else if (llvm)
        t->shown += 4;
    if (moved_constant(word, cs->op_str, &constant)) {
        put_str(t, "mov\t");
        for (const char *s = cs->op_str; *s && *s != ','; s++)
            put_char(t, *s);
        put_str(t, ", ");
        put_immediate(t, constant);
        return;
    }
    if (!strcmp(mnemonic, "ins"))
        mnemonic = "mov";
    if (put_newer_alias(t, word, cs))
        return;
    put_str(t, mnemonic);
    if (!cs->op_str[0])
        return;
    put_char(t, '\t');
    t->mask = is_masking(mnemonic, cs->op_str);
    if (cs->op_str[0] == ',') /* Capstone names some prefetches only */
        put_immediate(t, word & 31);
    if (!put_byte_mask(t, cs))
        put_operands(t, cs->op_str);
}

/* The first one that fits decides. Arm Architecture Reference Manual, C4.1. */
static const struct {
    uint32_t mask, value;
    bool extension;
} classes[] = {
    {0x1a000000, 0x00000000, true}, /* scalable vectors and matrices */
    {0x3b200c00, 0x38200000, true}, /* atomic memory operations, swaps */
    {0x3fa07c00, 0x08a07c00, true}, /* compare and swap */
    {0xbfa07c00, 0x08207c00, true}, /* of a pair */
    {0x3fa08000, 0x08800000, true}, /* ordered within a limited region */
    {0xff200000, 0xd9200000, true}, /* loads and stores of memory tags */
    {0xbfc00000, 0x91800000, true}, /* addresses with another tag */
    {0xffe0f800, 0x9ac01000, true}, /* random tags, and masks of them */
    {0xdfe0fc00, 0x9ac00000, true}, /* differences of tagged addresses */
    {0xffe0fc00, 0x9ac03000, true}, /* authentication codes */
    {0xffff0000, 0xdac10000, true}, /* signed addresses */
    {0x3f200c00, 0x19000000, true}, /* ordered loads and stores with an offset */
    {0x3b200c00, 0x19000400, true}, /* copies and fills of memory */
    {0xff200400, 0xf8200400, true}, /* loads by a signed address */
    {0xff000010, 0x54000010, true}, /* branches that hint at their consistency */
    {0xffe0001f, 0xd4600000, true}, /* end of a transaction */
    {0xffe07c10, 0xba000400, true}, /* flags from a rotated register */
    {0xffffbc1f, 0x3a00080d, true}, /* flags from 8 or 16 bits */
    {0xff000000, 0xce000000, true}, /* SHA-3, SM3, SM4 */
    {0xfffe7c00, 0x1ee24000, false}, /* from half precision to another */
    {0x7ec00000, 0x1ec00000, true},  /* half precision: scalars */
    {0x9f60c400, 0x0e400400, true},  /* vectors, three of a kind */
    {0x9f7e0c00, 0x0e780800, true},  /* two registers */
    {0xbf7fcc00, 0x0e30c800, true},  /* across a vector */
    {0xdf60c400, 0x5e400400, true},  /* scalars in vector registers */
    {0xdf7e0c00, 0x5e780800, true},
    {0xff7fcc00, 0x5e30c800, true},
    {0x9fc00400, 0x0f000000, true}, /* by an element */
    {0xdfc00400, 0x5f000000, true},
    {0x9ff0fc00, 0x0f10e400, true}, /* from and to fixed point */
    {0x9ff0fc00, 0x0f10fc00, true},
    {0xdff0fc00, 0x5f10e400, true},
    {0xdff0fc00, 0x5f10fc00, true},
    {0x9ff8fc00, 0x0f00fc00, true}, /* constants */
    {0x9f208400, 0x0e008400, true}, /* dot products, complex numbers, rounded sums of products */
    {0xdf208400, 0x5e008400, true},
    {0x9f00e400, 0x0f00e000, true}, /* the same by an element */
    {0xbf00f400, 0x2f00d000, true},
    {0xbf009400, 0x2f001000, true},
    {0xff00d400, 0x7f00d000, true},
    {0xbfc0b400, 0x0f800000, true}, /* products of half precision, summed in single */
    {0xbfc0b400, 0x2f808000, true},
    {0xbf60fc00, 0x0e20ec00, true},
    {0xbf60fc00, 0x2e20cc00, true},
    {0x9fbfec00, 0x0e21e800, true}, /* rounded to integers of 32 or 64 bits */
};

/* An instruction that the first version of the architecture does not have, as atomic memory
 * operations: LLVM's tools ask for no extension when they list a program, so they do not know it.
 * Of Capstone's releases each knows more of them, and not each is in a group. */
static bool is_extension(uint32_t word, const cs_insn *insn)
{
    for (size_t i = 0; i < PGK_COUNTOF(classes); i++)
        if ((word & classes[i].mask) == classes[i].value)
            return classes[i].extension;
    for (unsigned i = 0; i < insn->detail->groups_count; i++) {
        unsigned group = insn->detail->groups[i];
        if (group >= ARM64_GRP_CRYPTO && group != ARM64_GRP_FPARMV8 && group != ARM64_GRP_NEON)
            return true;
    }
    return false;
}

size_t pgk_arm64_text(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                      uint64_t addr, struct pgk_insn *insn, char text[PGK_INSN_TEXT_SIZE])
{
    struct handle *h = d->capstone;
    struct text t = {.at = text, .end = text + PGK_INSN_TEXT_SIZE - 1};
    size_t left = n;
    uint64_t at = addr;
    uint32_t word = 0;
    char system[64];
    pgk_arm64_decode(d, bytes, n, addr, insn);
    if (insn->valid)
        memcpy(&word, bytes, sizeof word);
    if (insn->valid && word < 0x10000) {
        put_str(&t, "udf\t");
        put_immediate(&t, (int64_t)word);
    } else if (insn->valid && pgk_arm64_system(word, system, sizeof system)) {
        put_str(&t, system);
    } else if (!insn->valid || !cs_disasm_iter(h->cs, &bytes, &left, &at, h->insn) ||
               (d->style == PGK_INSN_LLVM && is_extension(word, h->insn))) {
        *insn = (struct pgk_insn){.addr = addr, .length = insn->length};
        put_str(&t, "<unknown>");
    } else {
        spell(d, h->insn, word, insn, &t);
    }
    *t.at = 0;
    return (size_t)(t.at - text);
}
