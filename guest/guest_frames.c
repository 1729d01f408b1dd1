/* Rules for leaving a frame: reads the unwind tables that compilers write (.eh_frame), found
 * through the sorted index that linkers make of them (.eh_frame_hdr), and reduces them to one word
 * per return address, which is kept. No lock, no memory, no call that takes one: the module of an
 * address comes from _dl_find_object, which is made for unwinding from anywhere. */
#include "guest_frames.h"

#include "guest_memory.h"
#include "guest_modules.h"
#include "guest_processor.h"
#include "guest_sys.h"

#include <dlfcn.h>

u32 pgg_frames_epoch = 1;
__attribute__((aligned(64)))
struct pgg_rule_slot pgg_rules[1 << (64 - PGG_RULES_SHIFT)][PGG_RULE_WAYS];

enum { OP_DEREF = 0x06, OP_PLUS_UCONST = 0x23, OP_BREG0 = 0x70 };
enum { ENC_OMIT = 0xff, ENC_PCREL = 0x10, ENC_DATAREL = 0x30 };

/* Bytes of a table; past the end everything is 0 and `bad` stays set. */
struct bytes {
    const uint8_t *at, *end;
    bool bad;
};

static u64 fixed(struct bytes *b, unsigned size, bool is_signed)
{
    u64 v = 0;
    if ((size_t)(b->end - b->at) < size) {
        b->bad = true;
        return 0;
    }
    for (unsigned i = 0; i < size; i++)
        v |= (u64)b->at[i] << (8 * i);
    b->at += size;
    if (is_signed && size < 8 && v >> (8 * size - 1))
        v |= ~UINT64_C(0) << (8 * size);
    return v;
}

static u64 leb(struct bytes *b, bool is_signed)
{
    u64 v = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        u64 byte = fixed(b, 1, false);
        if (shift < 64)
            v |= (byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (is_signed && byte & 0x40 && shift + 7 < 64)
            v |= ~UINT64_C(0) << (shift + 7);
        return v;
    }
    b->bad = true;
    return 0;
}

static u64 uleb(struct bytes *b)
{
    return leb(b, false);
}

static int64_t sleb(struct bytes *b)
{
    return (int64_t)leb(b, true);
}

/* An encoded pointer; `data` is what "relative to the data" means. */
static u64 pointer(struct bytes *b, uint8_t encoding, u64 data)
{
    u64 base = 0, v;
    switch (encoding & 0x70) {
    case 0: break;
    case ENC_PCREL: base = (u64)b->at; break;
    case ENC_DATAREL: base = data; break;
    default: b->bad = true;
    }
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c: v = fixed(b, 8, false); break;
    case 0x01: v = uleb(b); break;
    case 0x02: v = fixed(b, 2, false); break;
    case 0x03: v = fixed(b, 4, false); break;
    case 0x09: v = (u64)sleb(b); break;
    case 0x0a: v = fixed(b, 2, true); break;
    case 0x0b: v = fixed(b, 4, true); break;
    default: b->bad = true; v = 0;
    }
    return base + v;
}

static struct bytes rest(const uint8_t *at, const uint8_t *end)
{
    return (struct bytes){at, end, at > end};
}

/* The description of the function that pc may be in, by bisection; NULL without one. */
static const uint8_t *find_description(const struct dl_find_object *module, u64 pc)
{
    enum { ROW_DATAREL_INT32 = 0x3b };
    const uint8_t *index = module->dlfo_eh_frame, *end = module->dlfo_map_end;
    struct bytes b = rest(index, end);
    if (fixed(&b, 1, false) != 1)
        return NULL;
    uint8_t to_frames = (uint8_t)fixed(&b, 1, false), of_count = (uint8_t)fixed(&b, 1, false),
            of_rows = (uint8_t)fixed(&b, 1, false);
    if (of_count == ENC_OMIT || of_rows != ROW_DATAREL_INT32)
        return NULL;
    pointer(&b, to_frames, (u64)index);
    u64 count = pointer(&b, of_count, (u64)index);
    if (b.bad || !count || count > (u64)(b.end - b.at) / 8)
        return NULL;
    const int32_t *rows = (const int32_t *)(const void *)b.at;
    int64_t wanted = (int64_t)(pc - (u64)index);
    if (wanted < rows[0])
        return NULL;
    u64 low = 0; /* the last row at or below pc is in [low, count) */
    while (count - low > 1) {
        u64 middle = low + (count - low) / 2;
        if (rows[2 * middle] <= wanted)
            low = middle;
        else
            count = middle;
    }
    return index + rows[2 * low + 1];
}

