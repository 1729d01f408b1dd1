/* x86-64 in AT&T syntax, spelled as LLVM 22 does.
 *
 * Zydis has a formatter for AT&T syntax, but it leaves out suffixes, writes other names, and
 * takes several times as long as decoding; this one works from the decoded operands. */
#include "x86_priv.h"

#include <stdio.h>
#include <string.h>

/* The text under construction; PGK_INSN_TEXT_SIZE is more than any instruction takes. */
struct text {
    char *at;
    bool hex;
};

static void put_bytes(struct text *t, const char *s, size_t n)
{
    memcpy(t->at, s, n);
    t->at += n;
}

#define put(t, literal) put_bytes((t), (literal), sizeof(literal) - 1)

static void put_char(struct text *t, char c)
{
    *t->at++ = c;
}

static void put_str(struct text *t, const char *s)
{
    put_bytes(t, s, strlen(s));
}

static void put_hex(struct text *t, uint64_t v)
{
    char digits[16];
    size_t n = 0;
    do
        digits[n++] = "0123456789abcdef"[v & 15];
    while (v >>= 4);
    put(t, "0x");
    while (n)
        put_char(t, digits[--n]);
}

static void put_number(struct text *t, int64_t v)
{
    uint64_t u = (uint64_t)v;
    char digits[20];
    size_t n = 0;
    if (v < 0) {
        put_char(t, '-');
        u = -u;
    }
    if (t->hex && u >= 10) {
        put_hex(t, u);
        return;
    }
    do
        digits[n++] = (char)('0' + u % 10);
    while (u /= 10);
    while (n)
        put_char(t, digits[--n]);
}

static void put_register(struct text *t, ZydisRegister r)
{
    const ZydisShortString *s = ZydisRegisterGetStringWrapped(r);
    put_char(t, '%');
    put_bytes(t, s->data, s->size);
}

/* ---- mnemonics ---- */

static char size_letter(unsigned bits)
{
    return bits == 8 ? 'b' : bits == 16 ? 'w' : bits == 32 ? 'l' : 'q';
}

static const ZydisDecodedOperand *memory_operand(const ZydisDecodedInstruction *in,
                                                 const ZydisDecodedOperand *ops)
{
    for (unsigned i = 0; i < in->operand_count_visible; i++)
        if (ops[i].type == ZYDIS_OPERAND_TYPE_MEMORY)
            return &ops[i];
    return NULL;
}

static bool is_string(const ZydisDecodedInstruction *in)
{
    return in->meta.category == ZYDIS_CATEGORY_STRINGOP ||
           in->meta.category == ZYDIS_CATEGORY_IOSTRINGOP;
}

/* "cmpltsd", "vpcmpneqb": the predicate stands in the name. Those without name stay. */
static bool put_compare(struct text *t, const ZydisDecodedInstruction *in)
{
    static const char *const predicates[32] = {
        "eq",    "lt",     "le",     "unord",    "neq",    "nlt",    "nle",    "ord",
        "eq_uq", "nge",    "ngt",    "false",    "neq_oq", "ge",     "gt",     "true",
        "eq_os", "lt_oq",  "le_oq",  "unord_s",  "neq_us", "nlt_uq", "nle_uq", "ord_s",
        "eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq",  "gt_oq",  "true_us"};
    const struct pgk_x86_name *name = &pgk_x86_names[in->mnemonic];
    const char *cmp = strstr(name->text, "cmp") + 3;
    uint64_t imm = in->raw.imm[0].value.u & 0xff;
    bool integer = name->text[0] == 'v' && name->text[1] == 'p';
    bool vex = name->text[0] == 'v' && !integer;
    if (imm >= (vex ? 32 : 8) || (integer && (imm == 3 || imm == 7)))
        return false;
    put_bytes(t, name->text, (size_t)(cmp - name->text));
    put_str(t, predicates[imm]);
    put_str(t, cmp);
    return true;
}

