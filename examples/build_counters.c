/* Makes an instrumentation profile from counters of one's own, as of a simulator or an interpreter,
 * for clang -fprofile-use. Names, hashes and the order of counters are those of the instrumented
 * build; llvm-profdata show --all-functions --counts prints them.
 *
 *     cc build_counters.c $(pkg-config --cflags --libs pgokit) -o build_counters
 *     ./build_counters app.profdata */
#include <pgokit/pgokit.h>

#include <stdio.h>

static int add_draw(struct pgk_instr *profile, struct pgk_err *err)
{
    const uint64_t counts[] = {120, 5000, 12}; /* calls first */
    /* The only virtual call of draw() and the tables of the objects that it was on. */
    const struct pgk_instr_value
        targets[] = {{pgk_sample_guid("_ZN6Circle5paintEv"), 4000},
                     {pgk_sample_guid("_ZN4Line5paintEv"), 1000}},
        tables[] = {{pgk_sample_guid("_ZTV6Circle"), 4000}, {pgk_sample_guid("_ZTV4Line"), 1000}};
    const struct pgk_instr_site_values sites[] = {{PGK_VALUE_CALL, targets, 2},
                                                  {PGK_VALUE_VTABLE, tables, 2}};
    const struct pgk_instr_addition draw = {
        .struct_size = sizeof draw, .name = "_Z4drawv", .hash = 0x0f03b2a7c5d4e691,
        .counts = counts, .n_counts = 3, .sites = sites, .n_sites = 2};
    int status = pgk_instr_build_function(profile, &draw, err);
    if (!status)
        status = pgk_instr_build_vtable(profile, "_ZTV6Circle", err);
    return status ? status : pgk_instr_build_vtable(profile, "_ZTV4Line", err);
}

/* What else there may be: which build ran, and in which order functions were called first. */
static int add_run(struct pgk_instr *profile, struct pgk_err *err)
{
    static const uint8_t build_id[] = {0x5e, 0x1c, 0x9a, 0x40, 0x77, 0xd2, 0x08, 0xbf};
    const uint64_t first_calls[] = {pgk_sample_guid("_Z4drawv")};
    int status = pgk_instr_build_binary_id(profile, build_id, sizeof build_id, err);
    return status ? status : pgk_instr_build_trace(profile, first_calls, 1, 1, err);
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_instr *profile = NULL;
    if (argc != 2) {
        fprintf(stderr, "usage: %s OUTPUT\n", argv[0]);
        return 1;
    }
    int status = pgk_instr_new(&profile, &err);
    if (!status)
        status = pgk_instr_build_kind(profile, PGK_INSTR_IS_IR, &err);
    if (!status)
        status = add_draw(profile, &err);
    if (!status)
        status = add_run(profile, &err);
    if (!status)
        status = pgk_instr_write(profile, argv[1], &(struct pgk_instr_target){0}, &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    }
    pgk_instr_close(&profile);
    return status != 0;
}
