/* Reading a sample profile as compilers use it. */
#include "pgokit/use.h"

#include "format_rows.h"

static int as_used(struct pgk_sample **profile, struct pgk_err *err)
{
    struct pgk_sample_info info = {.struct_size = sizeof info};
    pgk_sample_info(*profile, &info);
    if (info.flow_discriminators)
        PGK_TRY(pgk_sample_reduce_flow(profile, PGK_SAMPLE_FLOW_BASE, err));
    PGK_TRY(pgk_sample_canonicalise(profile, PGK_SAMPLE_SUFFIXES_SELECTED, err));
    return pgk_sample_finish(*profile, err);
}

/* Gives `new` to the caller, unless something failed. */
static int give(struct pgk_sample **profile, struct pgk_sample *new, int status,
                struct pgk_err *err)
{
    status = status ? status : as_used(&new, err);
    if (status)
        pgk_sample_close(&new);
    else
        *profile = new;
    return status;
}

int pgk_use_read_sample(struct pgk_sample **profile, struct pgk_file *file, struct pgk_err *err)
{
    struct pgk_sample *new;
    PGK_TRY(pgk_sample_new(&new, err));
    return give(profile, new, pgk_sample_read_file(new, file, 1, err), err);
}

int pgk_use_read_functions(struct pgk_sample **profile, struct pgk_file *file,
                           const uint64_t *functions, size_t n, struct pgk_err *err)
{
    struct pgk_sample *new = NULL;
    int status = pgk_sample_read_functions(&new, file, functions, n, err);
    return give(profile, new, status, err);
}
