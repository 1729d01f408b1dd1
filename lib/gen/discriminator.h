/* What a DWARF discriminator says of a place. docs/formats/profile-generation.md section 3 */
#ifndef PGK_DISCRIMINATOR_H
#define PGK_DISCRIMINATOR_H

#include <stdbool.h>
#include <stdint.h>

/* Flow-sensitive discriminators (of a binary with __llvm_fs_discriminator__) are taken whole. */
uint32_t pgk_discriminator_base(uint32_t discriminator, bool flow_sensitive);
/* How often the code of the place was copied, by unrolling for instance: 1 or more. */
uint32_t pgk_discriminator_copies(uint32_t discriminator, bool flow_sensitive);

/* The call probe of a place in a program with pseudo probes. */
uint32_t pgk_discriminator_probe(uint32_t discriminator);

#endif
