/* Makes a sample profile of a program from a recording of perf:
 *
 *     perf record -e branches:u -b -o perf.data ./app
 *     cc make_samples.c $(pkg-config --cflags --libs pgokit) -o make_samples
 *     ./make_samples perf.data ./app app.afdo */
#include <pgokit/pgokit.h>

#include <inttypes.h>
#include <stdio.h>

static int make(const char *recording, struct pgk_binaries *binaries, const char *output,
                struct pgk_err *err)
{
    struct pgk_gen *gen = NULL;
    struct pgk_sample *profile = NULL;
    int status = pgk_gen_new(&gen, binaries, NULL, err);
    if (!status)
        status = pgk_gen_add(gen, recording, err);
    if (!status)
        status = pgk_gen_profile(gen, &profile, err);
    if (!status)
        status = pgk_sample_write(profile, output, NULL, NULL, err);
    if (!status)
        printf("%zu functions of %" PRIu64 " samples\n", pgk_sample_functions(profile),
               pgk_gen_stats(gen)->samples);
    pgk_sample_close(&profile);
    pgk_gen_close(&gen);
    return status;
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_binaries *binaries = NULL;
    if (argc != 4) {
        fprintf(stderr, "usage: %s RECORDING PROGRAM OUTPUT\n", argv[0]);
        return 1;
    }
    int status = pgk_binaries_new(&binaries, NULL, &err);
    if (!status)
        status = pgk_binaries_add(binaries, argv[2], &err);
    if (!status)
        status = make(argv[1], binaries, argv[3], &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    }
    pgk_binaries_close(&binaries);
    return status != 0;
}
