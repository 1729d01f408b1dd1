/* The options that prune heap profiles, for any verb. */
#include "cli_heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A whole number with an optional unit: 4096, 64k. */
static uint64_t parse_bytes(const struct cli_verb *verb, const char *option, const char *text)
{
    static const char units[] = "kMGT";
    char *end;
    unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    if (end == text || *text == '-' || (*end && (!unit || end[1])) || n > UINT64_MAX >> shift)
        cli_usage(verb, "%s takes a number of bytes, such as 4096, 64k or 2M, not '%s'", option,
                  text);
    return (uint64_t)n << shift;
}

bool cli_prune_option(const struct cli_verb *verb, int c, struct cli_prune *prune)
{
    struct pgk_heap_prune_opts *o = &prune->opts;
    switch (c) {
    case CLI_OPT_MIN_BYTES:
        o->min_bytes = parse_bytes(verb, "--min-bytes", optarg);
        break;
    case CLI_OPT_MIN_COUNT:
        o->min_count = cli_number("--min-count", optarg, 1, 4000000000ul);
        break;
    case CLI_OPT_MAX_DEPTH:
        o->max_depth = cli_number("--max-depth", optarg, 1, 1000000);
        break;
    case CLI_OPT_COLD_ONLY:
        o->cold_only = true;
        break;
    case CLI_OPT_HOT_ONLY:
        o->hot_only = true;
        break;
    case CLI_OPT_COLLAPSE:
        o->collapse_recursion = true;
        break;
    case CLI_OPT_UNKNOWN_LEAF:
        prune->unknown_leaf = true;
        break;
    default:
        return false;
    }
    prune->wanted = true;
    return true;
}

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
