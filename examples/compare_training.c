/* How well does one run stand for another? Prints how far two instrumentation profiles agree, and
 * the functions that ran in the second one only, or whose code differs:
 *
 *     cc compare_training.c $(pkg-config --cflags --libs pgokit) -o compare_training
 *     ./compare_training training.profdata production.profdata */
#include <pgokit/pgokit.h>

#include <stdio.h>

static int read_counters(struct pgk_instr **profile, const char *path, struct pgk_err *err)
{
    int status = pgk_instr_new(profile, err);
    return status ? status : pgk_instr_read(*profile, path, 1, err);
}

static bool ran(const struct pgk_instr *profile, size_t i, struct pgk_instr_function *f)
{
    pgk_instr_function(profile, i, f);
    return f->counts[0] != 0;
}

static void print_untrained(const struct pgk_instr *training, const struct pgk_instr *production)
{
    struct pgk_instr_function f = {.struct_size = sizeof f}, trained = f;
    for (size_t i = 0; i < pgk_instr_functions(production); i++) {
        if (!ran(production, i, &f))
            continue;
        size_t at = pgk_instr_lookup(training, f.id, f.hash);
        if (at == SIZE_MAX || !ran(training, at, &trained))
            printf("%s: %s\n", at == SIZE_MAX ? "other code" : "did not run", f.name);
    }
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_instr *training = NULL, *production = NULL;
    struct pgk_instr_overlap overlap = {.struct_size = sizeof overlap};
    if (argc != 3) {
        fprintf(stderr, "usage: %s TRAINING PRODUCTION\n", argv[0]);
        return 1;
    }
    int status = read_counters(&training, argv[1], &err);
    if (!status)
        status = read_counters(&production, argv[2], &err);
    if (!status)
        status = pgk_instr_overlap(training, production, false, &overlap, &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    } else {
        printf("%.1f %% of the counts agree\n", 100 * overlap.counters);
        print_untrained(training, production);
    }
    pgk_instr_close(&training);
    pgk_instr_close(&production);
    return status != 0;
}
