/* The mapped file of counts. It is made when the first window ends, and is sound at every moment
 * from then on, so that a kill leaves what was counted. Its memory grows with the code that was
 * seen, not with time. For one thread at a time. */
#ifndef PGBR_TABLE_H
#define PGBR_TABLE_H

#include "pgbr.h"

#pragma GCC visibility push(hidden)

extern u64 pgbr_start_time; /* of the process, in ms since 1970 */
bool pgbr_table_open(void); /* false: it cannot be made, and said why */
/* Number of a file, a new one if it was not there; PGK_BRANCH_MODULES_MAX: the table is full. */
u32 pgbr_table_file(const struct pgk_branch_module *file);
/* Counts a branch from here to there, names of pgbr_module_name and pgbr_module_data_name, under a
 * call: the number that this returned for the call, or 0. Returns a number to count under it; 0:
 * the table is full. */
u32 pgbr_table_add(enum pgk_branch_kind kind, u64 from, u64 to, u32 under);
/* The file, once there is one, and one of its modules. */
const char *pgbr_table_path(void);
const struct pgk_branch_module *pgbr_table_module(u32 file);
void pgbr_table_end(void);    /* the process ends: the file gets the size of what is in it */
void pgbr_table_drop(void);   /* there is to be none: the file is removed, and none made again */
void pgbr_table_forked(void); /* the parent's file is left */

#pragma GCC visibility pop
#endif
