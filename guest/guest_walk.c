/* The walk up a stack, by the rules of the unwind tables, and over frame pointers where there are
 * none. It reads nothing outside the stack it began on: a wrong table or a broken frame pointer
 * ends it early.
 *
 * A walk is determined by the words that it read. A thread remembers those of its last walks, and
 * as long as all of them are the same at the same frame, the stack is the same: to see that takes
 * a few loads that do not wait for one another. */
#include "guest_walk.h"

#include "guest_bytes.h"
#include "guest_frames.h"
#include "guest_memory.h"
#include "guest_modules.h"
#include "guest_processor.h"
#include "guest_sys.h"

#include <pthread.h>

struct pgg_walk_options pgg_walk_options;

PGG_INLINE struct pgg_rule over_frame_pointers(void)
{
    return pgg_rule_make(PGG_CFA_FRAME_POINTER, 0, PGG_BP_AT_BP, 0);
}

/* Of the frame that is left next. */
struct place {
    u64 pc;          /* of code in it */
    uintptr_t sp;    /* as it sees it */
    uintptr_t bp_at; /* where its rbp is kept; 0: unknown */
    uintptr_t hi;    /* end of its stack */
    u64 ra;          /* where it returns to, if only a register says; 0: none does */
    bool sp_is_low;  /* it may see a higher one */
    bool after_signal;
};

extern void *__libc_stack_end __attribute__((weak));

static bool is_asking(struct pgg_walker *w, uintptr_t frame);

/* The thread's own stack. That of the first one grows down from where the program was entered. */
static void find_stack(struct pgg_walker *w, uintptr_t frame)
{
    pthread_attr_t attr;
    void *start;
    size_t size;
    w->stack_asked = true;
    if (pgg_confined)
        return;
    if (pgg_sys_thread() == pgg_sys_process() && &__libc_stack_end) {
        struct rlimit limit;
        u64 bytes = UINT64_C(8) << 20;
        if (pgg_sys_limit(RLIMIT_STACK, &limit) == 0)
            bytes = limit.rlim_cur < UINT64_C(1) << 30 ? limit.rlim_cur : UINT64_C(1) << 30;
        w->stack_hi = (uintptr_t)__libc_stack_end;
        w->stack_lo = w->stack_hi - bytes;
    } else if (is_asking(w, frame)) {
        w->stack_asked = false;
    } else if (pthread_getattr_np(pthread_self(), &attr) == 0) {
        if (pthread_attr_getstack(&attr, &start, &size) == 0) {
            w->stack_lo = (uintptr_t)start;
            w->stack_hi = (uintptr_t)start + size;
        }
        pthread_attr_destroy(&attr);
    }
}

/* A stack that the program made itself: as far up as its pages are mapped, at most 64 of them from
 * the frame. Frames in the upper half of what was cut off there have it looked at again. */
enum { SEEN_PAGES = 64 };
static PGG_COLD uintptr_t mapped_end(uintptr_t frame)
{
    unsigned char in_core[SEEN_PAGES * PGG_PAGE_MOST / PGG_PAGE];
    const uintptr_t page = pgg_page(), lo = frame & ~(page - 1);
    uintptr_t hi = lo;
    if (pgg_confined)
        return lo + page;
    for (size_t pages = SEEN_PAGES; pages && hi < lo + SEEN_PAGES * page;)
        if (pgg_sys_in_core((const void *)hi, pages * page, in_core) == 0)
            hi += pages * page;
        else
            pages /= 2;
    return hi;
}

static PGG_COLD uintptr_t see_stack(struct pgg_walker *t, uintptr_t frame)
{
    if (!t->stack_asked) {
        find_stack(t, frame);
        if (frame - t->stack_lo < t->stack_hi - t->stack_lo)
            return t->stack_hi;
    }
    struct pgg_stack *s = t->seen;
    for (; s < t->seen + PGG_STACKS; s++)
        if (frame - s->lo < s->good - s->lo)
            return s->hi;
    const uintptr_t page = pgg_page(), lo = frame & ~(page - 1), hi = mapped_end(frame);
    if (!pgg_confined)
        t->seen[t->seen_next++ % PGG_STACKS] = (struct pgg_stack){
            lo, hi, hi < lo + SEEN_PAGES * page ? hi : lo + (hi - lo) / 2};
    return hi;
}

