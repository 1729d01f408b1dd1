/* Instructions of x86-64: length, branches, operands relative to the program counter. */
#include "recorder_decode.h"

#include "recorder_operand.h"

/* The bytes after an opcode, and its kind: one letter for each opcode of a map.
 *   .  nothing              m  ModRM                 b  8 bits          z  32 bits, or 16 with 66
 *   M  ModRM and 8 bits     Z  ModRM and z           v  16, 32 or 64    o  an address of 64 bits
 *   e  16 and 8 bits        x  only in its place     -  not known       !  further questions */
static const char one_byte[] = "mmmmbz--mmmmbz-!"  /* 00 */
                               "mmmmbz--mmmmbz--"  /* 10 */
                               "mmmmbz--mmmmbz--"  /* 20 */
                               "mmmmbz--mmmmbz--"  /* 30 */
                               "----------------"  /* 40 */
                               "................"  /* 50 */
                               "---m----zZbMxxxx"  /* 60 */
                               "!!!!!!!!!!!!!!!!"  /* 70 */
                               "MZ-Mmmmmmmmmmmx!"  /* 80 */
                               "..........-..x.."  /* 90 */
                               "oooo....bz......"  /* a0 */
                               "bbbbbbbbvvvvvvvv"  /* b0 */
                               "MM!!--!!e.xxxxxx"  /* c0 */
                               "mmmm---.mmmmmmmm"  /* d0 */
                               "!!!!xxxx!!-!xxxx"  /* e0 */
                               "-x--x.!!..xx..!!"; /* f0 */

static const char two_bytes[] = "xxxx-!xxxxxx-mxx"  /* 0f 00 */
                                "mmmmmmmmmmmmmmmm"  /* 10 */
                                "xxxxxxxxmmmmmmmm"  /* 20 */
                                "x.xxxx-x--------"  /* 30 */
                                "mmmmmmmmmmmmmmmm"  /* 40 */
                                "mmmmmmmmmmmmmmmm"  /* 50 */
                                "mmmmmmmmmmmmmmmm"  /* 60 */
                                "MMMMmmm.xx--mmmm"  /* 70 */
                                "!!!!!!!!!!!!!!!!"  /* 80 */
                                "mmmmmmmmmmmmmmmm"  /* 90 */
                                ".x.mMmxx.xxmMm!m"  /* a0 */
                                "mmxmxxmm!xMmmmmm"  /* b0 */
                                "mmMmMMM!........"  /* c0 */
                                "mmmmmmmmmmmmmmmm"  /* d0 */
                                "mmmmmmmmmmmmmmmm"  /* e0 */
                                "mmmmmmmmmmmmmmmx"; /* f0 */

/* Opcodes that read a memory operand into a register, or compare it with one: a bit for each of a
 * row. */
static const uint16_t loads_one_byte[16] = {
    0x0c0c, 0x0c0c, 0x0c0c, 0x0f0c, 0, 0, 1 << 3 | 1 << 9 | 1 << 11, 0, 0x0c30};
static const uint16_t loads_two_bytes[16] = {
    [1] = 1 << 0 | 1 << 2 | 1 << 6, [2] = 1 << 8, [4] = 0xffff, [6] = 1 << 14 | 1 << 15,
    [10] = 1 << 15, [11] = 0xc0c0};

enum { MAP_5 = 5, MAP_6 };

struct reader {
    struct pgbr_insn *insn;
    const uint8_t *bytes;
    size_t at, n;
    uint8_t rex; /* or its bits, inverted ones of VEX put right */
    bool word, short_address, segment, repeat, repeat_not, vector;
    uint8_t opcode, modrm;
    struct pgbr_form form;
};

static int next(struct reader *r)
{
    return r->at < r->n ? r->bytes[r->at++] : -1;
}

static int64_t number(struct reader *r, size_t size)
{
    u64 v = 0;
    if (r->n - r->at < size) {
        r->at = r->n + 1;
        return 0;
    }
    for (size_t i = 0; i < size; i++)
        v |= (u64)r->bytes[r->at + i] << 8 * i;
    r->at += size;
    return size == 8 ? (int64_t)v : (int64_t)(v << (64 - 8 * size)) >> (64 - 8 * size);
}

static uint8_t reg_field(const struct reader *r)
{
    return (uint8_t)((r->modrm >> 3 & 7) | (r->rex & 4) << 1);
}

static bool in_register(const struct reader *r)
{
    return r->modrm >> 6 == 3;
}

static void use(struct reader *r, uint8_t reg)
{
    if (reg < 8)
        r->insn->used |= (uint8_t)(1 << reg);
}

