/* Leaving out inputs that cannot be read. */
#include "pgokit/inputs.h"

#include "format_rows.h"
#include "instr_model.h"

static int try_heap(struct pgk_file *file, struct pgk_err *err)
{
    struct pgk_heap *heap;
    PGK_TRY(pgk_heap_new(&heap, err));
    int status = pgk_heap_read_file(heap, file, 1, err);
    pgk_heap_close(&heap);
    return status;
}

static int try_sample(struct pgk_file *file, struct pgk_err *err)
{
    struct pgk_sample *sample;
    PGK_TRY(pgk_sample_new(&sample, err));
    int status = pgk_sample_read_file(sample, file, 1, err);
    pgk_sample_close(&sample);
    return status;
}

/* `kinds` collects what the counters of all sound inputs mean, and nothing else. */
static int try_instr(struct pgk_file *file, struct pgk_instr *kinds, struct pgk_err *err)
{
    struct pgk_instr *instr;
    struct pgk_instr_adder adder;
    PGK_TRY(pgk_instr_new(&instr, err));
    int status = pgk_instr_read_file(instr, file, 1, err);
    if (!status && pgk_file_holds(file, PGK_KIND_HEAP))
        status = try_heap(file, err);
    if (!status && instr->flags_file) {
        const char *format = pgk_file_info_format(pgk_file_info(file))->name;
        status = pgk_instr_adder_init(&adder, kinds, pgk_file_path(file), 1) ? 0
                                                                            : pgk_fail_nomem(err);
        if (!status)
            status = pgk_instr_note_flags(&adder, instr->flags, format, err);
    }
    pgk_instr_close(&instr);
    return status;
}

static int try_file(enum pgk_kind kind, struct pgk_file *file, struct pgk_instr *kinds,
                    struct pgk_err *err)
{
    switch (kind) {
    case PGK_KIND_HEAP:
        return try_heap(file, err);
    case PGK_KIND_SAMPLE:
        return try_sample(file, err);
    default:
        return try_instr(file, kinds, err);
    }
}

static int try_input(enum pgk_kind kind, const struct pgk_input *input, struct pgk_instr *kinds,
                     struct pgk_err *err)
{
    struct pgk_file *file;
    if (input->file)
        return try_file(kind, input->file, kinds, err);
    PGK_TRY(pgk_file_open(&file, input->path, err));
    int status = try_file(kind, file, kinds, err);
    pgk_file_close(&file);
    return status;
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
        status = try_input(kind, &inputs[i], kinds, &why);
        if (!status)
            inputs[kept++] = inputs[i];
        else if (status != PGK_E_NOMEM)
            fn(ctx, &inputs[i], &why);
    }
    pgk_instr_close(&kinds);
    *n = kept;
    return status == PGK_E_NOMEM ? pgk_fail_nomem(err) : 0;
}
