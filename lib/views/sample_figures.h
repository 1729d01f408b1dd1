/* The coverage of a program by a sample profile, and its density. */
#ifndef PGK_SAMPLE_FIGURES_H
#define PGK_SAMPLE_FIGURES_H

#include "fail.h"
#include "pgokit/binaries.h"
#include "sample_model.h"

/* Millionths of all samples that density looks at, as llvm-profgen does by default. */
enum { PGK_DENSITY_PPM = 990000 };

/* Samples per line (or probe) of the sparsest of the functions that, densest first, have that
 * share of all samples: llvm-profgen --show-density. Contexts are nested for it, as there.
 * 0 without samples. */
PGK_MUST_USE int pgk_sample_density(const struct pgk_sample *p, double *density,
                                    struct pgk_err *err);

struct pgk_sample_coverage {
    size_t functions;      /* of the binaries: addresses with a function symbol and code */
    size_t profiled;       /* those with a profile of their own */
    size_t inlined;        /* those with samples only where they are inlined */
    uint64_t bytes;        /* of code of all, of the profiled, of the inlined ones */
    uint64_t profiled_bytes, inlined_bytes;
    size_t unknown;          /* functions of the profile that no binary has */
    uint64_t unknown_samples; /* their totals */
};
/* The finished profile against the function symbols of its binaries. */
PGK_MUST_USE int pgk_sample_cover(const struct pgk_sample *p, struct pgk_binaries *binaries,
                                  struct pgk_sample_coverage *coverage, struct pgk_err *err);

#endif