/* ModRM, SIB and displacement. */
static bool operand(struct reader *r)
{
    struct pgbr_insn *i = r->insn;
    int sib = -1, modrm = next(r);
    if (modrm < 0)
        return false;
    i->modrm_at = (uint8_t)(r->at - 1);
    r->modrm = (uint8_t)modrm;
    use(r, reg_field(r));
    i->base = i->index = i->reg = PGBR_NONE;
    const uint8_t mod = r->modrm >> 6, rm = r->modrm & 7;
    if (mod == 3) {
        i->reg = (uint8_t)(rm | (r->rex & 1) << 3);
        return true;
    }
    if (rm == 4) {
        if ((sib = next(r)) < 0)
            return false;
        i->scale = (uint8_t)(1 << (sib >> 6));
        const uint8_t index = (uint8_t)((sib >> 3 & 7) | (r->rex & 2) << 2);
        i->index = index == 4 ? PGBR_NONE : index;
    }
    const uint8_t low = sib < 0 ? rm : (uint8_t)(sib & 7);
    i->disp_at = (uint8_t)r->at;
    i->beside = !mod && rm == 5;
    if (!(mod == 0 && low == 5))
        i->base = (uint8_t)(low | (r->rex & 1) << 3);
    if (mod == 1 || mod == 2 || low == 5)
        i->disp = mod == 1 ? number(r, 1) : mod == 2 || !mod ? number(r, 4) : 0;
    return r->at <= r->n;
}

/* Calls and jumps without a prefix that gives them another meaning on some processor. */
static void branch(struct reader *r, enum pgbr_kind kind, size_t size)
{
    struct pgbr_insn *i = r->insn;
    i->target = number(r, size);
    i->kind = r->word && !(r->rex & 8) ? PGBR_SPECIAL : kind;
    i->code = r->opcode & 15;
}

static enum pgbr_kind indirect(struct reader *r)
{
    const uint8_t what = r->modrm >> 3 & 7;
    if (what < 2 || what == 6)
        return PGBR_COPY;
    if (what == 7)
        return PGBR_UNKNOWN;
    if (what == 3 || what == 5 || r->segment || r->short_address || r->word)
        return PGBR_SPECIAL;
    return what == 2 ? PGBR_CALL_TO : PGBR_JUMP_TO;
}

/* The letter ! of the first map. */
static bool ask_one_byte(struct reader *r)
{
    struct pgbr_insn *i = r->insn;
    const uint8_t op = r->opcode;
    if (op >= 0x70 && op < 0x80) {
        branch(r, PGBR_COND, 1);
    } else if (op >= 0xe0 && op < 0xe4) {
        branch(r, r->short_address ? PGBR_SPECIAL : PGBR_LOOP, 1);
    } else if (op == 0xe8 || op == 0xe9) {
        branch(r, op == 0xe8 ? PGBR_CALL : PGBR_JUMP, 4);
    } else if (op == 0xeb) {
        branch(r, PGBR_JUMP, 1);
    } else if (op == 0xc2 || op == 0xc3) {
        i->target = op == 0xc2 ? number(r, 2) & 0xffff : 0;
        i->kind = r->word ? PGBR_SPECIAL : PGBR_RETURN;
    } else if (!operand(r)) {
        return false;
    } else if (op == 0xff) {
        i->kind = indirect(r);
    } else if (op == 0xfe) {
        i->kind = (r->modrm >> 3 & 7) < 2 ? PGBR_COPY : PGBR_UNKNOWN;
    } else if (op == 0x8f) { /* else XOP */
        i->kind = r->modrm >> 3 & 7 ? PGBR_UNKNOWN : PGBR_COPY;
    } else if (op == 0xc6 || op == 0xc7) {
        number(r, op == 0xc6 ? 1 : r->word && !(r->rex & 8) ? 2 : 4);
        i->kind = r->modrm == 0xf8 ? PGBR_SPECIAL : r->modrm >> 3 & 7 ? PGBR_UNKNOWN : PGBR_COPY;
    } else if ((r->modrm >> 3 & 7) < 2) { /* f6, f7: test */
        number(r, op == 0xf6 ? 1 : r->word && !(r->rex & 8) ? 2 : 4);
    }
    return r->at <= r->n;
}

/* Fences and states of the processor; those that change what a segment or a shadow stack is are
 * left in their place. */
static enum pgbr_kind group_15(const struct reader *r)
{
    const uint8_t what = r->modrm >> 3 & 7;
    if (r->repeat)
        return in_register(r) && what < 2 ? PGBR_COPY : PGBR_SPECIAL;
    return r->repeat_not ? PGBR_SPECIAL : PGBR_COPY;
}

