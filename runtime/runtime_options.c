/* Options, all from options.def, and the name of the profile. */
#include "runtime_options.h"

#include "guest_bytes.h"
#include "guest_depot.h"
#include "guest_env.h"
#include "guest_file.h"
#include "runtime_raw.h"
#include "runtime_start.h"

struct pgrt_options pgrt_options;

extern const char __memprof_profile_filename[] __attribute__((weak));
extern const char __memprof_default_options_str[] __attribute__((weak));
extern const char *__memprof_default_options(void) __attribute__((weak));

static const struct pgg_option rows[] = {
#define PGRT_NUMBER(name, initial, lowest, highest, meaning) \
    {#name, meaning, &pgrt_options.name, initial, lowest, highest, NULL},
#define PGRT_STRING(name, meaning) {#name, meaning, NULL, 0, 0, 0, pgrt_options.name},
#include "options.def"
#undef PGRT_NUMBER
#undef PGRT_STRING
};

static const struct pgg_other_name others[] = {
#define PGRT_OTHER_NAME(other, name) {#other, #name},
#include "options.def"
#undef PGRT_OTHER_NAME
};

static const struct pgg_options table = {
    .who = PGRT_WHO,
    .rows = rows,
    .n = sizeof rows / sizeof *rows,
    .others_n = sizeof others / sizeof *others,
    .others = others,
};

void pgrt_options_read(void)
{
    pgg_options_reset(&table);
    /* A program's function replaces the string of its objects. */
    if (__memprof_default_options)
        pgg_options_parse(&table, __memprof_default_options());
    else if (__memprof_default_options_str)
        pgg_options_parse(&table, __memprof_default_options_str);
    pgg_options_parse(&table, pgg_secure_getenv("MEMPROF_OPTIONS"));
    pgg_options_parse(&table, pgg_secure_getenv("PGOKIT_HEAP"));
    pgg_options_parse(&table, pgg_secure_getenv("PGOKIT_HEAP_OPTIONS"));
    if (pgrt_options.help)
        pgg_options_print(&table);
}

/* The process that the program was started as; its children add their own number to a name
 * that would otherwise be the same for all. */
static int first_pid;

bool pgrt_profile_path(char *buffer, size_t size, int *stream, bool *unique)
{
    struct pgg_text t;
    const char *prefix = pgrt_options.log_path;
    pgg_text_init(&t, buffer, size);
    *stream = -1;
    if (!first_pid)
        first_pid = pgrt_pid;
    *unique = true;
    if (pgrt_options.out[0]) {
        *unique = pgg_file_expand(&t, pgrt_options.out, pgrt_pid);
        if (!*unique && first_pid != pgrt_pid) {
            pgg_text_str(&t, ".");
            pgg_text_u64(&t, (u64)pgrt_pid);
            *unique = true;
        }
        return t.at < t.end;
    }
    if (!*prefix)
        prefix = __memprof_profile_filename ? __memprof_profile_filename : "";
    if (pgg_streq(prefix, "stdout") || pgg_streq(prefix, "stderr")) {
        *stream = prefix[3] == 'o' ? 1 : 2;
        return true;
    }
    pgg_file_expand(&t, *prefix ? prefix : "memprof.profraw", pgrt_pid);
    pgg_text_str(&t, ".");
    pgg_text_u64(&t, (u64)pgrt_pid);
    return t.at < t.end;
}
