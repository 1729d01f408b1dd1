/* Prints the functions of a program in which no sample was taken, but for what was inlined into
 * others, from a sample profile that lists the program's symbols (pgokit gen --symbols):
 *
 *     cc never_sampled.c $(pkg-config --cflags --libs pgokit) -o never_sampled
 *     ./never_sampled app.afdo */
#include <pgokit/pgokit.h>

#include <stdio.h>

static void print_unsampled(const struct pgk_sample *profile)
{
    const char *symbol;
    for (size_t i = 0; (symbol = pgk_sample_symbol_at(profile, i)); i++)
        if (!pgk_sample_find_function(profile, symbol))
            puts(symbol);
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_sample *profile = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: %s PROFILE\n", argv[0]);
        return 1;
    }
    int status = pgk_sample_new(&profile, &err);
    if (!status)
        status = pgk_sample_read(profile, argv[1], 1, &err);
    if (!status)
        status = pgk_sample_finish(profile, &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    } else {
        print_unsampled(profile);
    }
    pgk_sample_close(&profile);
    return status != 0;
}