/* Compare and exchange, saved states, random numbers. */
static enum pgbr_kind group_9(const struct reader *r)
{
    const uint8_t what = r->modrm >> 3 & 7;
    const bool ok = in_register(r) ? what >= 6 : what == 1 || what == 4;
    return ok ? PGBR_COPY : PGBR_SPECIAL;
}

/* The letter ! of the second map. */
static bool ask_two_bytes(struct reader *r)
{
    struct pgbr_insn *i = r->insn;
    const uint8_t op = r->opcode;
    if (op == 0x05)
        i->kind = PGBR_SYSTEM;
    else if (op >= 0x80 && op < 0x90)
        branch(r, PGBR_COND, 4);
    else if (!operand(r))
        return false;
    else if (op == 0xae)
        i->kind = group_15(r);
    else if (op == 0xc7)
        i->kind = group_9(r);
    else if (op == 0xb8)
        i->kind = r->repeat ? PGBR_COPY : PGBR_UNKNOWN;
    return r->at <= r->n;
}

static bool by_letter(struct reader *r, char letter)
{
    const size_t z = r->word && !(r->rex & 8) ? 2 : 4;
    switch (letter) {
    case '.': return true;
    case 'm': return operand(r);
    case 'M': return operand(r) && (number(r, 1), r->at <= r->n);
    case 'Z': return operand(r) && (number(r, z), r->at <= r->n);
    case 'b': number(r, 1); break;
    case 'z': number(r, z); break;
    case 'v': number(r, r->rex & 8 ? 8 : z); break;
    case 'o': number(r, r->short_address ? 4 : 8); break;
    case 'e': number(r, 3); break;
    case 'x': r->insn->kind = PGBR_SPECIAL; break;
    default: return false;
    }
    return r->at <= r->n;
}

/* Reads the time; all else of this opcode is for systems and transactions. */
static bool is_time(struct reader *r)
{
    return r->at < r->n && (r->bytes[r->at] == 0xf9 || r->bytes[r->at] == 0xd0) && ++r->at;
}

static bool opcode_0f(struct reader *r)
{
    int op = next(r);
    if (op < 0)
        return false;
    if (op == 0x38 || op == 0x3a) {
        const int third = next(r);
        if (third < 0)
            return false;
        /* Invalidation, shadow stacks, stores that name a register as address. */
        if (op == 0x38 && ((third >= 0x80 && third < 0x83) || third == 0xf5 ||
                           (third == 0xf6 && !r->word && !r->repeat) || third == 0xf8 ||
                           third == 0xf9))
            r->insn->kind = PGBR_SPECIAL;
        r->form.map = op == 0x38 ? PGBR_MAP_0F38 : PGBR_MAP_0F3A;
        r->form.opcode = (uint8_t)third;
        return by_letter(r, op == 0x38 ? 'm' : 'M');
    }
    r->opcode = r->form.opcode = (uint8_t)op;
    r->form.map = PGBR_MAP_0F;
    if (op == 0x01 && is_time(r))
        return true;
    return two_bytes[op] == '!' ? ask_two_bytes(r) : by_letter(r, two_bytes[op]);
}

/* VEX and EVEX. Each opcode has a ModRM but vzeroupper; those of the third map have 8 bits more. */
static bool vector(struct reader *r, unsigned map)
{
    const int op = next(r);
    if (op < 0 || map < PGBR_MAP_0F || map == 4 || map > MAP_6)
        return false;
    r->opcode = r->form.opcode = (uint8_t)op;
    r->form.map = (uint8_t)map;
    if (map == PGBR_MAP_0F && op == 0x77)
        return true;
    const bool more = map == PGBR_MAP_0F3A ||
                      (map == PGBR_MAP_0F &&
                       ((op >= 0x70 && op <= 0x73) || op == 0xc2 || (op >= 0xc4 && op <= 0xc6)));
    return by_letter(r, more ? 'M' : 'm');
}

/* Of an early processor with wide vectors; others do not have it. */
static bool is_branch_on_mask(uint8_t op, int kind)
{
    return op == 0x84 || op == 0x85 || ((op == 0x74 || op == 0x75) && !kind);
}

static bool opcode_vex(struct reader *r, uint8_t first)
{
    unsigned map = PGBR_MAP_0F;
    const int one = next(r), two = first == 0xc4 ? next(r) : one;
    if (one < 0 || two < 0 || r->rex || r->word || r->repeat || r->repeat_not)
        return false;
    r->rex = (uint8_t)((one & 0x80) ? 0 : 4);
    if (first == 0xc4) {
        r->rex = (uint8_t)(~one >> 5 & 7);
        map = one & 31;
    }
    use(r, (uint8_t)(~two >> 3 & 15));
    r->form = (struct pgbr_form){.kind = PGBR_FORM_VEX,
                                 .prefix = two & 3,
                                 .longer = two >> 2 & 1,
                                 .wide = first == 0xc4 && two & 0x80};
    if (map == PGBR_MAP_0F && r->at < r->n && is_branch_on_mask(r->bytes[r->at], two & 3))
        return false;
    return map <= PGBR_MAP_0F3A && vector(r, map);
}

