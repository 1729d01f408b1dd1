/* Reading the functions of a sample profile that a name or a pattern chooses. */
#include "format_rows.h"

#include <string.h>

static bool is_context(const char *text)
{
    size_t len = strlen(text);
    return len > 2 && text[0] == '[' && text[len - 1] == ']';
}

/* The summary is that of all functions, whatever is left of them. */
static int read_filtered(struct pgk_sample *profile, struct pgk_file *file, const char *pattern,
                         struct pgk_err *err)
{
    struct pgk_sample_info left = {.struct_size = sizeof left};
    PGK_TRY(pgk_sample_read_file(profile, file, 1, err));
    PGK_TRY(pgk_file_note_summary(file, profile, err));
    PGK_TRY(pgk_sample_filter(profile, pattern, NULL, err));
    PGK_TRY(pgk_sample_finish(profile, err));
    pgk_sample_info(profile, &left);
    if (left.functions)
        return 0;
    return pgk_fail(err, PGK_E_EMPTY, .file = pgk_file_path(file), .field = "function",
                    .found = PGK_F("no profile that is of '%s' or matches it", pattern),
                    .expected = "one",
                    .hint = "give the name as the linker knows it, or an extended regular "
                            "expression; pgokit show --linkage-names lists names");
}

int pgk_sample_read_matching(struct pgk_sample **profile, struct pgk_file *file,
                             const char *pattern, struct pgk_err *err)
{
    struct pgk_sample *new;
    struct pgk_err why = {0};
    PGK_TRY(pgk_sample_new(&new, err));
    int status = pgk_sample_read_function(new, file, pattern, &why);
    if (status == PGK_E_EMPTY && !is_context(pattern)) {
        pgk_sample_close(&new);
        PGK_TRY(pgk_sample_new(&new, err));
        status = read_filtered(new, file, pattern, &why);
    }
    if (status) {
        pgk_sample_close(&new);
        if (err)
            *err = why;
        return status;
    }
    pgk_sample_close(profile);
    *profile = new;
    return 0;
}
