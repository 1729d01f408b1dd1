/* Makes a sample profile from samples of one's own, for clang -fprofile-sample-use: a line of the
 * input is a function, lines after its first line, and how often that place was sampled.
 *
 *     cc build_samples.c $(pkg-config --cflags --libs pgokit) -o build_samples
 *     printf 'main 4 120\nparse 1 80\nparse 2 15\n' | ./build_samples app.afdo */
#include <pgokit/pgokit.h>

#include <inttypes.h>
#include <stdio.h>

static int add_samples(struct pgk_sample *profile, FILE *in, struct pgk_err *err)
{
    char function[256];
    uint32_t line, node;
    uint64_t samples;
    while (fscanf(in, "%255s %" SCNu32 " %" SCNu64, function, &line, &samples) == 3) {
        int status = pgk_sample_build_function(profile, function, &node, err);
        if (!status)
            status = pgk_sample_build_line(profile, node, line, 0, samples, err);
        if (status)
            return status;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_sample *profile = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: %s OUTPUT < SAMPLES\n", argv[0]);
        return 1;
    }
    int status = pgk_sample_new(&profile, &err);
    if (!status)
        status = add_samples(profile, stdin, &err);
    if (!status)
        status = pgk_sample_build_totals(profile, &err);
    if (!status)
        status = pgk_sample_finish(profile, &err);
    if (!status) {
        const struct pgk_sample_write_opts opts = {
            .struct_size = sizeof opts, .encoding = PGK_SAMPLE_EXT_BINARY};
        status = pgk_sample_write(profile, argv[1], &opts, NULL, &err);
    }
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    }
    pgk_sample_close(&profile);
    return status != 0;
}