static bool opcode_evex(struct reader *r)
{
    const int one = next(r), two = next(r), three = next(r);
    if (three < 0 || r->rex || r->word || r->repeat || r->repeat_not || one & 8 || !(two & 4))
        return false;
    r->rex = (uint8_t)(~one >> 5 & 7);
    use(r, (uint8_t)(~two >> 3 & 15));
    r->form = (struct pgbr_form){.kind = PGBR_FORM_EVEX,
                                 .prefix = two & 3,
                                 .longer = three >> 5 & 3,
                                 .wide = two & 0x80,
                                 .broadcast = three & 0x10};
    return vector(r, one & 7);
}

/* Prefixes, of which a REX counts only as the last one. */
static int prefixes(struct reader *r)
{
    for (;;) {
        const int c = next(r);
        switch (c) {
        case 0x66: r->word = true; break;
        case 0x67: r->short_address = true; break;
        case 0xf2: r->repeat_not = true; break;
        case 0xf3: r->repeat = true; break;
        case 0x64: case 0x65: r->segment = true; break;
        case 0x26: case 0x2e: case 0x36: case 0x3e: case 0xf0: break;
        default:
            if (c < 0 || (c & 0xf0) != 0x40)
                return c;
            r->rex = (uint8_t)c;
            r->insn->has_prefix = true;
            r->insn->prefix_at = (uint8_t)(r->at - 1);
            return next(r);
        }
    }
}

/* Addresses of segments and of 32 bits are not those of data of modules. */
static bool is_load(const struct reader *r, bool two)
{
    const uint16_t *rows = two ? loads_two_bytes : loads_one_byte;
    const bool push = !two && r->opcode == 0xff && (r->modrm >> 3 & 7) == 6;
    return r->insn->modrm_at && !in_register(r) && !r->segment && !r->short_address &&
           (push || rows[r->opcode >> 4] >> (r->opcode & 15) & 1);
}

/* Sizes and directions of what it accesses. A displacement of 8 bits of EVEX counts operands. */
static void find_operand(struct reader *r)
{
    struct pgbr_insn *i = r->insn;
    const bool own = r->segment || r->short_address;
    r->form.reg = r->modrm >> 3 & 7;
    if (r->form.kind == PGBR_FORM_PLAIN) {
        r->form.word = r->word;
        r->form.wide = r->rex & 8;
        r->form.prefix = r->repeat ? 2 : r->repeat_not ? 3 : r->word;
    }
    if (i->kind != PGBR_COPY || own || (r->repeat && r->repeat_not))
        return;
    if (r->form.map == PGBR_MAP_ONE)
        i->string = pgbr_string_of(r->opcode);
    if (!i->modrm_at || in_register(r))
        return;
    pgbr_operand(i, &r->form);
    if (r->form.kind == PGBR_FORM_EVEX && r->modrm >> 6 == 1)
        i->disp *= i->bytes;
}

void pgbr_decode(struct pgbr_insn *insn, const uint8_t *bytes, size_t n)
{
    struct reader r = {.insn = insn, .bytes = bytes, .n = n < PGBR_INSN_MAX ? n : PGBR_INSN_MAX};
    *insn = (struct pgbr_insn){.base = PGBR_NONE, .index = PGBR_NONE, .reg = PGBR_NONE};
    const int op = prefixes(&r);
    bool known = op >= 0;
    r.opcode = r.form.opcode = (uint8_t)op;
    if (known && (op == 0xc4 || op == 0xc5 || op == 0x62)) {
        insn->prefix_at = (uint8_t)(r.at - 1);
        insn->has_prefix = true;
        known = op == 0x62 ? opcode_evex(&r) : opcode_vex(&r, (uint8_t)op);
    } else if (known && op == 0x0f) {
        known = opcode_0f(&r);
        insn->loads = r.opcode != 0x0f && is_load(&r, true);
    } else if (known) {
        known = one_byte[op] == '!' ? ask_one_byte(&r) : by_letter(&r, one_byte[op]);
        insn->loads = is_load(&r, false);
    }
    if (!known || r.at > r.n)
        insn->kind = PGBR_UNKNOWN;
    insn->length = insn->kind == PGBR_UNKNOWN ? 0 : (uint8_t)r.at;
    find_operand(&r);
    if (insn->beside && (r.short_address || r.segment) && insn->kind == PGBR_COPY)
        insn->kind = PGBR_SPECIAL;
}
