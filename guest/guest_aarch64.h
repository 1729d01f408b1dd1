/* Code that depends on the processor, for AArch64: the names of guest_x86_64.h.
 *
 * Functions return to what x30 says, which they keep next to the frame pointer x29 of their caller
 * somewhere in their frame; x29 points at this pair. Where the frame ends, no register says. With
 * pointer authentication (-mbranch-protection) the upper bits of what is kept are a signature. */
#ifndef PGG_AARCH64_H
#define PGG_AARCH64_H

#include "guest.h"
#include "guest_vector.h"

#include <arm_neon.h>
#include <ucontext.h>

#ifdef __AARCH64EB__
#error "guest/ is for little-endian AArch64; a big-endian program cannot be recorded"
#endif

/* ---- the kernel ---- */

enum {
    PGG_ADDRESS_BITS = 48,      /* of a program's memory at most; a kernel may have fewer */
    PGG_PAGE_MOST = 64 << 10,   /* pages of a kernel: 4, 16 or 64 KiB */
    PGG_VARIABLES_ABOVE = true, /* thread variables are above the thread's own pointer */
};

/* Result or negative error number; errno stays. */
PGG_INLINE long pgg_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

/* The system call with this number that starts a thread. It calls run(arg), which never returns, on
 * a stack that ends at `end` (aligned to 16 bytes), with this thread pointer. */
PGG_INLINE long pgg_clone(long call, u64 flags, void *end, volatile u32 *number, void *pointer,
                          void (*run)(void *), void *arg)
{
    uintptr_t *top = end;
    *--top = (uintptr_t)run;
    *--top = (uintptr_t)arg;
    register long x8 __asm__("x8") = call;
    register long x0 __asm__("x0") = (long)flags;
    register long x1 __asm__("x1") = (long)top;
    register long x2 __asm__("x2") = (long)number;
    register long x3 __asm__("x3") = (long)pointer;
    register long x4 __asm__("x4") = (long)number;
    __asm__ volatile("svc #0\n\t"
                     "cbnz x0, 1f\n\t"
                     "mov x29, xzr\n\t"
                     "mov x30, xzr\n\t"
                     "ldp x0, x1, [sp], #16\n\t"
                     "blr x1\n\t"
                     "brk #1\n"
                     "1:"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
                     : "memory", "cc");
    return x0;
}

/* The thread's own pointer, from which its variables are reached. */
PGG_INLINE char *pgg_thread_pointer(void)
{
    char *pointer;
    __asm__("mrs %0, tpidr_el0" : "=r"(pointer));
    return pointer;
}

/* ---- the processor ---- */

