/* Where functions of sample profiles are in their files. */
#include "sample_declared.h"

#include "binary_set.h"
#include "sample_names.h"

#include <string.h>

static struct pgk_declared_func *find(const struct pgk_sample_declared *d, uint64_t guid)
{
    PGK_INDEX_FOR (&d->index, guid, i)
        if (d->funcs.v[i].guid == guid)
            return &d->funcs.v[i];
    return NULL;
}

bool pgk_sample_declared_want(struct pgk_sample_declared *d, uint64_t guid)
{
    return find(d, guid) ||
           (d->funcs.n < PGK_INDEX_NONE &&
            pgk_vec_push(&d->funcs, (struct pgk_declared_func){.guid = guid}) &&
            pgk_index_add(&d->index, guid, (uint32_t)d->funcs.n - 1));
}

static int take(void *ctx, const struct pgk_sym_function *f)
{
    struct pgk_sample_declared *d = ctx;
    if (!f->name || !f->decl_file || !f->decl_line)
        return 0;
    const struct pgk_sample_name name = {.s = f->name, .len = (uint32_t)strlen(f->name)};
    struct pgk_declared_func *func = find(d, pgk_name_guid(&name));
    if (!func || func->line)
        return 0;
    func->file = pgk_intern_safe(&d->files, f->decl_file);
    func->line = f->decl_line;
    return func->file == PGK_INDEX_NONE ? PGK_E_NOMEM : 0;
}

int pgk_sample_declared_read(struct pgk_sample_declared *d, struct pgk_binaries *set,
                             struct pgk_err *err)
{
    const size_t n = set ? pgk_binaries_count(set) : 0;
    for (uint32_t i = 0; i < n; i++) {
        struct pgk_err why = {0};
        if (pgk_binaries_functions(set, i, take, d, &why) == PGK_E_NOMEM)
            return pgk_fail_nomem(err);
    }
    return 0;
}

const struct pgk_declared_func *pgk_sample_declared_find(const struct pgk_sample_declared *d,
                                                         uint64_t guid)
{
    const struct pgk_declared_func *func = find(d, guid);
    return func && func->line ? func : NULL;
}

void pgk_sample_declared_free(struct pgk_sample_declared *d)
{
    pgk_vec_free(&d->funcs);
    pgk_index_free(&d->index);
    pgk_intern_free(&d->files);
}
