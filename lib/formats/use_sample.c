/* Reading a sample profile as compilers use it. */
#include "pgokit/use.h"

#include "fail.h"

static int read_as_used(struct pgk_sample **profile, struct pgk_file *file, struct pgk_err *err)
{
    struct pgk_sample_info info = {.struct_size = sizeof info};
    PGK_TRY(pgk_sample_read_file(*profile, file, 1, err));
    pgk_sample_info(*profile, &info);
    if (info.flow_discriminators)
        PGK_TRY(pgk_sample_reduce_flow(profile, PGK_SAMPLE_FLOW_BASE, err));
    PGK_TRY(pgk_sample_canonicalise(profile, PGK_SAMPLE_SUFFIXES_SELECTED, err));
    return pgk_sample_finish(*profile, err);
}

int pgk_use_read_sample(struct pgk_sample **profile, struct pgk_file *file, struct pgk_err *err)
{
    struct pgk_sample *new;
    PGK_TRY(pgk_sample_new(&new, err));
    int status = read_as_used(&new, file, err);
    if (status)
        pgk_sample_close(&new);
    else
        *profile = new;
    return status;
}