/* Whether a word may be read there: above the stack pointer, inside the stack. */
PGG_INLINE bool readable(const struct place *p, uintptr_t address)
{
    return address >= p->sp && address < p->hi - 7 && !(address & 7);
}

/* Words read to leave a frame are recorded there, unless it is NULL. */
PGG_INLINE uintptr_t bp(const struct place *p, struct pgg_frame *f)
{
    if (!p->bp_at)
        return 0;
    const uintptr_t word = *(const uintptr_t *)p->bp_at;
    if (f) {
        f->bp_word = word;
        f->read |= PGG_READ_BP;
    }
    return word;
}

PGG_INLINE uintptr_t return_word(struct pgg_frame *f, uintptr_t at)
{
    const uintptr_t word = *(const uintptr_t *)at;
    if (f) {
        f->return_off = (u32)(at - f->sp);
        f->return_word = word;
        f->read |= PGG_READ_RETURN;
    }
    return word;
}

PGG_INLINE uintptr_t cfa_word(struct pgg_frame *f, uintptr_t at)
{
    const uintptr_t word = *(const uintptr_t *)at;
    if (f) {
        f->cfa_off = (u32)(at - f->sp);
        f->cfa_word = word;
        f->read |= PGG_READ_CFA;
    }
    return word;
}

/* A signal handler returns to the code that was interrupted, maybe on another stack. */
static PGG_COLD bool leave_signal(const struct pgg_walker *t, struct place *p)
{
    const ucontext_t *context = (const ucontext_t *)(p->sp + PGG_SIGNAL_CONTEXT);
    uintptr_t end = (uintptr_t)&context->uc_mcontext + sizeof context->uc_mcontext;
    if (end > p->hi || (p->sp & 7))
        return false;
    uintptr_t old_hi = p->hi, old_sp = p->sp;
    p->pc = pgg_context_pc(context);
    p->sp = pgg_context_sp(context);
    p->bp_at = (uintptr_t)pgg_context_fp(context);
    p->ra = pgg_context_ra(context);
    p->after_signal = true;
    if (p->sp > old_sp && p->sp < old_hi)
        return true;
    /* Back from the stack for signals: at most once, as that one is no thread's. */
    p->hi = t->stack_hi;
    return old_hi != t->stack_hi && p->sp - t->stack_lo < t->stack_hi - t->stack_lo;
}

/* The CFA of a frame that is not simply above one of the two pointers; 0 at the end. */
static PGG_COLD uintptr_t rare_cfa(const struct place *p, struct pgg_frame *f,
                                   struct pgg_rule rule)
{
    uintptr_t at;
    switch ((enum pgg_cfa)rule.cfa) {
    case PGG_CFA_AT_SP:
    case PGG_CFA_AT_BP:
        at = (rule.cfa == PGG_CFA_AT_SP ? p->sp : bp(p, f)) + (uintptr_t)(intptr_t)rule.cfa_off;
        return readable(p, at) ? cfa_word(f, at) + pgg_rule_plus(rule) : 0;
    case PGG_CFA_FRAME_POINTER: return bp(p, f) + 16;
    default: return 0;
    }
}

/* Where the frame keeps its caller's frame pointer, or the word next to it. */
PGG_INLINE uintptr_t kept_at(const struct place *p, struct pgg_frame *f, struct pgg_rule rule,
                             uintptr_t cfa)
{
    return (rule.bp == PGG_BP_AT_BP ? bp(p, f) : cfa) + (uintptr_t)(intptr_t)pgg_rule_off(rule);
}

/* Leaves the frame; false at the end of the stack. What is rare works on a copy of the place, so
 * that the place itself stays in registers. */
