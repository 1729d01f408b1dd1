/* Prints how far two sample profiles agree, and the functions whose share of all samples moved
 * most:
 *
 *     cc compare_samples.c $(pkg-config --cflags --libs pgokit) -o compare_samples
 *     ./compare_samples last-week.afdo today.afdo */
#include <pgokit/pgokit.h>

#include <stdio.h>

enum { TOP = 10 };

static int read_samples(struct pgk_sample **profile, const char *path, struct pgk_err *err)
{
    int status = pgk_sample_new(profile, err);
    if (!status)
        status = pgk_sample_read(*profile, path, 1, err);
    return status ? status : pgk_sample_finish(*profile, err);
}

static void print_diff(const struct pgk_sample_diff *diff)
{
    size_t n;
    const struct pgk_sample_change *changes = pgk_sample_diff_changes(diff, &n);
    printf("%.1f %% of the samples are at the same places\n",
           100 * pgk_sample_diff_overlap(diff)->similarity);
    for (size_t i = 0; i < n && i < TOP; i++)
        printf("%5.1f %% -> %5.1f %%  %s\n", 100 * changes[i].base_share,
               100 * changes[i].test_share, changes[i].function);
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_sample *base = NULL, *test = NULL;
    struct pgk_sample_diff *diff = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: %s BASE TEST\n", argv[0]);
        return 1;
    }
    int status = read_samples(&base, argv[1], &err);
    if (!status)
        status = read_samples(&test, argv[2], &err);
    if (!status)
        status = pgk_sample_exchange_names(base, test, &err);
    if (!status)
        status = pgk_sample_compare(&diff, base, test, &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    } else {
        print_diff(diff);
    }
    pgk_sample_diff_close(&diff);
    pgk_sample_close(&base);
    pgk_sample_close(&test);
    return status != 0;
}