static void put_suffix(struct text *t, const ZydisDecodedInstruction *in,
                       const ZydisDecodedOperand *ops, uint8_t suffix)
{
    const ZydisDecodedOperand *mem = memory_operand(in, ops);
    switch (suffix) {
    case PGK_X86_SIZED:
        /* A store of a segment register has 16 bits whatever the prefixes are. */
        if (in->mnemonic == ZYDIS_MNEMONIC_MOV && in->opcode == 0x8c && mem)
            put_char(t, 'w');
        else if (in->mnemonic == ZYDIS_MNEMONIC_CRC32)
            put_char(t, size_letter(ops[1].size)); /* of what is summed */
        else
            put_char(t, size_letter(in->operand_width));
        break;
    case PGK_X86_FLOAT:
        if (mem)
            put_char(t, mem->size == 32 ? 's' : mem->size == 64 ? 'l' : 't');
        break;
    case PGK_X86_FLOAT_INT:
        put_str(t, mem->size == 16 ? "s" : mem->size == 32 ? "l" : "ll");
        break;
    case PGK_X86_SIZED_MEM:
        if (mem)
            put_char(t, size_letter(mem->size));
        break;
    case PGK_X86_VECTOR_MEM:
        if (mem && in->avx.vector_length < 512 && !in->avx.broadcast.mode)
            put_char(t, in->avx.vector_length == 128 ? 'x' : 'y');
        break;
    case PGK_X86_EXTEND:
        put_char(t, size_letter(ops[1].size));
        put_char(t, in->mnemonic == ZYDIS_MNEMONIC_MOVSXD ? 'q' : size_letter(in->operand_width));
        break;
    }
}

/* Suffixes that say nothing new are left out. */
static bool is_bare(const ZydisDecodedInstruction *in)
{
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_JMP:
        return in->raw.imm[0].is_relative;
    case ZYDIS_MNEMONIC_NOP:
        return !(in->attributes & ZYDIS_ATTRIB_HAS_MODRM);
    default:
        return false;
    }
}

static const char *far_name(const ZydisDecodedInstruction *in)
{
    static const char *const names[3][3] = {{"ljmpw", "ljmpl", "ljmpq"},
                                            {"lcallw", "lcalll", "lcallq"},
                                            {"lretw", "lretl", "lretq"}};
    unsigned size = in->operand_width == 16 ? 0 : in->operand_width == 32 ? 1 : 2;
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_JMP:
        return names[0][size];
    case ZYDIS_MNEMONIC_CALL:
        return names[1][size];
    case ZYDIS_MNEMONIC_RET:
        return names[2][size];
    default:
        return NULL;
    }
}

/* Names that are not the mnemonic's own; NULL if there is none. */
static const char *other_name(const ZydisDecodedInstruction *in)
{
    if (is_string(in)) { /* SSE has instructions of the same names */
        if (in->mnemonic == ZYDIS_MNEMONIC_MOVSD)
            return "movsl";
        return in->mnemonic == ZYDIS_MNEMONIC_CMPSD ? "cmpsl" : NULL;
    }
    if (in->mnemonic == ZYDIS_MNEMONIC_MOV && in->raw.imm[0].size == 64)
        return "movabsq";
    if (in->meta.branch_type == ZYDIS_BRANCH_TYPE_FAR && in->mnemonic != ZYDIS_MNEMONIC_IRETQ)
        return far_name(in);
    /* An old mistake of AT&T's assembler, kept for ever: with a destination other than the top
     * of the stack, the reversed operations have each other's names. */
    if ((in->opcode != 0xdc && in->opcode != 0xde) || in->raw.modrm.mod != 3)
        return NULL;
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_FSUB:
        return "fsubr";
    case ZYDIS_MNEMONIC_FSUBR:
        return "fsub";
    case ZYDIS_MNEMONIC_FDIV:
        return "fdivr";
    case ZYDIS_MNEMONIC_FDIVR:
        return "fdiv";
    case ZYDIS_MNEMONIC_FSUBP:
        return "fsubrp";
    case ZYDIS_MNEMONIC_FSUBRP:
        return "fsubp";
    case ZYDIS_MNEMONIC_FDIVP:
        return "fdivrp";
    case ZYDIS_MNEMONIC_FDIVRP:
        return "fdivp";
    default:
        return NULL;
    }
}

/* Writes the mnemonic; true if an immediate went into it. */
static bool put_mnemonic(struct text *t, const ZydisDecodedInstruction *in,
                         const ZydisDecodedOperand *ops)
{
    const struct pgk_x86_name *name = &pgk_x86_names[in->mnemonic];
    const char *other = other_name(in);
    if (other) {
        put_str(t, other);
        return false;
    }
    if (name->suffix == PGK_X86_COMPARE && put_compare(t, in))
        return true;
    if (in->mnemonic == ZYDIS_MNEMONIC_MOV && in->raw.disp.size == 64)
        put(t, "movabs"); /* an address of 64 bits */
    else
        put_bytes(t, name->text, name->len);
    if (name->suffix && !is_bare(in))
        put_suffix(t, in, ops, name->suffix);
    return false;
}

/* ---- operands ---- */

