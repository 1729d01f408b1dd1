/* Between the copies of code and the recorder: where registers of the program are kept, and given
 * back. No instruction here changes what the program has in vector registers. */
#include "recorder_engine.h"

#define AT(field) offsetof(struct pgbr_engine, field)
_Static_assert(AT(flags) == 128 && AT(stack) == 136 && AT(target) == 144 && AT(leave_code) == 152,
               "the stub has these as numbers");

/* A copy comes here with its block in rax and its engine in rcx, of which it has kept what the
 * program has there. It goes on by the few instructions at leave_code, which take rcx back. */
__asm__(".text\n"
        ".hidden pgbr_stub\n"
        ".globl pgbr_stub\n"
        ".p2align 4\n"
        "pgbr_stub:\n"
        "    movq %rdx, 16(%rcx)\n"
        "    movq %rbx, 24(%rcx)\n"
        "    movq %rsp, 32(%rcx)\n"
        "    movq %rbp, 40(%rcx)\n"
        "    movq %rsi, 48(%rcx)\n"
        "    movq %rdi, 56(%rcx)\n"
        "    movq %r8, 64(%rcx)\n"
        "    movq %r9, 72(%rcx)\n"
        "    movq %r10, 80(%rcx)\n"
        "    movq %r11, 88(%rcx)\n"
        "    movq %r12, 96(%rcx)\n"
        "    movq %r13, 104(%rcx)\n"
        "    movq %r14, 112(%rcx)\n"
        "    movq %r15, 120(%rcx)\n"
        "    movq 136(%rcx), %rsp\n"
        "    pushfq\n"
        "    popq 128(%rcx)\n"
        "    cld\n"
        "    movq %rcx, %rbx\n"
        "    movq %rcx, %rdi\n"
        "    movq %rax, %rsi\n"
        "    call pgbr_dispatch\n"
        "    movq %rbx, %rcx\n"
        "    movq %rax, 144(%rcx)\n"
        "    pushq 128(%rcx)\n"
        "    popfq\n"
        "    movq 0(%rcx), %rax\n"
        "    movq 16(%rcx), %rdx\n"
        "    movq 24(%rcx), %rbx\n"
        "    movq 32(%rcx), %rsp\n"
        "    movq 40(%rcx), %rbp\n"
        "    movq 48(%rcx), %rsi\n"
        "    movq 56(%rcx), %rdi\n"
        "    movq 64(%rcx), %r8\n"
        "    movq 72(%rcx), %r9\n"
        "    movq 80(%rcx), %r10\n"
        "    movq 88(%rcx), %r11\n"
        "    movq 96(%rcx), %r12\n"
        "    movq 104(%rcx), %r13\n"
        "    movq 112(%rcx), %r14\n"
        "    movq 120(%rcx), %r15\n"
        "    jmpq *152(%rcx)\n");

/* rdi: engine, esi: why, rdx: where vector registers go, rcx: which parts of them there are. */
__asm__(".hidden pgbr_stub_leave\n"
        ".globl pgbr_stub_leave\n"
        "pgbr_stub_leave:\n"
        "    movq %rdx, %r8\n"
        "    movq %rcx, %rax\n"
        "    movq %rcx, %rdx\n"
        "    shrq $32, %rdx\n"
        "    xsave64 (%r8)\n"
        "    jmp pgbr_window_ends\n");

/* rdi: what the kernel is to give back to the thread; rsi: the engine is free from here on, as
 * nothing of it is used any more. 15 is the kernel's number for the end of a signal handler. */
__asm__(".hidden pgbr_stub_resume\n"
        ".globl pgbr_stub_resume\n"
        "pgbr_stub_resume:\n"
        "    movq %rdi, %rsp\n"
        "    movl $0, (%rsi)\n"
        "    movl $15, %eax\n"
        "    .byte 0x0f, 0x05\n"
        "    hlt\n");
