/* Reading what the branch recorder has counted. docs/formats/branch-recording.md */
#ifndef PGK_BRANCH_VIEW_H
#define PGK_BRANCH_VIEW_H

#include "branch_recording.h"
#include "cursor.h"
#include "pgokit/branches.h"

/* A recording whose numbers have been checked: what they lead to is there. */
struct pgk_branches_view {
    const uint8_t *bytes;
    struct pgk_branch_header head; /* counters are those that the file has, else 0 */
};

bool pgk_branches_sniff(const uint8_t *bytes, size_t size);
int pgk_branches_check(struct pgk_branches_view *view, const uint8_t *bytes, size_t size,
                       const struct pgk_source *src, struct pgk_err *err);
struct pgk_branch_module pgk_branches_module(const struct pgk_branches_view *view, uint64_t i);
/* What the recording says of its process; all zeros: nothing. */
struct pgk_branch_process pgk_branches_process(const struct pgk_branches_view *view);
struct pgk_branch_entry pgk_branches_entry(const struct pgk_branches_view *view, uint64_t i);

/* Position of the module of an address of an entry; the number of modules if it is in none. */
static inline uint64_t pgk_branches_module_of(const struct pgk_branches_view *view, uint64_t addr)
{
    const uint64_t number = addr >> PGK_BRANCH_MODULE_SHIFT;
    return number ? number - 1 : view->head.modules;
}

static inline uint64_t pgk_branches_place(uint64_t addr)
{
    return addr & ((UINT64_C(1) << PGK_BRANCH_MODULE_SHIFT) - 1);
}

#endif
