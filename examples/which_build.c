/* Prints which builds an instrumentation profile is of, by their build ids, and how these were
 * instrumented: does it fit the program at hand, whose build id `file` prints?
 *
 *     cc which_build.c $(pkg-config --cflags --libs pgokit) -o which_build
 *     ./which_build app.profdata */
#include <pgokit/pgokit.h>

#include <stdio.h>

static void print_builds(const struct pgk_instr *profile)
{
    uint32_t traits = pgk_instr_traits(profile);
    printf("counted %s%s%s\n",
           traits & PGK_INSTR_IS_IR ? "by the optimiser" : "by the front end",
           traits & PGK_INSTR_IS_CONTEXTUAL ? ", also after inlining" : "",
           traits & PGK_INSTR_IS_BYTE_COVERAGE ? ", whether code ran and not how often" : "");
    for (size_t i = 0; i < pgk_instr_binary_ids(profile); i++) {
        char hex[2 * 64 + 1];
        size_t size;
        const uint8_t *id = pgk_instr_binary_id(profile, i, &size);
        puts(pgk_human_hex(hex, sizeof hex, id, size));
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
        print_builds(profile);
    }
    pgk_instr_close(&profile);
    return status != 0;
}
