/* Options, and the name of the file. */
#include "sampler_options.h"

#include "guest_depot.h"
#include "guest_env.h"
#include "guest_file.h"

struct pgsm_options pgsm_options;

static const struct pgg_option rows[] = {
#define PGSM_NUMBER(name, initial, lowest, highest, meaning) \
    {#name, meaning, &pgsm_options.name, initial, lowest, highest, NULL},
#define PGSM_STRING(name, meaning) {#name, meaning, NULL, 0, 0, 0, pgsm_options.name},
#include "sampler_options.def"
#undef PGSM_NUMBER
#undef PGSM_STRING
};

static const struct pgg_options table = {
    .who = PGSM_WHO,
    .rows = rows,
    .n = sizeof rows / sizeof *rows,
};

void pgsm_options_read(void)
{
    pgg_options_reset(&table);
    pgg_options_parse(&table, pgg_secure_getenv("PGOKIT_SAMPLED_HEAP_OPTIONS"));
    if (pgsm_options.help)
        pgg_options_print(&table);
}

/* The process that the program was started as; its children add their own number to a name that
 * would otherwise be the same for all. */
static int first_process;

bool pgsm_profile_path(char *buffer, size_t size, int process, bool *unique)
{
    struct pgg_text t;
    pgg_text_init(&t, buffer, size);
    if (!first_process)
        first_process = process;
    *unique = pgg_file_expand(
        &t, pgsm_options.out[0] ? pgsm_options.out : "memprof.profraw.%p", process);
    if (!*unique && first_process != process) {
        pgg_text_str(&t, ".");
        pgg_text_u64(&t, (u64)process);
        *unique = true;
    }
    return t.at < t.end;
}
