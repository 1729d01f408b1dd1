/* pgokit gen --format: what ran in a binary, for other tools than compilers: llvm-bolt, perf2bolt,
 * linkers. */
#include "output_code.h"

#include "output_each.h"

#include <stdio.h>
#include <string.h>

static int write_bolt(const struct code_output *o, uint32_t binary, const char *path,
                      struct pgk_err *err)
{
    return pgk_gen_write_bolt(o->gen, binary, o->form->bolt, path, err);
}

static int write_order(const struct code_output *o, uint32_t binary, const char *path,
                       struct pgk_err *err)
{
    return pgk_gen_write_order(o->gen, binary, o->form->order, path, err);
}

static int write_blocks(const struct code_output *o, uint32_t binary, const char *path,
                        struct pgk_err *err)
{
    char symbols[PATH_MAX];
    struct pgk_gen_blocks_opts opts = {.struct_size = sizeof opts};
    code_output_symbols(symbols, o, path);
    opts.symbols = *symbols ? symbols : NULL;
    if (*symbols)
        cli_writes(symbols);
    return pgk_gen_write_blocks(o->gen, binary, &opts, path, err);
}

static int write_stacks(const struct code_output *o, uint32_t binary, const char *path,
                        struct pgk_err *err)
{
    (void)binary;
    return pgk_gen_export(o->gen, o->form->name, path, err);
}

static const struct code_output_form forms[] = {
    {.name = "bolt", .suffix = ".fdata", .write = write_bolt, .bolt = PGK_BOLT_FDATA,
     .traces = true},
    {.name = "preaggregated", .suffix = ".preaggregated", .write = write_bolt,
     .bolt = PGK_BOLT_PREAGGREGATED, .traces = true},
    {.name = "order", .suffix = ".order", .write = write_order, .order = PGK_ORDER_LLD,
     .next = "cc -ffunction-sections -fuse-ld=lld "
             "-Wl,--no-warn-symbol-ordering,--symbol-ordering-file="},
    {.name = "order-gold", .suffix = ".order", .write = write_order, .order = PGK_ORDER_GOLD,
     .next = "cc -ffunction-sections -fuse-ld=gold -Wl,--section-ordering-file="},
    {.name = "order-ld", .suffix = ".ld", .write = write_order, .order = PGK_ORDER_LD,
     .next = "cc -ffunction-sections -Wl,-T,"},
    {.name = "order-calls", .suffix = ".calls", .write = write_order, .order = PGK_ORDER_CALLS,
     .next = "cc -ffunction-sections -fuse-ld=lld "
             "-Wl,--no-warn-symbol-ordering,--call-graph-ordering-file="},
    {.name = "propeller", .suffix = ".propeller", .write = write_blocks,
     .next_symbols = "clang -ffunction-sections -fuse-ld=lld "
                     "-Wl,--no-warn-symbol-ordering,--symbol-ordering-file=",
     .next = " -fbasic-block-sections=list="},
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

void code_output_symbols(char symbols[PATH_MAX], const struct code_output *o, const char *path)
{
    if (o->symbols)
        snprintf(symbols, PATH_MAX, "%s", o->symbols);
    else if (!strcmp(path, "-") || !strncmp(path, "/dev/", 5))
        *symbols = '\0';
    else
        snprintf(symbols, PATH_MAX, "%s.order", path);
}

static int write_one(void *ctx, uint32_t binary, const char *path, struct pgk_err *err)
{
    return ((const struct code_output *)ctx)->form->write(ctx, binary, path, err);
}

int code_output_write(const struct code_output *output, const struct pgk_binaries *binaries,
                      const char *path, struct pgk_err *err)
{
    struct code_output o = *output;
    struct pgk_gen *gen = o.gen;
    uint32_t n = (uint32_t)pgk_binaries_count(binaries), sampled = 0, last = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (pgk_gen_counted(gen, i)) {
            sampled++;
            last = i;
        }
    }
    if (o.form->stacks && output_is_folder(path))
        return output_fail(err, PGK_E_ARG, path, "a folder", "name the file, as -o default.pgo");
    if (sampled && output_is_folder(path))
        return output_each(gen, n, path, o.form->suffix, write_one, &o, err);
    if (sampled > 1)
        return output_fail(err, PGK_E_ARG, path, "several binaries that were sampled",
                           "name a folder that gets a file for each of them, as -o DIR/");
    return write_one(&o, last, path, err);
}
