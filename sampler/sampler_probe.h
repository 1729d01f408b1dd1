/* Probes for tracers outside of the process: places in the code, each a nop, that notes of the
 * library describe in the form of SystemTap's sys/sdt.h: owner "stapsdt", type 3; address, address
 * of .stapsdt.base, semaphore, provider, name, arguments. A tracer puts a breakpoint there; without
 * one a probe costs a nop. The provider and its two probes are those of OpenTelemetry's contract
 * for memory profiles. */
#ifndef PGSM_PROBE_H
#define PGSM_PROBE_H

#include "pgsm.h"

#ifdef __x86_64__
#define PGSM_OPERAND "8@%"
#else
#define PGSM_OPERAND "8@%x"
#endif

#define PGSM_PROBE_NOTE(name, operands)                                                  \
    "990: nop\n\t"                                                                       \
    ".pushsection .note.stapsdt,\"\",\"note\"\n\t"                                       \
    ".balign 4\n\t"                                                                      \
    ".4byte 992f-991f, 994f-993f, 3\n"                                                   \
    "991: .asciz \"stapsdt\"\n"                                                          \
    "992: .balign 4\n"                                                                   \
    "993: .8byte 990b, _.stapsdt.base, 0\n\t"                                            \
    ".asciz \"otel_memory\"\n\t"                                                         \
    ".asciz \"" name "\"\n\t"                                                            \
    ".asciz \"" operands "\"\n"                                                          \
    "994: .balign 4\n\t"                                                                 \
    ".popsection\n\t"                                                                    \
    ".ifndef _.stapsdt.base\n\t"                                                         \
    ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n\t"            \
    ".weak _.stapsdt.base\n\t"                                                           \
    ".hidden _.stapsdt.base\n"                                                           \
    "_.stapsdt.base: .space 1\n\t"                                                       \
    ".size _.stapsdt.base, 1\n\t"                                                        \
    ".popsection\n\t"                                                                    \
    ".endif"

/* An object was sampled: it has so many bytes, and stands for `weight` of them. */
PGG_INLINE void pgsm_probe_alloc(const void *p, u64 size, u64 weight)
{
    __asm__ volatile(PGSM_PROBE_NOTE("alloc", PGSM_OPERAND "0 " PGSM_OPERAND "1 " PGSM_OPERAND "2")
                     :
                     : "r"(p), "r"(size), "r"(weight));
}

/* A sampled object is freed. */
PGG_INLINE void pgsm_probe_free(const void *p)
{
    __asm__ volatile(PGSM_PROBE_NOTE("free", PGSM_OPERAND "0") : : "r"(p));
}

#endif
