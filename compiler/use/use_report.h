/* Records of what was used of a profile: docs/formats/use-record.md. All accept NULL: none. */
#ifndef PGC_USE_REPORT_H
#define PGC_USE_REPORT_H

#include "use_llvm.h"

#include <pgokit/use.h>

struct pgc_report;

/* A record of a module in a folder; NULL if `folder` is. */
struct pgc_report *pgc_report_new(const char *folder, LLVMModuleRef module, const char *profile);
/* `kind` "heap", "types" or "link"; of how many contexts or types, and their bytes or objects. */
void pgc_report_of(struct pgc_report *report, const char *kind, uint64_t items, uint64_t weight);
void pgc_report_limits(struct pgc_report *report, const struct pgk_use_limits *limits);
/* The outcome of a context or type; `place` is the key of its call. */
void pgc_report_use(struct pgc_report *report, enum pgk_use use, uint64_t key, uint64_t place);
/* A call that got something, should have, or has no place. */
enum pgc_report_call { PGC_GIVEN, PGC_MISSED, PGC_UNLOCATED };
void pgc_report_count(struct pgc_report *report, enum pgc_report_call what);
/* A call in a link that got a hint ("hinted"), or whose table is compared ("compared"): by the keys
 * that it has with any number of the callers that it is inlined through; `type` is 0, or the
 * table's. */
void pgc_report_linked(struct pgc_report *report, const char *what, LLVMValueRef at, uint64_t type);
/* Writes it, and says if that fails. */
void pgc_report_close(struct pgc_report *report, LLVMModuleRef module);

/* The key of a call by its chain, and of a type there. */
uint64_t pgc_place_key(const struct pgc_place *chain, size_t n, uint64_t type);

/* The link that the module goes into shall write records, too; and does it? NULL: no. */
void pgc_report_in_link(LLVMModuleRef module, const char *folder);
const char *pgc_report_of_link(LLVMModuleRef module);

#endif
