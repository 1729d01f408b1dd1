/* Prints by how much the bytes or counts of each profile of a history differ from those of the one
 * before it, and which one grew most:
 *
 *     cc largest_growth.c $(pkg-config --cflags --libs pgokit) -o largest_growth
 *     ./largest_growth profiles heap web */
#include <pgokit/pgokit.h>

#include <stdio.h>

struct course {
    uint64_t before;
    double most_percent;
    char version[64];
};

static int see(void *ctx, const struct pgk_history_entry *e)
{
    struct course *c = ctx;
    if (c->before) {
        double percent = 100 * ((double)e->weight / (double)c->before - 1);
        printf("%+8.2f %%  %s\n", percent, e->version);
        if (percent > c->most_percent) {
            c->most_percent = percent;
            snprintf(c->version, sizeof c->version, "%s", e->version);
        }
    }
    c->before = e->weight;
    return 0;
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_history *history = NULL;
    struct course course = {0};
    if (argc != 4) {
        fprintf(stderr, "usage: %s FOLDER heap|sample|instr HOST-CLASS\n", argv[0]);
        return 1;
    }
    const struct pgk_history_query query = {
        .struct_size = sizeof query, .kind = argv[2], .host_class = argv[3]};
    int status = pgk_history_open(&history, argv[1], false, &err);
    if (!status)
        status = pgk_history_walk(history, &query, see, &course, &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    } else if (course.most_percent > 0) {
        printf("most in %s: %+.2f %%\n", course.version, course.most_percent);
    }
    pgk_history_close(&history);
    return status != 0;
}
