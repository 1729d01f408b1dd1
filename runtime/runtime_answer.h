/* Requests of clients of the socket, and what they are answered. */
#ifndef PGRT_ANSWER_H
#define PGRT_ANSWER_H

#include "pgrt.h"

#pragma GCC visibility push(hidden)

/* Reads a request from the connection and answers it; gives up on a slow client, and once the
 * second descriptor can be read. `close` it afterwards. */
void pgrt_answer(int client, int bell);

#pragma GCC visibility pop
#endif
