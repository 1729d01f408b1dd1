/* pgokit gen --format bolt and preaggregated: files for llvm-bolt and perf2bolt. */
#include "output_bolt.h"

#include "output_each.h"

#include <string.h>

static const struct bolt_output_form forms[] = {
    {"bolt", ".fdata", PGK_BOLT_FDATA},
    {"preaggregated", ".preaggregated", PGK_BOLT_PREAGGREGATED},
};
enum { FORMS = sizeof forms / sizeof *forms };

const char *bolt_output_word(size_t i)
{
    return i < FORMS ? forms[i].name : NULL;
}

const struct bolt_output_form *bolt_output_form(const char *name)
{
    for (size_t i = 0; i < FORMS; i++)
        if (!strcmp(name, forms[i].name))
            return &forms[i];
    return NULL;
}

struct bolt_output {
    struct pgk_gen *gen;
    const struct bolt_output_form *form;
};

static int write_one(void *ctx, uint32_t binary, const char *path, struct pgk_err *err)
{
    struct bolt_output *o = ctx;
    return pgk_gen_write_bolt(o->gen, binary, o->form->form, path, err);
}

int bolt_output_write(struct pgk_gen *gen, const struct bolt_output_form *form,
                      const struct pgk_binaries *binaries, const char *path, struct pgk_err *err)
{
    struct bolt_output o = {gen, form};
    uint32_t n = (uint32_t)pgk_binaries_count(binaries), sampled = 0, last = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (pgk_gen_counted(gen, i)) {
            sampled++;
            last = i;
        }
    }
    if (sampled && output_is_folder(path))
        return output_each(gen, n, path, form->suffix, write_one, &o, err);
    if (sampled > 1)
        return output_fail(err, PGK_E_ARG, path, "several binaries that were sampled",
                           "name a folder that gets a file for each of them, as -o DIR/");
    return write_one(&o, last, path, err);
}
