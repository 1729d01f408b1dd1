/* The options that prune heap profiles, for any verb. */
#include "cli_heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_take_bytes(const struct option_given *given)
{
    static const char units[] = "kMGT";
    const char *text = given->value;
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end == text || *text == '-' || (*end && (!unit || end[1])) || n > UINT64_MAX >> shift)
        cli_usage(given->verb, "--%s takes a number of bytes, such as 4096, 64k or 2M, not '%s'",
                  given->row->name, text);
    *(uint64_t *)given->into = (uint64_t)n << shift;
}

static const struct option_row rows[] = {
    {"min-bytes", 0, "N", "leave out contexts of fewer bytes; N may end in k, M, G or T",
     OPTION_CALL_FOR(struct cli_prune, opts.min_bytes, cli_take_bytes),
     .page = "each of these is 1024 times the one before"},
    {"min-count", 0, "N", "leave out contexts of fewer objects",
     OPTION_NUMBER(struct cli_prune, opts.min_count, 1, 4000000000)},
    {"cold-only", 0, NULL, "leave out contexts that are not cold",
     OPTION_FLAG(struct cli_prune, opts.cold_only),
     .page = "the rules are the compiler's ([pgokit-show](pgokit-show.md))"},
    {"hot-only", 0, NULL, "leave out contexts that are not hot; with both options, keep both",
     OPTION_FLAG(struct cli_prune, opts.hot_only)},
    {"drop-unknown-leaf", 0, NULL, "leave out contexts that no function of the binaries makes",
     OPTION_FLAG(struct cli_prune, unknown_leaf),
     .page = "debug information decides, by the innermost function"},
    {"collapse-recursion", 0, NULL, "keep one of frames that repeat",
     OPTION_FLAG(struct cli_prune, opts.collapse_recursion),
     .page = "frames may repeat alone or in groups of up to 16"},
    {"max-depth", 0, "N", "keep N frames of a stack, counted from the allocation",
     OPTION_NUMBER(struct cli_prune, opts.max_depth, 1, 1000000),
     .page = "an inlined frame also keeps the frames into which it is inlined"},
    {0},
};
const struct option_table cli_prune_options = {"prune", NULL, rows};

static void say(const struct pgk_heap_pruned *p, size_t contexts)
{
    char left_out[PGK_HUMAN_SIZE], all[PGK_HUMAN_SIZE], count[3][PGK_HUMAN_SIZE], n[PGK_HUMAN_SIZE];
    double bytes = (double)(p->bytes - p->bytes_left);
    fprintf(stderr,
            "pgokit: note: pruned %s of %s contexts (%s of %s, %.1f %%); %s stacks became shorter, "
            "%s contexts are left\n",
            pgk_human_count(count[0], p->contexts - p->contexts_left),
            pgk_human_count(count[1], p->contexts), pgk_human_bytes(left_out, bytes),
            pgk_human_bytes(all, (double)p->bytes), p->bytes ? 100 * bytes / (double)p->bytes : 0.0,
            pgk_human_count(count[2], p->stacks_shortened), pgk_human_count(n, contexts));
}

int cli_prune(const struct cli_prune *prune, const struct cli_common *common,
              struct pgk_heap **heap, struct pgk_err *err)
{
    struct pgk_heap_prune_opts opts = prune->opts;
    struct pgk_heap_pruned done = {.struct_size = sizeof done};
    struct pgk_heap *left;
    int status = 0;
    if (!prune->wanted)
        return 0;
    opts.struct_size = sizeof opts;
    if (prune->unknown_leaf)
        status = cli_open_binaries(common, &opts.leaves_in, err);
    if (!status)
        status = pgk_heap_prune(&left, *heap, &opts, &done, err);
    pgk_binaries_close(&opts.leaves_in);
    if (status)
        return status;
    pgk_heap_close(heap);
    *heap = left;
    if (!common->quiet)
        say(&done, pgk_heap_contexts(left));
    return 0;
}