PGG_INLINE bool leave(const struct pgg_walker *t, struct place *p, struct pgg_frame *f,
                      struct pgg_rule rule)
{
    uintptr_t cfa = (uintptr_t)(intptr_t)rule.cfa_off, kept = 0;
    if (rule.cfa == PGG_CFA_BP) {
        cfa += bp(p, f);
    } else if (rule.cfa == PGG_CFA_SP && PGG_LIKELY(!p->sp_is_low)) {
        cfa += p->sp;
    } else {
        struct place copy = *p;
        bool left = false;
        if (rule.cfa == PGG_CFA_SP)
            rule = over_frame_pointers();
        if (rule.cfa == PGG_CFA_SIGNAL)
            left = !copy.sp_is_low && leave_signal(t, &copy);
        else
            cfa = rare_cfa(&copy, f, rule);
        *p = copy;
        if (rule.cfa == PGG_CFA_SIGNAL)
            return left;
    }
    const bool in_register = pgg_rule_in_register(rule);
    if (rule.bp == PGG_BP_AT_CFA || rule.bp == PGG_BP_AT_BP)
        kept = kept_at(p, f, rule, cfa);
    const uintptr_t return_at = pgg_rule_return_at(rule, cfa, kept);
    if (cfa < p->sp || (in_register ? !p->ra || cfa > p->hi : !readable(p, return_at)))
        return false;
    if (rule.bp == PGG_BP_AT_CFA || rule.bp == PGG_BP_AT_BP)
        p->bp_at = readable(p, kept) ? kept : 0;
    else if (rule.bp == PGG_BP_LOST)
        p->bp_at = 0;
    p->pc = pgg_return_address(in_register ? p->ra : return_word(f, return_at)) - 1;
    p->ra = 0;
    p->sp_is_low = !PGG_PAIR_IS_END && rule.cfa == PGG_CFA_FRAME_POINTER;
    p->sp = cfa;
    return true;
}

/* Leaves the frame by the rule that there is for it. */
PGG_INLINE bool leave_any(const struct pgg_walker *t, struct place *p, struct pgg_frame *f,
                          bool tables)
{
    const struct pgg_rule rule = tables ? pgg_rule(p->pc) : over_frame_pointers();
    if (!pgg_rule_is_framed(rule))
        return leave(t, p, f, rule);
    const uintptr_t above = bp(p, f) + 8;
    if (!readable(p, above))
        return false;
    p->bp_at = PGG_UNLIKELY(above - 8 < p->sp) ? 0 : above - 8;
    p->pc = return_word(f, above) - 1;
    p->sp = above + 8;
    return true;
}

/* Where a walk begins. */
PGG_INLINE struct place first_place(const struct pgg_walker *t, uintptr_t here)
{
    const uintptr_t pair = pgg_frame_pair(here);
    return (struct place){.pc = pgg_return_address(((const u64 *)pair)[1]) - 1,
                          .sp = pgg_frame_end(here), .bp_at = pair, .hi = t->stack_hi};
}

PGG_INLINE bool on_own_stack(const struct pgg_walker *t, uintptr_t here)
{
    return pgg_frame_pair(here) - t->stack_lo < t->stack_hi - t->stack_lo;
}

/* A trail has offsets of 32 bits. */
PGG_INLINE bool has_short_stack(const struct pgg_walker *t)
{
    return t->stack_hi - t->stack_lo <= UINT32_MAX;
}

PGG_INLINE bool is_code(u64 pc)
{
    return pc - (PGG_PAGE - 1) <= (UINT64_C(1) << PGG_CODE_BITS) - PGG_PAGE;
}

/* How many frames there are; their addresses are in pcs, unless that is NULL. */
static u32 walk(struct pgg_walker *t, uintptr_t here, u64 *pcs, u32 depth, bool tables)
{
    struct place p = first_place(t, here);
    u32 n = 0;
    if (PGG_UNLIKELY(!on_own_stack(t, here)))
        p.hi = see_stack(t, pgg_frame_pair(here));
    while (n < depth && is_code(p.pc)) {
        if (PGG_LIKELY(pcs))
            pcs[n] = p.pc;
        n++;
        if (!leave_any(t, &p, NULL, tables))
            break;
    }
    return n;
}

