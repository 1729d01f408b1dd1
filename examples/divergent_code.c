/* Prints the functions of a GPU program whose lanes diverge: parts that ran, but for which not all
 * lanes of a wave were active.
 *
 *     cc divergent_code.c $(pkg-config --cflags --libs pgokit) -o divergent_code
 *     ./divergent_code kernel.profdata */
#include <pgokit/pgokit.h>

#include <stdio.h>

enum { MAX_BYTES = 4096 };

static void print_if_divergent(const struct pgk_instr *profile, size_t i)
{
    struct pgk_instr_function f = {.struct_size = sizeof f};
    uint8_t uniform[MAX_BYTES]; /* a bit for each counter */
    size_t known = pgk_instr_uniformity(profile, i, uniform, MAX_BYTES), parts = 0;
    pgk_instr_function(profile, i, &f);
    for (size_t k = 0; k < f.n_counts && k / 8 < known && k / 8 < MAX_BYTES; k++)
        parts += f.counts[k] && !(uniform[k / 8] >> k % 8 & 1);
    if (parts)
        printf("%s: %zu of %zu parts\n", f.name, parts, f.n_counts);
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_instr *profile = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: %s PROFILE\n", argv[0]);
        return 1;
    }
    int status = pgk_instr_new(&profile, &err);
    if (!status)
        status = pgk_instr_read(profile, argv[1], 1, &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    } else {
        for (size_t i = 0; i < pgk_instr_functions(profile); i++)
            print_if_divergent(profile, i);
    }
    pgk_instr_close(&profile);
    return status != 0;
}
