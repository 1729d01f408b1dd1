/* Variants of instrumentation: bits of the version word of raw and indexed profiles. */
#ifndef PGK_VARIANT_H
#define PGK_VARIANT_H

enum pgk_indexed_flag {
#define PGK_INDEXED_FLAG(name, bit, meaning) PGK_INDEXED_##name = (bit),
#include "indexed.def"
#undef PGK_INDEXED_FLAG
};

#endif