PGG_INLINE void note_frame(struct pgg_frame *f, const struct place *p)
{
    f->pc = p->pc;
    f->sp = p->sp;
    f->bp_at = p->bp_at;
    f->sp_is_low = p->sp_is_low;
    f->read = 0;
}

PGG_INLINE struct place place_of(struct pgg_frame *f, uintptr_t hi)
{
    f->read = 0;
    return (struct place){.pc = f->pc, .sp = f->sp, .bp_at = f->bp_at,
                          .sp_is_low = f->sp_is_low, .hi = hi};
}

/* Beyond the end of the trail, by so many frames at most. */
static bool walk_beyond(struct pgg_walker *t, u32 *at, u32 frames, bool tables)
{
    struct pgg_trail *trail = &t->trail;
    struct pgg_frame f = pgg_trail_last(trail);
    struct place p = place_of(&f, t->stack_hi);
    for (; frames; frames--) {
        const bool left = leave_any(t, &p, &f, tables);
        pgg_trail_leave(trail, &f);
        trail->ended = !p.after_signal && (!left || !is_code(p.pc));
        if (trail->ended)
            return true;
        note_frame(&f, &p);
        if (p.after_signal || !pgg_trail_append(trail, at, &f))
            return false;
    }
    return true;
}

/* As walk, over the thread's own stack and into its trail. 0: that cannot have it. */
static u32 walk_trail(struct pgg_walker *t, uintptr_t here, u32 depth, bool tables)
{
    struct pgg_trail *trail = &t->trail;
    struct place p = first_place(t, here);
    bool ended = false;
    pgg_trail_begin(trail, pgg_frames_epoch, t->stack_lo);
    if (!is_code(p.pc))
        return 0;
    for (u32 at = trail->first; trail->fresh_n < depth && !ended;) {
        struct pgg_frame *f;
        at = pgg_trail_seek(trail, at, p.sp);
        if (pgg_trail_joins(trail, at, p.pc, p.sp, p.bp_at, p.sp_is_low)) {
            const u32 frames = depth - trail->fresh_n, have = trail->end - at,
                      last = at + (frames < have ? frames : have) - 1,
                      same = pgg_trail_same(trail, at, last, frames > have && trail->ended);
            if (PGG_LIKELY(same >= last)) {
                if (frames > have && same == last &&
                    !walk_beyond(t, &at, frames - have, tables))
                    return 0;
                const u32 all = trail->end - at;
                return pgg_trail_put(trail, at, frames < all ? frames : all);
            }
            if (!pgg_trail_take(trail, at, same + 1))
                return 0;
            at = same + 1;
            f = &trail->fresh[trail->fresh_n - 1];
            p = place_of(f, t->stack_hi);
        } else {
            f = pgg_trail_fresh(trail);
            if (!f)
                return 0;
            note_frame(f, &p);
        }
        ended = !leave_any(t, &p, f, tables) || !is_code(p.pc);
        if (PGG_UNLIKELY(p.after_signal))
            return 0;
    }
    return pgg_trail_put_alone(trail, ended);
}

/* Whether the stack leads through pthread_getattr_np. That allocates while it holds the lock of the
 * thread and cannot be asked there; a function close after it only waits for the next walk. */
static PGG_COLD bool is_asking(struct pgg_walker *w, uintptr_t frame)
{
    enum { FRAMES = 8, FUNCTION_BYTES = 2048 };
    u64 pcs[FRAMES];
    const u32 n = walk(w, frame, pcs, FRAMES, pgg_modules_ready);
    for (u32 i = 0; i < n; i++)
        if (pcs[i] - (uintptr_t)pthread_getattr_np < FUNCTION_BYTES)
            return true;
    return false;
}

