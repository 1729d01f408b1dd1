/* At the end of each copy of code: does what the program's branch does, notes it, and finds the
 * copy that goes on. A load or store of the program's memory here may fault: until it has been
 * made, x->at and the registers are those before the branch, which then runs in its own place. */
#include "guest_calls.h"
#include "recorder_counting.h"
#include "recorder_modules.h"
#include "recorder_options.h"
#include "recorder_take.h"
#include "recorder_thread.h"

enum { RCX = 1, RSP = 4, LOOPNE = 0, LOOPE = 1, JRCXZ = 3 };

static bool holds(u64 flags, u32 condition)
{
    const bool carry = flags & 1, parity = flags >> 2 & 1, zero = flags >> 6 & 1,
               sign = flags >> 7 & 1, overflow = flags >> 11 & 1;
    bool is = false;
    switch (condition >> 1) {
    case 0:
        is = overflow;
        break;
    case 1:
        is = carry;
        break;
    case 2:
        is = zero;
        break;
    case 3:
        is = carry || zero;
        break;
    case 4:
        is = sign;
        break;
    case 5:
        is = parity;
        break;
    case 6:
        is = sign != overflow;
        break;
    case 7:
        is = zero || sign != overflow;
        break;
    }
    return is != (condition & 1);
}

static bool loops(struct pgbr_engine *x, u32 kind)
{
    const bool zero = x->flags >> 6 & 1;
    if (kind == JRCXZ)
        return !x->regs[RCX];
    x->regs[RCX]--;
    return x->regs[RCX] && !(kind == LOOPNE && zero) && !(kind == LOOPE && !zero);
}

static u64 load(u64 at)
{
    const u64 value = *(const volatile u64 *)at;
    pgg_compiler_barrier();
    return value;
}

/* An address in no module is in a heap object or on a stack. */
static void note_load(struct pgbr_engine *x, u64 pc, u64 addr)
{
    if (x->loads_n < PGBR_LOADS_MAX && pgbr_module_of_data(addr))
        x->loads[x->loads_n++] = (struct pgbr_load){pc, addr, x->n};
}

static void note_loads(struct pgbr_engine *x, const struct pgbr_block *b)
{
    u64 pc = b->pc;
    for (u32 i = 0; i < b->insns; i++) {
        if (b->length[i].note)
            note_load(x, pc, x->addresses[i]);
        pc += b->length[i].from;
    }
}

static u64 indirect_target(struct pgbr_engine *x, const struct pgbr_block *b)
{
    const struct pgbr_insn *i = &b->branch;
    if (i->reg != PGBR_NONE)
        return x->regs[i->reg];
    u64 at = (u64)i->disp + (i->beside ? b->next : 0);
    if (i->base != PGBR_NONE)
        at += x->regs[i->base];
    if (i->index != PGBR_NONE)
        at += x->regs[i->index] * i->scale;
    const u64 target = load(at);
    if (pgbr_options.loads)
        note_load(x, b->last, at);
    pgbr_take_load(x, at);
    return target;
}

static void call(struct pgbr_engine *x, const struct pgbr_block *b)
{
    const u64 at = x->regs[RSP] - sizeof(u64);
    *(volatile u64 *)at = b->next;
    pgg_compiler_barrier();
    x->regs[RSP] = at;
}

u64 pgbr_target_of(struct pgbr_engine *x, const struct pgbr_block *b, bool *taken)
{
    const struct pgbr_insn *i = &b->branch;
    u64 target = b->next + (u64)i->target;
    *taken = true;
    switch (i->kind) {
    case PGBR_COND:
        *taken = holds(x->flags, i->code);
        break;
    case PGBR_LOOP:
        *taken = loops(x, i->code);
        break;
    case PGBR_JUMP:
        break;
    case PGBR_CALL:
        call(x, b);
        break;
    case PGBR_JUMP_TO:
        target = indirect_target(x, b);
        break;
    case PGBR_CALL_TO:
        target = indirect_target(x, b);
        call(x, b);
        break;
    case PGBR_RETURN:
        target = load(x->regs[RSP]);
        x->regs[RSP] += sizeof(u64) + (u64)i->target;
        break;
    default:
        *taken = false;
        break; /* a block that is full */
    }
    return *taken ? target : b->next;
}

