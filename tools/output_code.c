/* pgokit gen --format: what ran in a binary, for other tools than compilers: llvm-bolt, perf2bolt,
 * linkers. */
#include "output_code.h"

#include "output_each.h"

#include <string.h>

static int write_bolt(struct pgk_gen *gen, uint32_t binary, const struct code_output_form *form,
                      const char *path, struct pgk_err *err)
{
    return pgk_gen_write_bolt(gen, binary, form->bolt, path, err);
}

static int write_order(struct pgk_gen *gen, uint32_t binary, const struct code_output_form *form,
                       const char *path, struct pgk_err *err)
{
    return pgk_gen_write_order(gen, binary, form->order, path, err);
}

static int write_stacks(struct pgk_gen *gen, uint32_t binary, const struct code_output_form *form,
                        const char *path, struct pgk_err *err)
{
    (void)binary;
    return pgk_gen_export(gen, form->name, path, err);
}

static const struct code_output_form forms[] = {
    {"bolt", ".fdata", NULL, write_bolt, {.bolt = PGK_BOLT_FDATA}, true},
    {"preaggregated", ".preaggregated", NULL, write_bolt, {.bolt = PGK_BOLT_PREAGGREGATED}, true},
    {"order", ".order",
     "cc -ffunction-sections -fuse-ld=lld "
     "-Wl,--no-warn-symbol-ordering,--symbol-ordering-file=",
     write_order, {.order = PGK_ORDER_LLD}, false},
    {"order-gold", ".order", "cc -ffunction-sections -fuse-ld=gold -Wl,--section-ordering-file=",
     write_order, {.order = PGK_ORDER_GOLD}, false},
    {"order-ld", ".ld", "cc -ffunction-sections -Wl,-T,",
     write_order, {.order = PGK_ORDER_LD}, false},
    {.name = "pprof", .suffix = ".pb.gz", .write = write_stacks, .stacks = true},
    {.name = "otlp", .suffix = ".otlp", .write = write_stacks, .stacks = true},
    {.name = "folded", .suffix = ".folded", .write = write_stacks, .stacks = true},
    {.name = "speedscope", .suffix = ".speedscope.json", .write = write_stacks, .stacks = true},
};

const char *code_output_word(size_t i)
{
    return i < sizeof forms / sizeof *forms ? forms[i].name : NULL;
}

const struct code_output_form *code_output_form(const char *name)
{
    for (size_t i = 0; code_output_word(i); i++)
        if (!strcmp(name, forms[i].name))
            return &forms[i];
    return NULL;
}

void code_output_needs(const struct code_output_form *form, struct pgk_gen_opts *opts)
{
    opts->traces = form->traces;
    opts->stacks = form->stacks;
    if (!form->traces)
        opts->mode = PGK_GEN_LINES; /* without contexts */
}

struct code_output {
    struct pgk_gen *gen;
    const struct code_output_form *form;
};

static int write_one(void *ctx, uint32_t binary, const char *path, struct pgk_err *err)
{
    struct code_output *o = ctx;
    return o->form->write(o->gen, binary, o->form, path, err);
}

int code_output_write(struct pgk_gen *gen, const struct code_output_form *form,
                      const struct pgk_binaries *binaries, const char *path, struct pgk_err *err)
{
    struct code_output o = {gen, form};
    uint32_t n = (uint32_t)pgk_binaries_count(binaries), sampled = 0, last = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (pgk_gen_counted(gen, i)) {
            sampled++;
            last = i;
        }
    }
    if (form->stacks && output_is_folder(path))
        return output_fail(err, PGK_E_ARG, path, "a folder", "name the file, as -o default.pgo");
    if (sampled && output_is_folder(path))
        return output_each(gen, n, path, form->suffix, write_one, &o, err);
    if (sampled > 1)
        return output_fail(err, PGK_E_ARG, path, "several binaries that were sampled",
                           "name a folder that gets a file for each of them, as -o DIR/");
    return write_one(&o, last, path, err);
}
