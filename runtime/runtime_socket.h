/* The socket that answers requests for dumps and profiles while the program runs, if options ask
 * for one. A thread of our own waits there. */
#ifndef PGRT_SOCKET_H
#define PGRT_SOCKET_H

#include "pgrt.h"

#pragma GCC visibility push(hidden)

/* Says why if there is none. In a child only if the name has the process in it. */
void pgrt_socket_begin(void);
void pgrt_socket_end(void);      /* its file is gone */
void pgrt_socket_confined(void); /* ends it, and says why */
void pgrt_socket_forked(void);

#pragma GCC visibility pop
#endif