/* The rule for a register's value in the caller. */
struct saved {
    enum { SAVED_SAME, SAVED_AT_CFA, SAVED_AT_BP, SAVED_UNDEFINED, SAVED_OTHER } how;
    int64_t off;
};

struct row {
    enum pgg_cfa cfa; /* FRAME_POINTER: in a form that cannot be kept */
    int64_t cfa_off, plus;
    struct saved bp, ra;
};

struct program {
    u64 code_align, ra_register;
    int64_t data_align;
    uint8_t pointers; /* their encoding */
    bool has_length, is_signal;
    u64 start, pc;
    struct row now, initial, stack[8];
    unsigned depth;
};

static struct saved *saved(struct program *p, u64 reg)
{
    return reg == PGG_DWARF_FP ? &p->now.bp : reg == PGG_DWARF_RA ? &p->now.ra : NULL;
}

static void save(struct program *p, u64 reg, int how, int64_t off)
{
    struct saved *s = saved(p, reg);
    if (s) {
        s->how = how;
        s->off = off;
    }
}

static void restore(struct program *p, u64 reg)
{
    if (reg == PGG_DWARF_FP)
        p->now.bp = p->initial.bp;
    else if (reg == PGG_DWARF_RA)
        p->now.ra = p->initial.ra;
}

static void set_cfa(struct program *p, u64 reg, int64_t off)
{
    p->now.cfa = reg == PGG_DWARF_SP   ? PGG_CFA_SP
                 : reg == PGG_DWARF_FP ? PGG_CFA_BP
                                 : PGG_CFA_FRAME_POINTER;
    p->now.cfa_off = off;
    p->now.plus = 0;
}

static struct bytes block(struct bytes *b)
{
    u64 n = uleb(b);
    if (n > (u64)(b->end - b->at)) {
        b->bad = true;
        n = 0;
    }
    struct bytes inside = rest(b->at, b->at + n);
    b->at += n;
    return inside;
}

/* breg N; deref; maybe plus a constant: where stacks are realigned. */
static void set_cfa_expression(struct program *p, struct bytes e)
{
    u64 reg = fixed(&e, 1, false) - OP_BREG0;
    int64_t off = sleb(&e);
    p->now.cfa = PGG_CFA_FRAME_POINTER;
    if (fixed(&e, 1, false) != OP_DEREF || e.bad || (reg != PGG_DWARF_SP && reg != PGG_DWARF_FP))
        return;
    p->now.plus = 0;
    if (e.at < e.end && fixed(&e, 1, false) == OP_PLUS_UCONST)
        p->now.plus = (int64_t)uleb(&e);
    if (e.at != e.end || e.bad)
        return;
    p->now.cfa = reg == PGG_DWARF_SP ? PGG_CFA_AT_SP : PGG_CFA_AT_BP;
    p->now.cfa_off = off;
}

/* A register kept at rbp plus something, the other form of describing such frames. */
static void save_expression(struct program *p, u64 reg, struct bytes e)
{
    bool of_bp = fixed(&e, 1, false) == OP_BREG0 + PGG_DWARF_FP;
    int64_t off = sleb(&e);
    save(p, reg, of_bp && e.at == e.end && !e.bad ? SAVED_AT_BP : SAVED_OTHER, off);
}

/* False if more states are remembered than the stack holds. */
static bool remember_state(struct program *p)
{
    if (p->depth == sizeof p->stack / sizeof *p->stack)
        return false;
    p->stack[p->depth++] = p->now;
    return true;
}

/* False if no state is left. */
static bool restore_state(struct program *p)
{
    if (!p->depth)
        return false;
    p->now = p->stack[--p->depth];
    return true;
}