static u64 back_of(const struct pgbr_block *b)
{
    const uint8_t kind = b->branch.kind;
    return kind == PGBR_CALL || kind == PGBR_CALL_TO ? b->next
           : kind == PGBR_RETURN                     ? PGBR_RETURNED
                                                     : 0;
}

static enum pgk_branch_counter why_not(const struct pgbr_block *b)
{
    return b->branch.kind == PGBR_SYSTEM    ? PGK_BRANCH_SYSTEM_CALL
           : b->branch.kind == PGBR_SPECIAL ? PGK_BRANCH_SPECIAL
                                            : PGK_BRANCH_UNKNOWN;
}

/* ---- calls of the kernel ---- */

/* If calls that wait for nobody ended windows, code that comes after them would be seen less
 * often. */
void pgbr_make_call(struct pgbr_engine *x, const struct pgbr_block *b)
{
    enum { RDX = 2, RSI = 6, RDI = 7, R8 = 8, R9 = 9, R10 = 10, R11 = 11 };
    u64 *r = x->regs;
    const struct pgg_call call = {(long)r[0], {(long)r[RDI], (long)r[RSI], (long)r[RDX],
                                               (long)r[R10], (long)r[R8], (long)r[R9]}};
    if (!pgbr_options.stretch || b->branch.kind != PGBR_SYSTEM || b->source[b->bytes - 1] != 0x05 ||
        !pgg_call_is_quick(&call))
        pgbr_leave(x, why_not(b));
    r[0] = (u64)pgg_call_make(&call);
    r[RCX] = b->next;
    r[R11] = x->flags;
}

enum pgk_branch_counter pgbr_why_not_on(struct pgbr_engine *x)
{
    if (pgbr_is_own(x->at))
        return PGK_BRANCH_OWN_CODE;
    const struct pgbr_module *m = pgbr_module_of(x->at);
    switch (m ? m->code : PGBR_CODE_UNKNOWN) {
    case PGBR_CODE_KNOWN:
        return PGK_BRANCH_COUNTERS;
    case PGBR_CODE_RESTARTABLE:
        return PGK_BRANCH_RESTARTABLE;
    default:
        x->unknown_pc = x->at;
        return PGK_BRANCH_OTHER_CODE;
    }
}

u64 pgbr_go_on(struct pgbr_engine *x)
{
    const enum pgk_branch_counter why = pgbr_why_not_on(x);
    if (why != PGK_BRANCH_COUNTERS)
        pgbr_leave(x, why);
    return pgbr_code_at(x, x->at);
}

u64 pgbr_dispatch(struct pgbr_engine *x, struct pgbr_block *b)
{
    if (x->counts)
        return pgbr_count_on(x, b);
    x->at = b->last;
    x->steps += b->insns;
    if (pgbr_options.loads)
        note_loads(x, b);
    if (pgbr_accesses.take)
        pgbr_take_block(x, b);
    bool taken = false;
    if (b->branch.kind >= PGBR_SYSTEM)
        pgbr_make_call(x, b);
    const u64 target = pgbr_target_of(x, b, &taken);
    x->at = target;
    if (b->branch.kind != PGBR_COPY)
        x->steps++;
    if (taken) {
        x->branches[x->n++] = (struct pgbr_branch){b->last, target, back_of(b)};
        if (x->n == x->limit)
            pgbr_leave(x, PGK_BRANCH_FULL);
    }
    if (__atomic_load_n(&x->late, __ATOMIC_RELAXED))
        pgbr_leave(x, PGK_BRANCH_SIGNAL);
    if (x->restartable && *x->restartable)
        pgbr_leave(x, PGK_BRANCH_RESTARTABLE);
    if (x->steps >= x->steps_max || x->loads_n == PGBR_LOADS_MAX)
        pgbr_leave(x, PGK_BRANCH_LENGTH);
    return pgbr_go_on(x);
}

void pgbr_leave(struct pgbr_engine *x, enum pgk_branch_counter why)
{
    struct pgbr_thread *t = x->thread;
    x->ending = 1;
    pgg_compiler_barrier();
    pgbr_stub_leave(x, why, t->state, t->state_parts);
}
