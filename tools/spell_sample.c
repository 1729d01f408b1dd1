/* Spelling what a sample profile has GUIDs for. */
#include "spell_sample.h"

int sample_spell(struct pgk_sample *profile, const char *names, const struct cli_common *common,
                 struct pgk_err *err)
{
    struct pgk_binaries *binaries;
    int status = names ? pgk_sample_name_from_file(profile, names, err) : 0;
    if (status || !common->binaries.n)
        return status;
    status = cli_open_binaries(common, &binaries, err);
    if (status)
        return status;
    status = pgk_sample_name_from_binaries(profile, binaries, err);
    pgk_binaries_close(&binaries);
    return status;
}