/* One instruction with operands of its own; false: it is unknown. */
static bool execute_extended(struct program *p, struct bytes *b, uint8_t op, u64 *at)
{
    u64 reg;
    switch (op) {
    case 0x00: return true;                                               /* nop */
    case 0x01: *at = pointer(b, p->pointers, 0); return true;              /* set_loc */
    case 0x02: *at += fixed(b, 1, false) * p->code_align; return true;     /* advance_loc1 */
    case 0x03: *at += fixed(b, 2, false) * p->code_align; return true;     /* advance_loc2 */
    case 0x04: *at += fixed(b, 4, false) * p->code_align; return true;     /* advance_loc4 */
    case 0x05:                                                            /* offset_extended */
        reg = uleb(b);
        save(p, reg, SAVED_AT_CFA, (int64_t)uleb(b) * p->data_align);
        return true;
    case 0x06: restore(p, uleb(b)); return true;                           /* restore_extended */
    case 0x07: save(p, uleb(b), SAVED_UNDEFINED, 0); return true;          /* undefined */
    case 0x08: save(p, uleb(b), SAVED_SAME, 0); return true;               /* same_value */
    case 0x09:                                                            /* register */
        save(p, uleb(b), SAVED_OTHER, 0);
        uleb(b);
        return true;
    case 0x0a: return remember_state(p);
    case 0x0b: return restore_state(p);
    case 0x0c:                                                            /* def_cfa */
        reg = uleb(b);
        set_cfa(p, reg, (int64_t)uleb(b));
        return true;
    case 0x0d: set_cfa(p, uleb(b), p->now.cfa_off); return true;           /* def_cfa_register */
    case 0x0e: p->now.cfa_off = (int64_t)uleb(b); return true;             /* def_cfa_offset */
    case 0x0f: set_cfa_expression(p, block(b)); return true;
    case 0x10:                                                            /* expression */
        reg = uleb(b);
        save_expression(p, reg, block(b));
        return true;
    case 0x11:                                                            /* offset_extended_sf */
        reg = uleb(b);
        save(p, reg, SAVED_AT_CFA, sleb(b) * p->data_align);
        return true;
    case 0x12:                                                            /* def_cfa_sf */
        reg = uleb(b);
        set_cfa(p, reg, sleb(b) * p->data_align);
        return true;
    case 0x13: p->now.cfa_off = sleb(b) * p->data_align; return true;      /* def_cfa_offset_sf */
    case 0x14:                                                            /* val_offset, _sf */
    case 0x15:
        save(p, uleb(b), SAVED_OTHER, 0);
        uleb(b);
        return true;
    case 0x16:                                                            /* val_expression */
        save(p, uleb(b), SAVED_OTHER, 0);
        block(b);
        return true;
    case 0x2e: uleb(b); return true;                                       /* GNU_args_size */
    default: return pgg_dwarf_signs(op);
    }
}

/* Instructions up to the row of pc; false when one is unknown. */
static bool execute(struct program *p, struct bytes b)
{
    u64 at = p->start;
    while (b.at < b.end && at <= p->pc && !b.bad) {
        uint8_t byte = (uint8_t)fixed(&b, 1, false), low = byte & 0x3f;
        switch (byte >> 6) {
        case 1: at += low * p->code_align; break;
        case 2: save(p, low, SAVED_AT_CFA, (int64_t)uleb(&b) * p->data_align); break;
        case 3: restore(p, low); break;
        default:
            if (!execute_extended(p, &b, low, &at))
                return false;
        }
    }
    return !b.bad;
}

/* The common part (CIE) of the functions of a compilation. */
static bool read_common(struct program *p, struct bytes b, struct bytes *instructions)
{
    u64 length = fixed(&b, 4, false);
    if (b.bad || length > (u64)(b.end - b.at))
        return false;
    b.end = b.at + length;
    uint64_t id = fixed(&b, 4, false), version = fixed(&b, 1, false);
    const char *letters = (const char *)b.at;
    while (fixed(&b, 1, false))
        continue;
    p->code_align = uleb(&b);
    p->data_align = sleb(&b);
    p->ra_register = version == 1 ? fixed(&b, 1, false) : uleb(&b);
    if (b.bad || id || (version != 1 && version != 3) || p->ra_register != PGG_DWARF_RA)
        return false;
    p->pointers = 0;
    p->has_length = *letters == 'z';
    if (p->has_length) {
        struct bytes extra = block(&b);
        while (*++letters) {
            uint8_t encoding;
            switch (*letters) {
            case 'R': p->pointers = (uint8_t)fixed(&extra, 1, false); break;
            case 'L': fixed(&extra, 1, false); break;
            case 'S': p->is_signal = true; break;
            case 'B': /* which key signs return addresses */
            case 'G': break; /* memory of the stack is tagged */
            case 'P':
                encoding = (uint8_t)fixed(&extra, 1, false);
                pointer(&extra, encoding & 0x0f, 0);
                break;
            default: return false;
            }
        }
        if (extra.bad)
            return false;
    } else if (*letters) {
        return false;
    }
    *instructions = b;
    return !b.bad;
}

/* A row as a rule, if it is one of those that there are. */
static struct pgg_rule rule_of(const struct program *p)
{
    const struct row *row = &p->now;
    struct pgg_rule rule = {.cfa = row->cfa};
    const u32 bp = row->bp.how == SAVED_SAME     ? PGG_BP_SAME
                   : row->bp.how == SAVED_AT_CFA ? PGG_BP_AT_CFA
                   : row->bp.how == SAVED_AT_BP  ? PGG_BP_AT_BP
                                                 : PGG_BP_LOST;
    if (p->is_signal)
        return (struct pgg_rule){.cfa = PGG_CFA_SIGNAL};
    if (row->ra.how == SAVED_UNDEFINED)
        return (struct pgg_rule){.cfa = PGG_CFA_END};
    if ((row->ra.how != SAVED_AT_CFA && row->ra.how != SAVED_SAME) ||
        row->cfa == PGG_CFA_FRAME_POINTER ||
        !pgg_rule_keep(&rule, row->cfa_off, row->plus, bp, row->bp.off,
                       row->ra.how == SAVED_AT_CFA, row->ra.off))
        return pgg_rule_make(PGG_CFA_FRAME_POINTER, 0, PGG_BP_AT_BP, 0);
    return rule;
}

