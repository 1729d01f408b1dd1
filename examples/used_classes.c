/* Prints on how many objects of each class a run made virtual calls, from a profile of a program
 * that was built with clang -mllvm -enable-vtable-value-profiling. Classes without one were not
 * tried by the run.
 *
 *     cc used_classes.c $(pkg-config --cflags --libs pgokit) -o used_classes
 *     ./used_classes app.profdata */
#include <pgokit/pgokit.h>

#include <inttypes.h>
#include <stdio.h>

enum { MAX_TYPES = 64 };

/* Objects of a class at all virtual calls of a function. */
static uint64_t count_in(const struct pgk_instr *profile, size_t function, uint64_t table)
{
    struct pgk_instr_value seen[MAX_TYPES];
    uint64_t sum = 0;
    for (size_t s = 0; s < pgk_instr_sites(profile, function, PGK_VALUE_VTABLE); s++) {
        size_t n = pgk_instr_site(profile, function, PGK_VALUE_VTABLE, s, seen, MAX_TYPES);
        for (size_t i = 0; i < n && i < MAX_TYPES; i++)
            sum += seen[i].value == table ? seen[i].count : 0;
    }
    return sum;
}

static void print_classes(const struct pgk_instr *profile)
{
    for (size_t i = 0; i < pgk_instr_vtables(profile); i++) {
        const char *table = pgk_instr_vtable_at(profile, i);
        char name[512];
        uint64_t objects = 0;
        for (size_t f = 0; f < pgk_instr_functions(profile); f++)
            objects += count_in(profile, f, pgk_sample_guid(table));
        printf("%12" PRIu64 "  %s\n", objects, pgk_human_function(name, sizeof name, table));
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
        print_classes(profile);
    }
    pgk_instr_close(&profile);
    return status != 0;
}
