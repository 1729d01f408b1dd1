/* Hints of types: which virtual tables the objects of virtual calls have. */
#ifndef PGC_USE_TYPES_H
#define PGC_USE_TYPES_H

#include "type_profile.h"

/* Gives LLVM the types at the virtual calls of a module. */
void pgc_hint_types(LLVMModuleRef module, struct pgc_type_profile *profile,
                    struct pgc_report *report);

#endif
