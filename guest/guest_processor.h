/* The processor that this is built for. A port is a header with the names of guest_x86_64.h. */
#ifndef PGG_PROCESSOR_H
#define PGG_PROCESSOR_H

#if defined __x86_64__
#include "guest_x86_64.h"
#elif defined __aarch64__
#include "guest_aarch64.h"
#else
#error "guest/ has no header for this processor; write one with the names of guest_x86_64.h"
#endif

#endif
