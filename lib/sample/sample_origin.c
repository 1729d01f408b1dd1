/* Files and times of functions. */
#include "sample_origin.h"

struct pgk_sample_origin pgk_sample_origin(const struct pgk_sample *p, uint32_t name)
{
    return name < p->origins.n ? p->origins.v[name] : (struct pgk_sample_origin){0};
}

const char *pgk_sample_file(const struct pgk_sample *p, uint32_t name)
{
    uint32_t file = pgk_sample_origin(p, name).file;
    return file && file != PGK_SEVERAL_FILES ? pgk_intern_str(&p->files, file) : "";
}

bool pgk_sample_has_origin(const struct pgk_sample *p, uint32_t name)
{
    struct pgk_sample_origin o = pgk_sample_origin(p, name);
    return o.file || o.first_run;
}

static bool add(struct pgk_sample *p, uint32_t name, struct pgk_sample_origin o)
{
    while (p->origins.n <= name)
        if (!pgk_vec_push(&p->origins, (struct pgk_sample_origin){0}))
            return false;
    struct pgk_sample_origin *to = &p->origins.v[name];
    if (o.file && o.file != to->file)
        to->file = to->file ? PGK_SEVERAL_FILES : o.file;
    if (o.first_run && (!to->first_run || o.first_run < to->first_run))
        to->first_run = o.first_run;
    return true;
}

bool pgk_sample_add_origin(struct pgk_sample *p, uint32_t name, const char *file, size_t len,
                           uint64_t first_run)
{
    uint32_t id = len ? pgk_intern(&p->files, file, len) : 0;
    if (id == PGK_INDEX_NONE)
        return false;
    struct pgk_sample_origin o = {.first_run = first_run, .file = id};
    return (!id && !first_run) || add(p, name, o);
}

bool pgk_sample_add_files(struct pgk_sample *p, uint32_t name)
{
    return add(p, name, (struct pgk_sample_origin){.file = PGK_SEVERAL_FILES});
}

bool pgk_sample_take_origin(struct pgk_sample *p, uint32_t name, const struct pgk_sample *from,
                            uint32_t from_name)
{
    if (!from->origins.n)
        return true;
    struct pgk_sample_origin o = pgk_sample_origin(from, from_name);
    const char *file = pgk_sample_file(from, from_name);
    if (o.file != PGK_SEVERAL_FILES)
        return pgk_sample_add_origin(p, name, file, strlen(file), o.first_run);
    return add(p, name, o);
}

size_t pgk_sample_count_origins(const struct pgk_sample *p, size_t n)
{
    size_t known = 0;
    for (size_t i = 0; p->origins.n && i < n; i++)
        known += pgk_sample_has_origin(p, p->nodes.v[p->by_heat.v[i]].name);
    return known;
}
