/* Types of objects of a sample profile: at which places, in which contexts. */
#ifndef PGC_TYPE_PROFILE_H
#define PGC_TYPE_PROFILE_H

#include "type_index.h"
#include "use_report.h"

#include <pgokit/err.h>
#include <pgokit/format.h>

struct pgc_type_profile;

/* Reads what concerns the module; or all, as a report of it needs. NULL, and an error, if the file
 * cannot be read. */
struct pgc_type_profile *pgc_types_read(struct pgk_file *file, LLVMModuleRef module, bool all,
                                        struct pgk_err *err);
/* Accepts NULL. */
void pgc_types_close(struct pgc_type_profile *profile);

/* Is anything known of a function, in any context? */
bool pgc_types_know(const struct pgc_type_profile *profile, uint64_t function);
/* As pgc_type_index_at. */
size_t pgc_types_at(struct pgc_type_profile *profile, const struct pgc_place *chain, size_t n,
                    struct pgc_type_count types[PGC_TYPES]);

/* Records the outcome of the types that were found last: the first `given` of `n` are used, by the
 * call with this chain; `taken`: none, as the load has others. */
void pgc_types_settle(struct pgc_type_profile *profile, const struct pgc_type_count *types,
                      size_t given, size_t n, bool taken, const struct pgc_place *chain,
                      size_t n_chain);
/* Writes what became of all types of functions that the module has. */
void pgc_types_report(struct pgc_type_profile *profile, LLVMModuleRef module,
                      struct pgc_report *report);

#endif
