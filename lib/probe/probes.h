/* Probes of a file that is open already; see the public probe.h. */
#ifndef PGK_PROBES_H
#define PGK_PROBES_H

#include "elf_file.h"
#include "pgokit/probe.h"

/* As pgk_probes_open; `elf` must stay open. */
int pgk_probes_open_elf(struct pgk_probes **probes, const struct pgk_elf *elf,
                        struct pgk_err *err);

#endif
