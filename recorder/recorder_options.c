/* Options, and the name of the file. */
#include "recorder_options.h"

#include "guest_env.h"
#include "guest_file.h"
#include "guest_sys.h"
#include "recorder_engine.h"

enum { PGBR_SIGNAL = 61 }; /* that few programs use; SIGPROF stays theirs */

struct pgbr_options pgbr_options;

static const struct pgg_option rows[] = {
#define PGBR_NUMBER(name, initial, lowest, highest, meaning) \
    {#name, meaning, &pgbr_options.name, initial, lowest, highest, NULL},
#define PGBR_STRING(name, meaning) {#name, meaning, NULL, 0, 0, 0, pgbr_options.name},
#include "recorder_options.def"
#undef PGBR_NUMBER
#undef PGBR_STRING
};

static const struct pgg_options table = {
    .who = PGBR_WHO,
    .rows = rows,
    .n = sizeof rows / sizeof *rows,
};

void pgbr_options_default(void)
{
    enum { BRANCHES = 1024 };
    pgg_options_reset(&table);
    pgbr_options.branches = BRANCHES;
}

void pgbr_options_read(void)
{
    pgg_options_reset(&table);
    pgg_options_parse(&table, pgg_secure_getenv("PGOKIT_BRANCHES_OPTIONS"));
    if (pgbr_options.help)
        pgg_options_print(&table);
}

bool pgbr_recording_path(char *buffer, size_t size, bool *unique)
{
    const int process = pgg_sys_process();
    const bool given = pgbr_options.out[0];
    struct pgg_text t;
    pgg_text_init(&t, buffer, size);
    if (!pgg_file_expand(&t, given ? pgbr_options.out : "branches.%p.pgkbr", process)) {
        pgg_text_str(&t, ".");
        pgg_text_u64(&t, (u64)process);
    }
    *unique = true;
    return t.at < t.end;
}
