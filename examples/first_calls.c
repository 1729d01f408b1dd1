/* Prints in which order functions were called first, run by run, from a profile of a program that
 * was built with temporal instrumentation (clang -mllvm -pgo-temporal-instrumentation):
 *
 *     cc first_calls.c $(pkg-config --cflags --libs pgokit) -o first_calls
 *     ./first_calls app.profdata */
#include <pgokit/pgokit.h>

#include <inttypes.h>
#include <stdio.h>

static void print_trace(const struct pgk_instr *profile, size_t i)
{
    uint64_t runs;
    size_t n;
    const uint64_t *ids = pgk_instr_trace_at(profile, i, &n, &runs);
    printf("trace %zu, runs: %" PRIu64 "\n", i + 1, runs);
    for (size_t k = 0; k < n; k++) {
        const char *name = pgk_instr_name(profile, PGK_VALUE_CALL, ids[k]);
        printf("  %s\n", name ? name : "(unknown)");
    }
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
        for (size_t i = 0; i < pgk_instr_traces(profile); i++)
            print_trace(profile, i);
    }
    pgk_instr_close(&profile);
    return status != 0;
}
