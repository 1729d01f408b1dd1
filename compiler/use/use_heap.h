/* Hints of objects that will hardly be used: at the calls that allocate them. */
#ifndef PGC_USE_HEAP_H
#define PGC_USE_HEAP_H

#include "heap_profile.h"
#include "use_pass.h"
#include "use_report.h"

/* Gives calls of a module that allocate the attributes and metadata by which LLVM knows what the
 * profile says of them. Returns how many calls of the module the profile has. */
size_t pgc_mark_allocations(LLVMModuleRef module, struct pgc_heap_profile *profile,
                            const struct pgc_use_options *options, struct pgc_report *report);

#endif
