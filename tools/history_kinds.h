/* Shared by the kinds of pgokit history. */
#ifndef PGK_HISTORY_KINDS_H
#define PGK_HISTORY_KINDS_H

#include "cli.h"

extern const struct cli_verb history_add;
extern const struct cli_verb history_show;
extern const struct cli_verb history_diff;
extern const struct cli_verb history_get;
extern const struct cli_verb history_page;

/* Which profiles are meant; the struct of the table is a struct pgk_history_query. */
extern const struct option_table history_query_options;

/* Seconds since 1970 of "2026-11-27", "2026-11-27 16:00", "2026-11-27T16:00:00Z" or "@1795795200",
 * in UTC; or of "30d", so many days before now. Exits with EXIT_FAILED and a sentence on others. */
int64_t history_time(const char *option, const char *text);

#endif