/* The segment of a prefix, also where it means nothing: CS in a nop that fills. */
static void put_segment(struct text *t, const ZydisDecodedInstruction *in)
{
    if (in->raw.prefix_count == 0)
        return;
    for (unsigned i = in->raw.prefix_count; i-- > 0;) {
        switch (in->raw.prefixes[i].value) {
        case 0x26:
            put(t, "%es:");
            return;
        case 0x2e:
            put(t, "%cs:");
            return;
        case 0x36:
            put(t, "%ss:");
            return;
        case 0x3e:
            put(t, "%ds:");
            return;
        case 0x64:
            put(t, "%fs:");
            return;
        case 0x65:
            put(t, "%gs:");
            return;
        }
    }
}

/* An index byte without index, which only a base of %rsp or %r12 needs. */
static bool has_idle_index(const ZydisDecodedInstruction *in, const ZydisDecodedOperandMem *m)
{
    bool sib = (in->attributes & ZYDIS_ATTRIB_HAS_MODRM) && in->raw.modrm.mod != 3 &&
               in->raw.modrm.rm == 4;
    return sib && (in->raw.sib.base != 4 || in->raw.sib.scale) && m->base != ZYDIS_REGISTER_RIP;
}

static void put_memory(struct text *t, const ZydisDecodedInstruction *in,
                       const ZydisDecodedOperand *op)
{
    const ZydisDecodedOperandMem *m = &op->mem;
    bool base = m->base != ZYDIS_REGISTER_NONE, index = m->index != ZYDIS_REGISTER_NONE;
    put_segment(t, in);
    if (m->disp.value || (!base && !index))
        put_number(t, m->disp.value);
    bool idle = !index && has_idle_index(in, m);
    if (!base && !index && !(idle && in->raw.sib.scale))
        return;
    put_char(t, '(');
    if (base)
        put_register(t, m->base);
    unsigned scale = m->scale;
    if (index) {
        put_char(t, ',');
        put_register(t, m->index);
    } else if (idle) {
        put(t, ",%riz");
        scale = 1u << in->raw.sib.scale;
    }
    if ((index || idle) && scale > 1) {
        put_char(t, ',');
        put_char(t, (char)('0' + scale));
    }
    put_char(t, ')');
}

static int64_t sign_extend(uint64_t v, unsigned bits)
{
    return bits && bits < 64 ? (int64_t)(v << (64 - bits)) >> (64 - bits) : (int64_t)v;
}

static void put_immediate(struct text *t, const ZydisDecodedInstruction *in,
                          const ZydisDecodedOperand *op, uint64_t next, unsigned nth)
{
    if (op->imm.is_relative) {
        put_hex(t, next + (uint64_t)op->imm.value.s);
        return;
    }
    unsigned bits = in->raw.imm[nth].size;
    uint64_t v = op->imm.value.u;
    put_char(t, '$');
    bool full = bits > 8 && bits == in->operand_width; /* nothing to extend */
    if ((pgk_x86_names[in->mnemonic].unsigned_imm || full) && bits < 64)
        put_number(t, (int64_t)(v & (((uint64_t)1 << bits) - 1)));
    else
        put_number(t, sign_extend(v, bits));
}

/* The register that an x87 instruction always takes, as against one it names. */
static bool is_stack_top(const ZydisDecodedOperand *op)
{
    return op->type == ZYDIS_OPERAND_TYPE_REGISTER &&
           op->encoding == ZYDIS_OPERAND_ENCODING_NONE && op->reg.value == ZYDIS_REGISTER_ST0;
}

static void put_x87(struct text *t, const ZydisDecodedOperand *op)
{
    put(t, "%st");
    if (is_stack_top(op))
        return;
    put_char(t, '(');
    put_char(t, (char)('0' + op->reg.value - ZYDIS_REGISTER_ST0));
    put_char(t, ')');
}

static void put_operand(struct text *t, const ZydisDecodedInstruction *in,
                        const ZydisDecodedOperand *op, uint64_t next, unsigned nth_imm)
{
    static const char *const broadcasts[] = {"",      "1to2",  "1to4", "1to8", "1to16",
                                             "1to32", "1to64", "2to4", "2to8", "2to16",
                                             "4to8",  "4to16", "8to16"};
    bool branch =
        in->meta.category == ZYDIS_CATEGORY_CALL || in->meta.category == ZYDIS_CATEGORY_UNCOND_BR;
    if (branch && op->type != ZYDIS_OPERAND_TYPE_IMMEDIATE)
        put_char(t, '*');
    switch (op->type) {
    case ZYDIS_OPERAND_TYPE_REGISTER:
        if (op->reg.value >= ZYDIS_REGISTER_ST0 && op->reg.value <= ZYDIS_REGISTER_ST7)
            put_x87(t, op);
        else
            put_register(t, op->reg.value);
        break;
    case ZYDIS_OPERAND_TYPE_MEMORY:
        put_memory(t, in, op);
        if (in->avx.broadcast.mode && !in->avx.broadcast.is_static) {
            put_char(t, '{');
            put_str(t, broadcasts[in->avx.broadcast.mode]);
            put_char(t, '}');
        }
        break;
    case ZYDIS_OPERAND_TYPE_IMMEDIATE:
        put_immediate(t, in, op, next, nth_imm);
        break;
    default:
        break;
    }
}

