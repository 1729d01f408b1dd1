/* Adds up instrumentation profiles of any format and writes what clang -fprofile-use reads:
 *
 *     cc merge_counters.c $(pkg-config --cflags --libs pgokit) -o merge_counters
 *     ./merge_counters app.profdata *.profraw */
#include <pgokit/pgokit.h>

#include <stdio.h>

static int write_for(const char *release, const struct pgk_instr *profile, const char *path,
                     struct pgk_err *err)
{
    struct pgk_indexed_write_opts opts = {.struct_size = sizeof opts};
    opts.target = *pgk_indexed_target(release);
    opts.target.index_version = pgk_instr_index_version(profile, opts.target.index_version);
    return pgk_indexed_write(NULL, profile, path, &opts, err);
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_instr *sum = NULL;
    int status = pgk_instr_new(&sum, &err);
    if (argc < 3) {
        fprintf(stderr, "usage: %s OUTPUT PROFILE...\n", argv[0]);
        pgk_instr_close(&sum);
        return 1;
    }
    for (int i = 2; i < argc && !status; i++)
        status = pgk_instr_read(sum, argv[i], 1, &err);
    if (!status)
        status = write_for("any", sum, argv[1], &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    } else {
        printf("%zu functions\n", pgk_instr_functions(sum));
    }
    pgk_instr_close(&sum);
    return status != 0;
}