/* The kernel's code that a signal handler returns to has no tables if the dynamic linker does not
 * know it. The address may be anything: a word of a stack that was mistaken for one. */
static bool returns_from_signal(u64 pc)
{
    const u64 code = pc + 1, page = code & ~(u64)(pgg_page() - 1);
    unsigned char in_core[PGG_PAGE_MOST / PGG_PAGE];
    return PGG_SIGNAL_RETURN_BYTES && code % sizeof(u32) == 0 && !pgg_confined &&
           code + PGG_SIGNAL_RETURN_BYTES <= page + pgg_page() &&
           pgg_sys_in_core((const void *)page, pgg_page(), in_core) == 0 &&
           pgg_is_signal_return((const u32 *)code);
}

/* For a program with holes between its segments, which are aligned to more than a page, the dynamic
 * linker reports only the segment that the code is in. */
static void find_whole_module(u64 pc, struct dl_find_object *module)
{
    const char *table = module->dlfo_eh_frame;
    struct pgg_module whole;
    if ((table < (const char *)module->dlfo_map_start ||
         table >= (const char *)module->dlfo_map_end) && pgg_module_at(pc, &whole)) {
        module->dlfo_map_start = (void *)(uintptr_t)whole.mapped;
        module->dlfo_map_end = (void *)(uintptr_t)whole.end;
    }
}

struct pgg_rule pgg_rule_find(u64 pc)
{
    const struct pgg_rule none = pgg_rule_make(PGG_CFA_FRAME_POINTER, 0, PGG_BP_AT_BP, 0);
    struct dl_find_object module;
    struct program p = {.now = {.cfa = PGG_CFA_FRAME_POINTER}, .pc = pc};
    if (returns_from_signal(pc))
        return (struct pgg_rule){.cfa = PGG_CFA_SIGNAL};
    if (_dl_find_object((void *)pc, &module) || !module.dlfo_eh_frame)
        return none;
    find_whole_module(pc, &module);
    const uint8_t *first = module.dlfo_map_start, *end = module.dlfo_map_end;
    const uint8_t *description = find_description(&module, pc);
    if (!description || description < first || description >= end)
        return none;
    struct bytes b = rest(description, end), common;
    u64 length = fixed(&b, 4, false);
    if (b.bad || length > (u64)(b.end - b.at))
        return none;
    b.end = b.at + length;
    const uint8_t *here = b.at, *parent = here - fixed(&b, 4, false);
    if (parent < first || parent >= end || !read_common(&p, rest(parent, end), &common))
        return none;
    p.start = pointer(&b, p.pointers, 0);
    u64 bytes = pointer(&b, p.pointers & 0x0f, 0);
    if (b.bad || pc - p.start >= bytes)
        return none;
    if (p.has_length)
        block(&b);
    if (!execute(&p, common))
        return none;
    p.initial = p.now;
    return execute(&p, b) ? rule_of(&p) : none;
}

static void keep_rule(struct pgg_rule_slot *slot, u64 pc, u64 rule)
{
    __atomic_store_n(&slot->rule, rule, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->pc_xor_rule, rule ^ pc, __ATOMIC_RELAXED);
}

/* In the place of each of the others in turn. */
PGG_COLD struct pgg_rule pgg_rule_miss(u64 pc)
{
    static u32 turn;
    union {
        struct pgg_rule rule;
        u64 word;
    } u = {pgg_rule_find(pc)};
    const u32 way = __atomic_fetch_add(&turn, 1, __ATOMIC_RELAXED) % PGG_RULE_WAYS;
    keep_rule(&pgg_rule_slots(pc)[way], pc, u.word);
    return u.rule;
}

void pgg_frames_forget(void)
{
    for (size_t i = 0; i < sizeof pgg_rules / sizeof **pgg_rules; i++)
        keep_rule(&pgg_rules[0][i], 0, 0);
    __atomic_fetch_add(&pgg_frames_epoch, 1, __ATOMIC_RELAXED);
}

void pgg_frames_ready(void)
{
    pgg_modules_ready = true;
    __atomic_fetch_add(&pgg_frames_epoch, 1, __ATOMIC_RELAXED);
}
