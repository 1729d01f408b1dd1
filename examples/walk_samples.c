/* Prints the hottest functions of a sample profile with their hottest lines and what those call:
 *
 *     cc walk_samples.c $(pkg-config --cflags --libs pgokit) -o walk_samples
 *     ./walk_samples app.afdo */
#include <pgokit/pgokit.h>

#include <inttypes.h>
#include <stdio.h>

enum { FUNCTIONS = 10 };

/* A name is "" if the profile knows the function by its GUID alone. */
static void print_name(const char *name, uint64_t guid)
{
    if (*name)
        printf("%s", name);
    else
        printf("%" PRIu64, guid);
}

static void print_node(const struct pgk_sample *profile, uint32_t node, int indent)
{
    struct pgk_sample_function f = {.struct_size = sizeof f};
    struct pgk_sample_record r = {.struct_size = sizeof r, .node = node};
    pgk_sample_get(profile, node, &f);
    printf("%*s", indent, "");
    print_name(f.name, f.guid);
    printf(": %" PRIu64 " samples, entered by %" PRIu64 "\n", f.total, f.head);
    while (pgk_sample_next_record(profile, &r)) {
        printf("%*s+%" PRIu32 ".%" PRIu32 ": ", indent + 2, "", r.line, r.discriminator);
        if (r.kind == PGK_SAMPLE_LINE) {
            printf("%" PRIu64 " samples\n", r.count);
            continue;
        }
        printf(r.kind == PGK_SAMPLE_TARGET ? "calls " : "uses objects of ");
        print_name(r.name, r.guid);
        printf(" %" PRIu64 " times\n", r.count);
    }
    uint32_t inlinee = pgk_sample_first_inlinee(profile, node);
    for (; inlinee; inlinee = pgk_sample_next_inlinee(profile, inlinee))
        print_node(profile, inlinee, indent + 4);
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
        for (size_t i = 0; i < pgk_sample_functions(profile) && i < FUNCTIONS; i++)
            print_node(profile, pgk_sample_function_at(profile, i), 0);
    }
    pgk_sample_close(&profile);
    return status != 0;
}
