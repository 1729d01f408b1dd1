/* The plan of a heap profile, or that of a file with the profile's contexts. */
#include "plan_input.h"

#include <stdlib.h>

static int plan_of(const struct plan_input *p, struct pgk_plan **plan, const struct pgk_heap *heap,
                   const struct pgk_match *match, struct pgk_binaries *binaries,
                   struct pgk_err *err)
{
    return p->file ? pgk_plan_read(plan, p->file, heap, match, binaries, &p->opts, err)
                   : pgk_plan_heap(plan, heap, match, binaries, &p->opts, err);
}

/* Names, if the user did not give the build and it is found by its build id. */
static int find_names(const struct plan_input *p, const struct pgk_heap *heap,
                      struct pgk_binaries **binaries, struct pgk_err *err)
{
    return p->names && !*binaries ? cli_find_binaries(&p->common, heap, binaries, err) : 0;
}

static int read_profiled(const struct plan_input *p, struct heap_input *in, struct pgk_err *err)
{
    struct cli_common profiled = p->common;
    profiled.binaries = p->profiled;
    return heap_input_read(in, p->profile, &profiled, err);
}

/* The plan for the build that was profiled, whose addresses need no matching; done unless -b is
 * another build, and that which was profiled is found. */
static int plan_addresses(struct plan_input *p, struct pgk_plan **plan, struct heap_input *in,
                          struct pgk_binaries **binaries, bool *done, struct pgk_err *err)
{
    struct pgk_err why;
    *done = true;
    int status = find_names(p, in->heap, binaries, err);
    status = status ? status : plan_of(p, plan, in->heap, NULL, *binaries, err);
    if (status != PGK_E_MISMATCH || p->common.binaries.n != 1)
        return status;
    if (cli_find_program(&p->common, in->heap, &p->found, &why) || !p->found)
        return status;
    cli_list_add(&p->profiled, p->found);
    *done = false;
    return 0;
}

static int make(struct plan_input *p, struct pgk_plan **plan, struct heap_input *in,
                struct pgk_binaries **binaries, struct pgk_err *err)
{
    struct pgk_match *match = NULL;
    int status = heap_input_read_addresses(in, p->profile, err);
    if (!status) /* accesses of library functions alone are too few to compare contexts by */
        p->opts.lifetimes_only = pgk_file_info_fact(in->info, PGK_FACT_LIBRARY_ACCESSES);
    if (!status && pgk_heap_needs_binaries(in->heap) && !p->profiled.n) {
        bool done;
        status = plan_addresses(p, plan, in, binaries, &done, err);
        if (done)
            return status;
    }
    if (!status && !*binaries)
        cli_usage(p->verb, "the plan of this profile needs the build that it is for (-b BINARY)");
    if (!status && p->profiled.n)
        status = read_profiled(p, in, err);
    if (!status)
        status = pgk_match_heap(&match, in->heap, *binaries, NULL, err);
    if (!status)
        status = plan_of(p, plan, in->heap, match, *binaries, err);
    pgk_match_close(&match);
    return status;
}

int plan_input_make(struct plan_input *p, struct pgk_plan **plan, struct pgk_err *err)
{
    struct heap_input in = {0};
    struct pgk_binaries *binaries = NULL;
    p->opts.struct_size = sizeof p->opts;
    int status = p->common.binaries.n ? cli_open_binaries(&p->common, &binaries, err) : 0;
    if (!status)
        status = make(p, plan, &in, &binaries, err);
    pgk_binaries_close(&binaries);
    pgk_heap_close(&in.heap);
    return status;
}

void plan_input_free(struct plan_input *p)
{
    cli_list_free(&p->profiled);
    free(p->found);
}
