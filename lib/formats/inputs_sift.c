/* Leaving out inputs that cannot be read. */
#include "pgokit/inputs.h"

#include "instr_model.h"

static int try_heap(const char *path, struct pgk_err *err)
{
    struct pgk_heap *heap;
    PGK_TRY(pgk_heap_new(&heap, err));
    int status = pgk_heap_read(heap, path, NULL, err);
    pgk_heap_close(&heap);
    return status;
}

static int try_sample(const char *path, struct pgk_err *err)
{
    struct pgk_sample *sample;
    PGK_TRY(pgk_sample_new(&sample, err));
    int status = pgk_sample_read(sample, path, 1, NULL, err);
    pgk_sample_close(&sample);
    return status;
}

/* `kinds` collects what the counters of all sound inputs mean, and nothing else. */
static int try_instr(const char *path, struct pgk_instr *kinds, struct pgk_err *err)
{
    struct pgk_instr *instr;
    struct pgk_instr_adder adder;
    struct pgk_file_info info;
    PGK_TRY(pgk_instr_new(&instr, err));
    int status = pgk_instr_read(instr, path, 1, &info, err);
    if (!status && info.has_heap)
        status = try_heap(path, err);
    if (!status && instr->flags_file) {
        status = pgk_instr_adder_init(&adder, kinds, path, 1) ? 0 : pgk_fail_nomem(err);
        if (!status)
            status = pgk_instr_note_flags(&adder, instr->flags, info.format->name, err);
    }
    pgk_instr_close(&instr);
    return status;
}

static int try_input(enum pgk_kind kind, const char *path, struct pgk_instr *kinds,
                     struct pgk_err *err)
{
    switch (kind) {
    case PGK_KIND_HEAP:
        return try_heap(path, err);
    case PGK_KIND_SAMPLE:
        return try_sample(path, err);
    default:
        return try_instr(path, kinds, err);
    }
}

int pgk_inputs_sift(enum pgk_kind kind, struct pgk_input *inputs, size_t *n, pgk_unsound_fn *fn,
                    void *ctx, struct pgk_err *err)
{
    struct pgk_instr *kinds;
    size_t kept = 0;
    int status = 0;
    if (kind != PGK_KIND_HEAP && kind != PGK_KIND_SAMPLE && kind != PGK_KIND_INSTR)
        return pgk_fail(err, PGK_E_ARG, .field = "kind", .found = pgk_kind_plural(kind),
                        .expected = "heap profiles, sample profiles or counters");
    PGK_TRY(pgk_instr_new(&kinds, err));
    for (size_t i = 0; i < *n && status != PGK_E_NOMEM; i++) {
        struct pgk_err why = {0};
        status = try_input(kind, inputs[i].path, kinds, &why);
        if (!status)
            inputs[kept++] = inputs[i];
        else if (status != PGK_E_NOMEM)
            fn(ctx, &inputs[i], &why);
    }
    pgk_instr_close(&kinds);
    *n = kept;
    return status == PGK_E_NOMEM ? pgk_fail_nomem(err) : 0;
}