static void put_mask(struct text *t, const ZydisDecodedInstruction *in)
{
    if (in->avx.mask.reg == ZYDIS_REGISTER_NONE || in->avx.mask.reg == ZYDIS_REGISTER_K0)
        return;
    put(t, " {");
    put_register(t, in->avx.mask.reg);
    put_char(t, '}');
    if (in->raw.evex.z)
        put(t, " {z}");
}

static bool put_rounding(struct text *t, const ZydisDecodedInstruction *in)
{
    static const char *const modes[] = {"", "{rn-sae}", "{rd-sae}", "{ru-sae}", "{rz-sae}"};
    if (in->encoding != ZYDIS_INSTRUCTION_ENCODING_EVEX)
        return false;
    if (in->avx.rounding.mode)
        put_str(t, modes[in->avx.rounding.mode]);
    else if (in->avx.has_sae)
        put(t, "{sae}");
    else
        return false;
    return true;
}

/* The operands of string instructions, which other assemblers hide. */
static bool put_string_operands(struct text *t, const ZydisDecodedInstruction *in)
{
    static const char accumulators[4][6] = {"%al", "%ax", "%eax", "%rax"};
    const char *a = accumulators[in->operand_width == 8    ? 0
                                 : in->operand_width == 16 ? 1
                                 : in->operand_width == 32 ? 2
                                                           : 3];
    switch (in->mnemonic) {
    case ZYDIS_MNEMONIC_MOVSB:
    case ZYDIS_MNEMONIC_MOVSW:
    case ZYDIS_MNEMONIC_MOVSD:
    case ZYDIS_MNEMONIC_MOVSQ:
        put(t, "\t(%rsi), %es:(%rdi)");
        return true;
    case ZYDIS_MNEMONIC_CMPSB:
    case ZYDIS_MNEMONIC_CMPSW:
    case ZYDIS_MNEMONIC_CMPSD:
    case ZYDIS_MNEMONIC_CMPSQ:
        put(t, "\t%es:(%rdi), (%rsi)");
        return true;
    case ZYDIS_MNEMONIC_STOSB:
    case ZYDIS_MNEMONIC_STOSW:
    case ZYDIS_MNEMONIC_STOSD:
    case ZYDIS_MNEMONIC_STOSQ:
        put_char(t, '\t'), put_str(t, a), put(t, ", %es:(%rdi)");
        return true;
    case ZYDIS_MNEMONIC_LODSB:
    case ZYDIS_MNEMONIC_LODSW:
    case ZYDIS_MNEMONIC_LODSD:
    case ZYDIS_MNEMONIC_LODSQ:
        put(t, "\t(%rsi), "), put_str(t, a);
        return true;
    case ZYDIS_MNEMONIC_SCASB:
    case ZYDIS_MNEMONIC_SCASW:
    case ZYDIS_MNEMONIC_SCASD:
    case ZYDIS_MNEMONIC_SCASQ:
        put(t, "\t%es:(%rdi), "), put_str(t, a);
        return true;
    case ZYDIS_MNEMONIC_INSB:
    case ZYDIS_MNEMONIC_INSW:
    case ZYDIS_MNEMONIC_INSD:
        put(t, "\t%dx, %es:(%rdi)");
        return true;
    case ZYDIS_MNEMONIC_OUTSB:
    case ZYDIS_MNEMONIC_OUTSW:
    case ZYDIS_MNEMONIC_OUTSD:
        put(t, "\t(%rsi), %dx");
        return true;
    default:
        return false;
    }
}

/* Their mask is always the first register, which is written all the same. */
static bool is_sse_blend(const ZydisDecodedInstruction *in)
{
    return in->mnemonic == ZYDIS_MNEMONIC_BLENDVPD || in->mnemonic == ZYDIS_MNEMONIC_BLENDVPS ||
           in->mnemonic == ZYDIS_MNEMONIC_PBLENDVB;
}

/* Operands that are not written: masks stand at the destination, the 1 of "shift by one" is in
 * the opcode, and of the two of a long nop LLVM knows one;
 * comparisons with the top of the x87 stack do not name it. */
