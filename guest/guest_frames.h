/* Rules for leaving a frame, from the unwind tables: one word per return address, which is kept. */
#ifndef PGG_FRAMES_H
#define PGG_FRAMES_H

#include "guest.h"
#include "guest_processor.h"

#pragma GCC visibility push(hidden)

enum pgg_cfa {
    PGG_CFA_FRAME_POINTER = 1, /* no table knows: the frame pointer plus 16 */
    PGG_CFA_SP,                /* stack pointer plus cfa_off */
    PGG_CFA_BP,                /* frame pointer plus cfa_off */
    PGG_CFA_AT_SP,             /* what is at the stack pointer plus cfa_off, plus `plus` */
    PGG_CFA_AT_BP,             /* the same with the frame pointer */
    PGG_CFA_SIGNAL,            /* the kernel's frame: registers are in the context there */
    PGG_CFA_END,               /* no caller: the outermost function */
};
enum pgg_bp { PGG_BP_SAME = 0, PGG_BP_AT_CFA, PGG_BP_AT_BP, PGG_BP_LOST };
/* The CFA is the caller's stack pointer. The processor's header has the rule: its `cfa`, `cfa_off`
 * and `bp`, and where the return address is. */
_Static_assert(sizeof(struct pgg_rule) == sizeof(u64), "a rule is stored as one word");

/* The rule that most functions have, if there is one: the pair lies at the frame's end. */
PGG_INLINE bool pgg_rule_is_framed(struct pgg_rule rule)
{
    const struct pgg_rule framed = pgg_rule_make(PGG_CFA_BP, 16, PGG_BP_AT_CFA, -16);
    return PGG_RULE_FRAMED_IS && __builtin_memcmp(&rule, &framed, sizeof rule) == 0;
}

/* Goes up when rules may have changed: what was found with another one has to be found again. */
extern u32 pgg_frames_epoch;
void pgg_frames_ready(void);  /* the C library is set up: unwind tables can be looked up */
void pgg_frames_forget(void); /* all rules */
struct pgg_rule pgg_rule_find(u64 pc); /* without what is kept */
struct pgg_rule pgg_rule_miss(u64 pc);

/* A reader that meets a slot half written sees an address that is not its own, in whatever order
 * the two words reach it. */
struct pgg_rule_slot {
    u64 pc_xor_rule, rule;
};
enum { PGG_RULES_SHIFT = 53, PGG_RULE_WAYS = 4 };
extern struct pgg_rule_slot pgg_rules[1 << (64 - PGG_RULES_SHIFT)][PGG_RULE_WAYS];

/* A rule is in one of the slots of a line of the cache. */
PGG_INLINE struct pgg_rule_slot *pgg_rule_slots(u64 pc)
{
    return pgg_rules[pc * UINT64_C(0x9e3779b97f4a7c15) >> PGG_RULES_SHIFT];
}

/* How to leave the frame that executes the code at pc. */
PGG_INLINE struct pgg_rule pgg_rule(u64 pc)
{
    const struct pgg_rule_slot *slot = pgg_rule_slots(pc);
    for (int way = 0; way < PGG_RULE_WAYS; way++, slot++) {
        const union {
            u64 word;
            struct pgg_rule rule;
        } u = {__atomic_load_n(&slot->rule, __ATOMIC_RELAXED)};
        if (PGG_LIKELY((__atomic_load_n(&slot->pc_xor_rule, __ATOMIC_RELAXED) ^ u.word) == pc))
            return u.rule;
    }
    return pgg_rule_miss(pc);
}

#pragma GCC visibility pop
#endif