/* The counter that programs may read has one step in 1 to 40 ns. */
PGG_INLINE u64 pgg_ticks(void)
{
    u64 ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

/* Of some microseconds: what takes longer was interrupted. */
PGG_INLINE u64 pgg_ticks_of_visit(void)
{
    u64 each_second;
    __asm__("mrs %0, cntfrq_el0" : "=r"(each_second));
    return each_second / 250000 + 1;
}

/* In a loop that waits for another thread. */
PGG_INLINE void pgg_pause(void)
{
    __asm__ volatile("yield");
}

/* The word at so many bytes from the thread's own pointer. */
PGG_INLINE u32 pgg_thread_word(ptrdiff_t at)
{
    return *(const volatile u32 *)(const void *)(pgg_thread_pointer() + at);
}

enum { PGG_MEMPCPY_COPIES = false }; /* the C library's __mempcpy calls memcpy */

/* No call of the C library's memset or memcpy, which a program may have replaced. */
PGG_INLINE void pgg_fill_string(void *p, int c, size_t n)
{
    char *to = p;
    const uint8x16_t all = vdupq_n_u8((uint8_t)c);
    for (; n >= 16; n -= 16, to += 16)
        vst1q_u8((uint8_t *)to, all);
    for (; n; n--) {
        *to++ = (char)c;
        pgg_compiler_barrier();
    }
}

PGG_INLINE void pgg_copy_string(void *p, const void *from_p, size_t n)
{
    char *to = p;
    const char *from = from_p;
    for (; n >= 16; n -= 16, to += 16, from += 16)
        vst1q_u8((uint8_t *)to, vld1q_u8((const uint8_t *)from));
    for (; n; n--) {
        *to++ = *from++;
        pgg_compiler_barrier();
    }
}

/* ---- frames ---- */

/* Numbers of registers in unwind tables. */
enum { PGG_DWARF_FP = 29, PGG_DWARF_SP = 31, PGG_DWARF_RA = 30 };

/* Instructions of unwind tables that only this processor has: what is kept is signed, or is not
 * any more. Signatures are taken off whatever a table says. */
PGG_INLINE bool pgg_dwarf_signs(uint8_t op)
{
    return op == 0x2c || op == 0x2d;
}

/* The frame of the function that this stands in: where x29 points, with the distance from there to
 * the frame's end, in steps of 16 bytes, above the bits of an address. A compiler knows it when it
 * lays the frame out. */
#ifdef __clang__
#define PGG_FRAME_END __builtin_sponentry()
#else
#define PGG_FRAME_END __builtin_dwarf_cfa()
#endif
#define PGG_HERE                                                                     \
    ((const void *)((uintptr_t)__builtin_frame_address(0) |                          \
                    ((uintptr_t)PGG_FRAME_END - (uintptr_t)__builtin_frame_address(0)) / 16 \
                        << PGG_ADDRESS_BITS))

/* Where the caller's frame pointer and, after it, the return address are. */
PGG_INLINE uintptr_t pgg_frame_pair(uintptr_t here)
{
    return here & ((UINT64_C(1) << PGG_ADDRESS_BITS) - 1);
}

/* The caller's stack pointer. */
PGG_INLINE uintptr_t pgg_frame_end(uintptr_t here)
{
    return pgg_frame_pair(here) + (here >> PGG_ADDRESS_BITS) * 16;
}

/* The code that a kept return address is of. The instruction is none on older processors. */
PGG_INLINE u64 pgg_return_address(u64 kept)
{
    register u64 x30 __asm__("x30") = kept;
    __asm__("hint #7" : "+r"(x30)); /* xpaclri */
    return x30;
}

/* Where a pair was found, the frame's end is not known. */
enum { PGG_PAIR_IS_END = false };

/* A rule for leaving a frame, in one word. `ra` is where the return address is, next to the frame
 * pointer that the frame keeps at `off` of its end (or of the frame pointer), alone there, or in
 * x30. */
struct pgg_rule {
    u64 cfa : 4, bp : 2, ra : 2;
    i64 off : 28, cfa_off : 28;
};
enum { PGG_RA_ABOVE = 0, PGG_RA_BELOW, PGG_RA_ALONE, PGG_RA_IN_REGISTER };
#define PGG_RULE_FRAMED_IS false /* there is no rule that most functions have */

/* Missing fields are 0. The caller's frame pointer is kept at `off`, the return address above. */
PGG_INLINE struct pgg_rule pgg_rule_make(u32 cfa, int32_t cfa_off, u32 bp, int16_t off)
{
    return (struct pgg_rule){.cfa = cfa & 15, .cfa_off = cfa_off, .bp = bp & 3, .off = off};
}

enum { PGG_ARM_BP_SAME = 0, PGG_ARM_BP_AT_CFA, PGG_ARM_BP_LOST = 3 }; /* of enum pgg_bp */
/* Adds to a rule where its frame begins and what is kept where: the return address at ra_off of the
 * CFA, unless it is still in its register. False: there is no such rule. */
PGG_INLINE bool pgg_rule_keep(struct pgg_rule *rule, i64 cfa_off, i64 plus, u32 bp, i64 bp_off,
                              bool ra_kept, i64 ra_off)
{
    const bool beside = bp == PGG_ARM_BP_AT_CFA &&
                        (!ra_kept || ra_off == bp_off + 8 || ra_off == bp_off - 8);
    const i64 off = beside ? bp_off : ra_kept ? ra_off : 0;
    if (plus || !pgg_fits(cfa_off, 28) || !pgg_fits(off, 28))
        return false;
    rule->cfa_off = cfa_off;
    rule->off = off;
    rule->bp = beside || bp == PGG_ARM_BP_SAME ? bp & 3 : PGG_ARM_BP_LOST;
    rule->ra = !ra_kept              ? PGG_RA_IN_REGISTER
               : !beside             ? PGG_RA_ALONE
               : ra_off > bp_off     ? PGG_RA_ABOVE
                                     : PGG_RA_BELOW;
    return true;
}

PGG_INLINE i64 pgg_rule_off(struct pgg_rule rule)
{
    return rule.off;
}

PGG_INLINE u32 pgg_rule_plus(struct pgg_rule rule)
{
    (void)rule;
    return 0;
}

/* `kept` is where the caller's frame pointer is, if the frame keeps it. */
PGG_INLINE uintptr_t pgg_rule_return_at(struct pgg_rule rule, uintptr_t cfa, uintptr_t kept)
{
    return rule.ra == PGG_RA_ABOVE   ? kept + 8
           : rule.ra == PGG_RA_BELOW ? kept - 8
                                     : cfa + (uintptr_t)(intptr_t)rule.off;
}

PGG_INLINE bool pgg_rule_in_register(struct pgg_rule rule)
{
    return rule.ra == PGG_RA_IN_REGISTER;
}

/* A handler of signals returns to these two instructions where no table says so: x8 is the number
 * of the system call that ends it. */
PGG_INLINE bool pgg_is_signal_return(const u32 *code)
{
    return code[0] == 0xd2801168 && code[1] == 0xd4000001;
}
enum {
    PGG_SIGNAL_RETURN_BYTES = 8,
    PGG_SIGNAL_CONTEXT = 128, /* from the stack pointer there: after siginfo_t */
};

/* Registers where a signal interrupted a thread. */
PGG_INLINE uintptr_t pgg_context_pc(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.pc;
}

PGG_INLINE uintptr_t pgg_context_sp(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.sp;
}

/* Where the frame pointer is kept. */
PGG_INLINE const void *pgg_context_fp(const ucontext_t *context)
{
    return &context->uc_mcontext.regs[29];
}

/* The register of the return address. */
PGG_INLINE u64 pgg_context_ra(const ucontext_t *context)
{
    return context->uc_mcontext.regs[30];
}

/* ---- 16 bytes ---- */

PGG_INLINE pgg_v16 pgg_min_bytes(pgg_v16 a, pgg_v16 b)
{
    return vminq_u8(a, b);
}

/* The highest bit of each byte, that of the first byte lowest. */
PGG_INLINE u32 pgg_high_bits(pgg_v16 v)
{
    static const uint8_t place[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t set = vreinterpretq_u8_s8(vshrq_n_s8(vreinterpretq_s8_u8(v), 7));
    const uint8x16_t bits = vandq_u8(set, vld1q_u8(place));
    return (u32)vaddv_u8(vget_low_u8(bits)) | (u32)vaddv_u8(vget_high_u8(bits)) << 8;
}

#endif
