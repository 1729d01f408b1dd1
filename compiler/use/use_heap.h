/* Hints of objects that will hardly be used: at the calls that allocate them. */
#ifndef PGC_USE_HEAP_H
#define PGC_USE_HEAP_H

#include "heap_profile.h"

/* Gives calls of a module that allocate the attributes and metadata by which LLVM knows what the
 * profile says of them. Returns how many calls of the module the profile has. */
size_t pgc_mark_allocations(LLVMModuleRef module, struct pgc_heap_profile *profile,
                            const struct pgc_use_options *options);

#endif
