/* Decodes the discriminator of a line: which of the places of that line it is, how often its code
 * was copied, or, in programs with pseudo probes, which probe a call is.
 *
 * The parts of an ordinary discriminator follow one another from bit 0 on: base, copies, an
 * identifier of the copy. A part is one bit 1 for the value 0, or a bit 0 followed by 6 or 13 bits.
 * A program with the symbol __llvm_fs_discriminator__ has flow-sensitive ones instead, which are
 * taken whole.
 *
 * Pure functions of their arguments. Source: encoding of LLVM, Discriminator.h and
 * DebugInfoMetadata.h, checked against what llvm-profgen 22 makes of programs. */
#ifndef PGK_DISCRIMINATOR_H
#define PGK_DISCRIMINATOR_H

#include <stdbool.h>
#include <stdint.h>

/* By which profiles distinguish places of a line; 0: the line has one place. */
uint32_t pgk_discriminator_base(uint32_t discriminator, bool flow_sensitive);
/* How many copies of the place the compiler made, by unrolling or vectorising: 1 or more. */
uint32_t pgk_discriminator_copies(uint32_t discriminator, bool flow_sensitive);
/* The call probe, in a program with pseudo probes. */
uint32_t pgk_discriminator_probe(uint32_t discriminator);

#endif
