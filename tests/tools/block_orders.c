/* Orders the blocks of functions in a file by ext-TSP, and compares with an order that stands
 * there, too. A line is
 *
 *     f              a function begins
 *     b SIZE COUNT   a block of it, the entry first
 *     j FROM TO COUNT    a jump between them, ascending
 *     o BLOCK...     the other order of all blocks
 *
 * Prints for each function the score of the other order, and that of ours. */
#include "ext_tsp.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct function {
    PGK_VEC(struct pgk_tsp_block) blocks;
    PGK_VEC(struct pgk_tsp_jump) jumps;
    pgk_layout_list other, mine;
};

static void compare(struct function *f)
{
    struct pgk_tsp_graph g = {f->blocks.v, f->blocks.n, f->jumps.v, f->jumps.n};
    double theirs, ours;
    f->mine.n = 0;
    if (!pgk_ext_tsp_order(&f->mine, &g) ||
        !pgk_ext_tsp_score(&theirs, f->other.v, f->other.n, &g) ||
        !pgk_ext_tsp_score(&ours, f->mine.v, f->mine.n, &g))
        abort();
    printf("%.3f %.3f\n", theirs, ours);
    f->blocks.n = f->jumps.n = f->other.n = 0;
}

static bool add_order(struct function *f, char *text)
{
    bool ok = true;
    for (char *word = strtok(text, " \n"); ok && word; word = strtok(NULL, " \n"))
        ok = pgk_vec_push(&f->other, (uint32_t)strtoul(word, NULL, 10));
    return ok;
}

static bool add_line(struct function *f, char *line)
{
    uint64_t a, b, c;
    switch (*line) {
    case 'b':
        return sscanf(line + 1, "%" SCNu64 " %" SCNu64, &a, &b) == 2 &&
               pgk_vec_push(&f->blocks, (struct pgk_tsp_block){a, b});
    case 'j':
        return sscanf(line + 1, "%" SCNu64 " %" SCNu64 " %" SCNu64, &a, &b, &c) == 3 &&
               pgk_vec_push(&f->jumps, (struct pgk_tsp_jump){(uint32_t)a, (uint32_t)b, c});
    case 'o':
        return add_order(f, line + 1);
    default:
        return *line == 'f';
    }
}

int main(int argc, char **argv)
{
    struct function f = {0};
    FILE *in = argc == 2 ? fopen(argv[1], "r") : NULL;
    char *line = NULL;
    size_t size = 0;
    if (!in)
        return 2;
    while (getline(&line, &size, in) > 0) {
        if (!add_line(&f, line)) {
            fprintf(stderr, "cannot read: %s", line);
            return 1;
        }
        if (*line == 'o')
            compare(&f);
    }
    fclose(in);
    free(line);
    pgk_vec_free(&f.blocks);
    pgk_vec_free(&f.jumps);
    pgk_vec_free(&f.other);
    pgk_vec_free(&f.mine);
    return 0;
}
