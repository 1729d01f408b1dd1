/* Names, places and contexts as texts spell them. */
#include "sample_spelling.h"

void pgk_put_spelling(struct pgk_line *l, const struct pgk_sample_name *name)
{
    if (name->s)
        pgk_line_bytes(l, name->s, name->len);
    else
        pgk_line_decimal(l, name->guid);
}

void pgk_put_spelled_loc(struct pgk_line *l, uint64_t loc)
{
    pgk_line_decimal(l, pgk_sample_line(loc));
    if (pgk_sample_discriminator(loc)) {
        pgk_line_byte(l, '.');
        pgk_line_decimal(l, pgk_sample_discriminator(loc));
    }
}

/* Frames from the outermost in: the path is walked up first. */
void pgk_sample_put_identity(const struct pgk_sample *p, uint32_t top, struct pgk_line *l)
{
    PGK_VEC(uint32_t) path = {0};
    for (uint32_t id = top; id; id = p->nodes.v[id].parent)
        l->failed |= !pgk_vec_push(&path, id);
    for (size_t i = path.n; i > 0; i--) {
        pgk_put_spelling(l, &p->names.list.v[p->nodes.v[path.v[i - 1]].name]);
        if (i == 1)
            break;
        pgk_line_byte(l, ':');
        pgk_put_spelled_loc(l, p->nodes.v[path.v[i - 2]].loc);
        pgk_line_bytes(l, " @ ", strlen(" @ "));
    }
    pgk_vec_free(&path);
}
