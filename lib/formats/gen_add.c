/* Adding a file of any format to a generator of sample profiles. */
#include "format_rows.h"
#include "gen_input.h"

int pgk_gen_add(struct pgk_gen *gen, const char *path, struct pgk_err *err)
{
    return pgk_gen_add_file(gen, path, pgk_format_row_at, err);
}

int pgk_gen_add_folder(struct pgk_gen *gen, const char *folder, struct pgk_err *err)
{
    return pgk_gen_add_files(gen, folder, pgk_format_row_at, err);
}
