/* Code that depends on the processor, for x86-64. A port writes these names again for another one:
 * the system call, registers of a stack walk, the time stamp, and 16 bytes at once. */
#ifndef PGG_X86_64_H
#define PGG_X86_64_H

#include "guest.h"
#include "guest_vector.h"

#include <emmintrin.h>
#include <ucontext.h>
#include <x86intrin.h>

/* ---- the kernel ---- */

enum {
    PGG_ADDRESS_BITS = 47,       /* of a program's memory */
    PGG_PAGE_MOST = PGG_PAGE,    /* pages of a kernel */
    PGG_VARIABLES_ABOVE = false, /* thread variables are below the thread's own pointer */
};

/* Result or negative error number; errno stays. */
PGG_INLINE long pgg_syscall(long number, long a, long b, long c, long d, long e, long f)
{
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

/* The system call with this number that starts a thread. It calls run(arg), which never returns, on
 * a stack that ends at `end` (aligned to 16 bytes), with this thread pointer. */
PGG_INLINE long pgg_clone(long call, u64 flags, void *end, volatile u32 *number, void *pointer,
                          void (*run)(void *), void *arg)
{
    uintptr_t *top = end;
    *--top = (uintptr_t)run;
    *--top = (uintptr_t)arg;
    register long r10 __asm__("r10") = (long)number;
    register long r8 __asm__("r8") = (long)pointer;
    long result;
    __asm__ volatile("syscall\n\t"
                     "test %%rax, %%rax\n\t"
                     "jnz 1f\n\t"
                     "xor %%ebp, %%ebp\n\t"
                     "pop %%rdi\n\t"
                     "pop %%rax\n\t"
                     "call *%%rax\n\t"
                     "ud2\n"
                     "1:"
                     : "=a"(result)
                     : "a"(call), "D"(flags), "S"(top), "d"(number), "r"(r10), "r"(r8)
                     : "rcx", "r11", "memory");
    return result;
}

/* The thread's own pointer, from which its variables are reached. */
PGG_INLINE char *pgg_thread_pointer(void)
{
    char *pointer;
    __asm__("mov %%fs:0, %0" : "=r"(pointer));
    return pointer;
}

/* ---- the processor ---- */

PGG_INLINE u64 pgg_ticks(void)
{
    return __rdtsc();
}

/* Of some 2 to 4 us: what takes longer was interrupted. */
PGG_INLINE u64 pgg_ticks_of_visit(void)
{
    return 8192;
}

/* In a loop that waits for another thread. */
PGG_INLINE void pgg_pause(void)
{
    _mm_pause();
}

/* The word at so many bytes from the thread's own pointer. */
PGG_INLINE u32 pgg_thread_word(ptrdiff_t at)
{
    u32 word;
    __asm__ volatile("movl %%fs:(%1), %0" : "=r"(word) : "r"(at));
    return word;
}

/* 0 unless the processor checks returns. The instruction is none on older processors. */
PGG_INLINE u64 pgg_shadow_stack(void)
{
    u64 pointer = 0;
    __asm__ volatile("rdsspq %0" : "+r"(pointer));
    return pointer;
}

/* From here on, code that was stored through another mapping of the same memory is fetched. A
 * return from an interrupt ensures this and, unlike other serialising instructions, does not exit
 * to a hypervisor. */
PGG_INLINE void pgg_serialize(void)
{
    u64 code, data;
    __asm__ volatile("xorl %k0, %k0\n\t"
                     "xorl %k1, %k1\n\t"
                     "movw %%cs, %w0\n\t"
                     "movw %%ss, %w1\n\t"
                     "leaq -128(%%rsp), %%rsp\n\t" /* skips the red zone of a leaf function */
                     "pushq %1\n\t"
                     "leaq 136(%%rsp), %1\n\t"
                     "pushq %1\n\t"
                     "pushfq\n\t"
                     "pushq %0\n\t"
                     "leaq 1f(%%rip), %0\n\t"
                     "pushq %0\n\t"
                     "iretq\n"
                     "1:"
                     : "=&r"(code), "=&r"(data)
                     :
                     : "memory", "cc");
}

enum { PGG_MEMPCPY_COPIES = true }; /* the C library's __mempcpy does the work itself */

/* No call of the C library's memset or memcpy, which a program may have replaced. */
PGG_INLINE void pgg_fill_string(void *p, int c, size_t n)
{
    __asm__ volatile("rep stosb" : "+D"(p), "+c"(n) : "a"(c) : "memory");
}

PGG_INLINE void pgg_copy_string(void *to, const void *from, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

/* ---- frames ---- */

/* Numbers of registers in unwind tables. */
enum { PGG_DWARF_FP = 6, PGG_DWARF_SP = 7, PGG_DWARF_RA = 16 };

/* No instruction of unwind tables is this processor's own. */
PGG_INLINE bool pgg_dwarf_signs(uint8_t op)
{
    (void)op;
    return false;
}

/* The frame of the function that this stands in. */
#define PGG_HERE ((const void *)__builtin_frame_address(0))

/* Where the caller's frame pointer and, after it, the return address are. */
PGG_INLINE uintptr_t pgg_frame_pair(uintptr_t here)
{
    return here;
}

/* The caller's stack pointer. */
PGG_INLINE uintptr_t pgg_frame_end(uintptr_t here)
{
    return here + 16;
}

/* The code that a kept return address is of. */
PGG_INLINE u64 pgg_return_address(u64 kept)
{
    return kept;
}

/* The frame ends after the pair. */
enum { PGG_PAIR_IS_END = true };

/* A rule for leaving a frame, in one word. The CFA is the address above the return address; the
 * caller's frame pointer is kept at bp_off of it. */
struct pgg_rule {
    u32 cfa : 4, bp : 4, plus : 8;
    int bp_off : 16;
    int32_t cfa_off;
};
/* By far the most frequent one: push %rbp, mov %rsp, %rbp. */
#define PGG_RULE_FRAMED_IS true

/* Missing fields are 0. The caller's frame pointer is kept at `off`. */
PGG_INLINE struct pgg_rule pgg_rule_make(u32 cfa, int32_t cfa_off, u32 bp, int16_t off)
{
    return (struct pgg_rule){.cfa = cfa & 15, .cfa_off = cfa_off, .bp = bp & 15, .bp_off = off};
}

enum { PGG_X86_BP_LOST = 3 }; /* of enum pgg_bp */
/* Adds to a rule where its frame begins and what is kept where: the return address at ra_off of the
 * CFA, unless it is still in its register. False: there is no such rule. */
PGG_INLINE bool pgg_rule_keep(struct pgg_rule *rule, i64 cfa_off, i64 plus, u32 bp, i64 bp_off,
                              bool ra_kept, i64 ra_off)
{
    if (!ra_kept || ra_off != -8 || !pgg_fits(cfa_off, 32) || plus < 0 || plus > UINT8_MAX)
        return false;
    const bool fits = pgg_fits(bp_off, 16);
    rule->cfa_off = (int32_t)cfa_off;
    rule->plus = (u32)plus & UINT8_MAX;
    rule->bp = fits ? bp & 15 : PGG_X86_BP_LOST;
    rule->bp_off = fits ? (int16_t)bp_off : 0;
    return true;
}

PGG_INLINE i64 pgg_rule_off(struct pgg_rule rule)
{
    return rule.bp_off;
}

PGG_INLINE u32 pgg_rule_plus(struct pgg_rule rule)
{
    return rule.plus;
}

PGG_INLINE uintptr_t pgg_rule_return_at(struct pgg_rule rule, uintptr_t cfa, uintptr_t kept)
{
    (void)rule;
    (void)kept;
    return cfa - 8;
}

PGG_INLINE bool pgg_rule_in_register(struct pgg_rule rule)
{
    (void)rule;
    return false;
}

/* Tables say where a handler of signals returns to. */
PGG_INLINE bool pgg_is_signal_return(const u32 *code)
{
    (void)code;
    return false;
}
enum {
    PGG_SIGNAL_RETURN_BYTES = 0,
    PGG_SIGNAL_CONTEXT = 0, /* from the stack pointer there */
};

/* Registers where a signal interrupted a thread. */
PGG_INLINE uintptr_t pgg_context_pc(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
}

PGG_INLINE uintptr_t pgg_context_sp(const ucontext_t *context)
{
    return (uintptr_t)context->uc_mcontext.gregs[REG_RSP];
}

/* Where the frame pointer is kept. */
PGG_INLINE const void *pgg_context_fp(const ucontext_t *context)
{
    return &context->uc_mcontext.gregs[REG_RBP];
}

/* The register of the return address: none. */
PGG_INLINE u64 pgg_context_ra(const ucontext_t *context)
{
    (void)context;
    return 0;
}

/* ---- 16 bytes ---- */

PGG_INLINE pgg_v16 pgg_min_bytes(pgg_v16 a, pgg_v16 b)
{
    return (pgg_v16)_mm_min_epu8((__m128i)a, (__m128i)b);
}

/* The highest bit of each byte, that of the first byte lowest. */
PGG_INLINE u32 pgg_high_bits(pgg_v16 v)
{
    return (u32)_mm_movemask_epi8((__m128i)v);
}

#endif