/* The two places where a walk that began here is remembered. */
PGG_INLINE struct pgg_walked *places(struct pgg_walker *t, uintptr_t frame)
{
    u64 pc = ((const u64 *)pgg_frame_pair(frame))[1];
    return t->walked[((frame ^ pc * UINT64_C(0x9e3779b97f4a7c15)) *
                      UINT64_C(0xc4ceb9fe1a85ec53)) >> PGG_WALKED_SHIFT];
}

PGG_INLINE bool same(const struct pgg_walked *w, uintptr_t frame)
{
    const uintptr_t from = pgg_frame_pair(frame);
    pgg_v16 others = pgg_zero16();
    u64 other = 0;
    if (w->frame != frame || w->epoch != pgg_frames_epoch)
        return false;
    u32 i = 0;
    const u64 *word = w->word;
    for (; i < w->pairs; i++, word += 2)
        others = pgg_or16(others, pgg_xor16(pgg_load16((const char *)from + w->off[i]),
                                            pgg_load16(word)));
    for (; i < w->n; i++, word++)
        other |= *(const u64 *)(from + w->off[i]) ^ *word;
    other |= pgg_high_bits(pgg_same16(others, pgg_zero16())) ^ 0xffff;
    return !other;
}

/* A program whose stacks hardly ever repeat, as over a tree, is looked up now and then only. */
enum { MISSES_MANY = 256, MISSES_MOST = 512, ASK_EVERY = 128, HIT = 16 };

PGG_INLINE bool worth_it(const struct pgg_walker *t)
{
    return t->misses < MISSES_MANY || t->walks % ASK_EVERY == 0;
}

u32 pgg_walk_known(struct pgg_walker *t, const void *frame)
{
    if (PGG_UNLIKELY(!worth_it(t)))
        return 0;
    const struct pgg_walked *w = places(t, (uintptr_t)frame);
    for (int way = 0; way < 2; way++, w++)
        if (same(w, (uintptr_t)frame)) {
            t->misses -= t->misses < HIT ? t->misses : HIT;
            return w->id;
        }
    t->misses += t->misses < MISSES_MOST;
    return 0;
}

PGG_INLINE void remember_word(struct pgg_walked *w, uintptr_t at, u64 word)
{
    if (w->n < PGG_READS) {
        w->off[w->n] = (u32)(at - pgg_frame_pair(w->frame));
        w->word[w->n] = word;
    }
    w->n++;
}

/* The words that the walk read which found the first n frames of the trail. */
static void remember_words(struct pgg_walked *w, const struct pgg_trail *trail, u32 n, bool ended)
{
    u32 from = pgg_trail_words(trail, trail->first);
    const u32 end = pgg_trail_words(trail, trail->first + n - !ended);
    const uintptr_t return_at = pgg_frame_pair(w->frame) + 8;
    w->n = 0;
    remember_word(w, return_at, *(const u64 *)return_at);
    for (; from < end && w->n <= PGG_READS; from++)
        remember_word(w, (uintptr_t)pgg_trail_at(trail, from), trail->words[from]);
}

static bool by_tables(void)
{
    return pgg_modules_ready && !pgg_walk_options.frame_pointers;
}

bool pgg_walk_goes_on(struct pgg_walker *t, const void *frame)
{
    const u32 depth = (u32)pgg_walk_options.depth;
    return walk(t, (uintptr_t)frame, NULL, depth + 1, by_tables()) > depth;
}

