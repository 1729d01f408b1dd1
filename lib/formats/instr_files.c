/* Reading many instrumentation profiles at once. */
#include "pgokit/format.h"

#include "instr_model.h"
#include "shares.h"

struct instr_files {
    struct pgk_instr *profiles[PGK_SHARES_MAX];
    const struct pgk_input *inputs;
    struct pgk_file_info *infos; /* may be NULL */
};

static int read_one(void *ctx, size_t share, size_t input, struct pgk_err *err)
{
    struct instr_files *f = ctx;
    return pgk_instr_read(f->profiles[share], f->inputs[input].path, f->inputs[input].weight,
                          f->infos ? &f->infos[input] : NULL, err);
}

static int merge_share(void *ctx, size_t share, struct pgk_err *err)
{
    struct instr_files *f = ctx;
    PGK_TRY(pgk_instr_merge(f->profiles[0], f->profiles[share], 1, err));
    pgk_instr_close(&f->profiles[share]);
    return 0;
}

static int read_shares(struct instr_files *f, size_t n, unsigned threads, struct pgk_err *err)
{
    enum { LEAST = 64 }; /* most of a file are counters of 0, which cost next to nothing */
    struct pgk_shares s = {
        .read = read_one, .merge = merge_share, .ctx = f, .inputs = n, .least = LEAST};
    pgk_shares_plan(&s, threads);
    for (size_t i = 0; i < s.n; i++)
        PGK_TRY(pgk_instr_new(&f->profiles[i], err));
    return pgk_shares_run(&s, err);
}

static int read_all(struct instr_files *f, struct pgk_instr **profile, size_t n, unsigned threads,
                    struct pgk_err *err)
{
    int status = read_shares(f, n, threads, err);
    if (!status) {
        *profile = f->profiles[0];
        f->profiles[0] = NULL;
    }
    for (size_t i = 0; i < PGK_SHARES_MAX; i++)
        pgk_instr_close(&f->profiles[i]);
    return status;
}

int pgk_instr_read_files(struct pgk_instr **profile, const struct pgk_input *inputs, size_t n,
                         unsigned threads, struct pgk_file_info *infos, struct pgk_err *err)
{
    struct instr_files f = {.inputs = inputs, .infos = infos};
    PGK_TRY(read_all(&f, profile, n, threads, err));
    if (!pgk_instr_conflicts(*profile) || threads == 1)
        return 0;
    /* One by one, so that each conflict names the file that brought it. */
    pgk_instr_close(profile);
    return read_all(&f, profile, n, 1, err);
}
