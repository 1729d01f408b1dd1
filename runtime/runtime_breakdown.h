/* Which contexts held most at a point of the series. docs/design/runtime.md, "Over time". */
#ifndef PGRT_BREAKDOWN_H
#define PGRT_BREAKDOWN_H

#include "runtime_raw.h"

#pragma GCC visibility push(hidden)

/* Takes the breakdown of live bytes for the point of this time; an empty one if it would cost too
 * much. */
void pgrt_breakdown_take(struct pgrt_breakdown *to, u32 now_ms);
void pgrt_breakdown_copy(struct pgrt_breakdown *to, const struct pgrt_breakdown *from);
void pgrt_breakdown_forked(void);
void pgrt_breakdown_forget(void); /* its memory, until it is needed again */

#pragma GCC visibility pop
#endif