struct pgg_stack_found pgg_walk(struct pgg_walker *t, const void *frame, u64 *pcs)
{
    const uintptr_t here = (uintptr_t)frame;
    const u32 depth = (u32)pgg_walk_options.depth;
    const bool remember = worth_it(t), tables = by_tables();
    struct pgg_stack_found found = {
        .n = on_own_stack(t, here) && has_short_stack(t)
                 ? walk_trail(t, here, depth, tables)
                 : 0};
    struct pgg_walked *w = places(t, here) + (t->walks++ & 1);
    if (PGG_UNLIKELY(!found.n)) {
        found.n = walk(t, here, pcs, depth, tables);
        found.full = found.n == depth;
        found.hash = pgg_trail_hash_pcs(pcs, found.n);
        return found;
    }
    found.in_trail = true;
    found.full = found.n == depth;
    found.hash = pgg_trail_hash(&t->trail, found.n);
    if (remember) {
        w->frame = here;
        w->epoch = 0;
        remember_words(w, &t->trail, found.n, found.n < depth);
        found.reads = w;
    }
    return found;
}

void pgg_walk_pcs(const struct pgg_walker *t, const struct pgg_stack_found *found, u64 *pcs)
{
    for (u32 i = 0; found->in_trail && i < found->n; i++)
        pcs[i] = t->trail.frames[t->trail.first + i].pc;
}

u32 pgg_walk_context(const void *context, u64 *pcs, u32 depth)
{
    const struct pgg_walker *nobody = NULL;
    const ucontext_t *c = context;
    struct place p = {.pc = pgg_context_pc(c), .sp = pgg_context_sp(c),
                      .bp_at = (uintptr_t)pgg_context_fp(c), .ra = pgg_context_ra(c)};
    u32 n = 0;
    p.hi = mapped_end(p.sp);
    /* The system's threads have their data at the end of their stack. */
    const uintptr_t own = (uintptr_t)pgg_thread_pointer();
    if (own - p.sp < p.hi - p.sp)
        p.hi = own;
    while (n < depth && p.pc >= PGG_PAGE - 1) {
        const struct pgg_rule rule = pgg_rule(p.pc);
        pcs[n++] = p.pc;
        if (rule.cfa == PGG_CFA_SIGNAL || !leave(nobody, &p, NULL, rule))
            break;
    }
    return n;
}

u32 pgg_walk_first(struct pgg_walker *t, const void *frame, u64 *pcs, u32 depth)
{
    return walk(t, (uintptr_t)frame, pcs, depth, pgg_modules_ready);
}

/* Joins words into pairs if the adjacent word was read next, or before. */
static void pair(struct pgg_walked *w)
{
    struct pgg_walked to;
    u32 ones = 0, off[PGG_READS];
    u64 word[PGG_READS];
    to.pairs = 0;
    for (u32 i = 0; i < w->n; i++) {
        const u32 next = i + 1 < w->n ? w->off[i + 1] : w->off[i];
        if (next + 8 == w->off[i] || next - 8 == w->off[i]) {
            const u32 low = next < w->off[i];
            to.off[to.pairs] = w->off[i + low];
            to.word[2 * to.pairs] = w->word[i + low];
            to.word[2 * to.pairs++ + 1] = w->word[i + !low];
            i++;
        } else {
            off[ones] = w->off[i];
            word[ones++] = w->word[i];
        }
    }
    pgg_copy(w->off, to.off, to.pairs * sizeof *off);
    pgg_copy(w->off + to.pairs, off, ones * sizeof *off);
    pgg_copy(w->word, to.word, 2 * to.pairs * sizeof *word);
    pgg_copy(w->word + 2 * to.pairs, word, ones * sizeof *word);
    w->pairs = to.pairs;
    w->n = to.pairs + ones;
}

void pgg_walk_remember(struct pgg_walked *w, u32 id)
{
    if (!w)
        return;
    w->id = id;
    if (w->n <= PGG_READS) {
        pair(w);
        w->epoch = pgg_frames_epoch;
    }
}

void pgg_walker_init(struct pgg_walker *w)
{
    w->stack_asked = false;
    w->stack_lo = w->stack_hi = 0;
    w->trail.epoch = 0; /* a record of a thread that ended, whose stack is gone */
    pgg_zero(w->seen, sizeof w->seen);
    for (size_t i = 0; i < sizeof w->walked / sizeof *w->walked; i++)
        w->walked[i][0].frame = w->walked[i][1].frame = 0;
}
