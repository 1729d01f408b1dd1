/* Reading a sample profile for people: with names, where binaries are given. */
#include "sample_input.h"

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

int sample_input_read(struct pgk_sample **profile, const char *path,
                      const struct cli_common *common, const struct pgk_file_info **info,
                      struct pgk_err *err)
{
    struct pgk_file *file;
    int status = pgk_sample_new(profile, err);
    if (!status)
        status = cli_open(&file, path, err);
    if (!status)
        status = pgk_sample_read_file(*profile, file, 1, err);
    if (!status && info)
        *info = pgk_file_info(file);
    if (!status)
        status = sample_spell(*profile, NULL, common, err);
    return status ? status : pgk_sample_finish(*profile, err);
}
