/* In place of the recorder, on processors whose code it cannot translate: no accesses are seen. */
#include "recorder_access.h"

struct pgbr_accesses pgbr_accesses;

bool pgbr_start_for_accesses(u32 budget_permille)
{
    (void)budget_permille;
    return false;
}

void pgbr_stop_for_accesses(void) {}

u64 pgbr_cost_ns(void)
{
    return 0;
}
