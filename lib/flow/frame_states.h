/* Where functions of AArch64 have their frame. There a function sets up the frame pointer some
 * instructions after its start, on some paths only, and functions that call none have no frame. So
 * a call chain by frame pointers lacks the caller at many more places than at the two instructions
 * with which code of x86-64 begins. */
#ifndef PGK_FRAME_STATES_H
#define PGK_FRAME_STATES_H

#include "code.h"

/* Whether the frame pointer is that of a caller when control is at `addr`, an instruction of
 * AArch64. False, too, when out of memory. */
bool pgk_frame_is_missing(struct pgk_code *code, uint64_t addr);

#endif