static bool is_silent(const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops, unsigned i,
                      unsigned nth_imm, bool drop_imm)
{
    if (ops[i].encoding == ZYDIS_OPERAND_ENCODING_MASK)
        return true;
    if (ops[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
        return drop_imm || !in->raw.imm[nth_imm].size;
    if (is_stack_top(&ops[i]) &&
        (in->mnemonic == ZYDIS_MNEMONIC_FCOM || in->mnemonic == ZYDIS_MNEMONIC_FCOMP ||
         in->mnemonic == ZYDIS_MNEMONIC_FUCOM || in->mnemonic == ZYDIS_MNEMONIC_FUCOMP))
        return true;
    return in->mnemonic == ZYDIS_MNEMONIC_NOP && i > 0;
}

static void put_operands(struct text *t, const ZydisDecodedInstruction *in,
                         const ZydisDecodedOperand *ops, uint64_t next, bool drop_imm)
{
    unsigned n = in->operand_count_visible, imms = 0;
    /* LLVM prints two exchanged registers in their encoded order. */
    bool forward = (in->mnemonic == ZYDIS_MNEMONIC_XCHG && !memory_operand(in, ops)) ||
                   in->mnemonic == ZYDIS_MNEMONIC_ENTER;
    bool first = true, rounded = false; /* the mode stands before the first vector */
    if (in->mnemonic == ZYDIS_MNEMONIC_SHA256RNDS2 || is_sse_blend(in)) {
        put(t, "\t%xmm0");
        first = false;
    }
    for (unsigned i = 0; i < n; i++)
        imms += ops[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
    for (unsigned k = 0; k < n; k++) {
        unsigned i = forward ? k : n - 1 - k;
        imms -= ops[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE;
        if (is_silent(in, ops, i, forward ? k : imms, drop_imm))
            continue;
        put_str(t, first ? "\t" : ", ");
        bool general = ops[i].type != ZYDIS_OPERAND_TYPE_REGISTER ||
                       ZydisRegisterGetClass(ops[i].reg.value) <= ZYDIS_REGCLASS_GPR64;
        if (!rounded && !general && put_rounding(t, in))
            put(t, ", ");
        rounded |= !general;
        first = false;
        put_operand(t, in, &ops[i], next, forward ? k : imms);
        if (i == 0 && in->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
            put_mask(t, in);
    }
}

/* Prefixes that the instruction has no use for, or that repeat it; of two the last one counts. */
static void put_prefixes(struct text *t, const ZydisDecodedInstruction *in,
                         const ZydisDecodedOperand *ops)
{
    unsigned repeat = 0;
    bool addr32 = false;
    if (in->attributes & ZYDIS_ATTRIB_HAS_LOCK)
        put(t, "lock\t\t");
    for (unsigned i = 0; i < in->raw.prefix_count; i++) {
        unsigned value = in->raw.prefixes[i].value;
        if (in->raw.prefixes[i].type == ZYDIS_PREFIX_TYPE_MANDATORY && !is_string(in))
            continue;
        if (value == 0xf3 || value == 0xf2)
            repeat = value;
        addr32 |= value == 0x67 && !is_string(in) && !memory_operand(in, ops);
    }
    /* After 0f they select the instruction, or have no effect. */
    if (repeat && in->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT)
        put_str(t, repeat == 0xf3 ? "rep\t\t" : "repne\t\t");
    if (addr32)
        put(t, "addr32\t\t");
}

size_t pgk_x86_text(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n, uint64_t addr,
                    struct pgk_insn *insn, char text[PGK_INSN_TEXT_SIZE])
{
    struct text t = {text, d->style == PGK_INSN_READABLE};
    ZydisDecodedInstruction in;
    ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
    ZydisDecoderContext context;
    if (pgk_x86_is_split(d, bytes, n)) {
        *insn = (struct pgk_insn){.addr = addr, .length = 1, .valid = true};
        put(&t, "lock");
    } else if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(d->zydis, &context, bytes, n, &in)) ||
               !ZYAN_SUCCESS(
                   ZydisDecoderDecodeOperands(d->zydis, &context, &in, ops, in.operand_count))) {
        *insn = (struct pgk_insn){.addr = addr, .length = 1};
        put(&t, "<unknown>");
    } else {
        pgk_x86_classify(&in, addr, insn);
        put_prefixes(&t, &in, ops);
        bool dropped = put_mnemonic(&t, &in, ops);
        if (!is_string(&in) || !put_string_operands(&t, &in))
            put_operands(&t, &in, ops, addr + in.length, dropped);
    }
    *t.at = 0;
    return (size_t)(t.at - text);
}
