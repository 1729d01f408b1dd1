/* Types of objects in a comparison of two heap profiles. */
#include "heap_diff.h"

#include "heap_stack_text.h"
#include "markdown_out.h"

#include <stdlib.h>

#define BYTES(x) pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)(x))
#define COUNT(x) pgk_human_count((char[PGK_HUMAN_SIZE]){0}, (x))

static bool any_known(const struct pgk_type_sums *sums)
{
    return sums->all.n && sums->all.v[0].id; /* what has no type comes last */
}

static double growth_of(const struct pgk_heap_diff_type *t)
{
    return (double)t->bytes - (double)t->bytes_before;
}

static int by_growth(const void *a, const void *b)
{
    const struct pgk_heap_diff_type *x = a, *y = b;
    const double p = growth_of(x) < 0 ? -growth_of(x) : growth_of(x),
                 q = growth_of(y) < 0 ? -growth_of(y) : growth_of(y);
    if (p != q)
        return p > q ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

static bool add(struct pgk_heap_diff *d, const struct pgk_type_sum *before,
                const struct pgk_type_sum *now)
{
    const struct pgk_type_sum *any = now ? now : before;
    struct pgk_heap_diff_type type = {
        .id = any->id,
        .name = any->name,
        .change = pgk_heap_change(now ? &now->sum : NULL, before ? &before->sum : NULL)};
    if (before) {
        type.bytes_before = before->sum.v[PGK_MIB_TotalSize];
        type.objects_before = before->sum.v[PGK_MIB_AllocCount];
    }
    if (now) {
        type.bytes = now->sum.v[PGK_MIB_TotalSize];
        type.objects = now->sum.v[PGK_MIB_AllocCount];
    }
    type.growth = growth_of(&type);
    return type.growth == 0 || pgk_vec_push(&d->types, type);
}

static const struct pgk_type_sum *find(const struct pgk_type_sums *sums, uint64_t id)
{
    const uint32_t at = pgk_type_sums_find(sums, id);
    return at == PGK_INDEX_NONE ? NULL : &sums->all.v[at];
}

/* Where one profile knows none, as without its program, all of the other's would look new. */
static bool add_all(struct pgk_heap_diff *d, const struct pgk_type_sums *before,
                    const struct pgk_type_sums *now)
{
    bool fits = true;
    if (!any_known(before) || !any_known(now))
        return true;
    for (size_t i = 0; i < now->all.n && fits; i++)
        fits = add(d, find(before, now->all.v[i].id), &now->all.v[i]);
    for (size_t i = 0; i < before->all.n && fits; i++)
        if (!find(now, before->all.v[i].id))
            fits = add(d, &before->all.v[i], NULL);
    return fits;
}

int pgk_heap_diff_types(struct pgk_heap_diff *d, struct pgk_err *err)
{
    struct pgk_type_sums before = {0}, now = {0};
    int status = pgk_heap_sum_types(d->before, PGK_HEAP_SORT_BYTES, &before, err);
    if (!status)
        status = pgk_heap_sum_types(d->now, PGK_HEAP_SORT_BYTES, &now, err);
    if (!status && !add_all(d, &before, &now))
        status = pgk_fail_nomem(err);
    pgk_type_sums_free(&before);
    pgk_type_sums_free(&now);
    if (!status && d->types.n)
        qsort(d->types.v, d->types.n, sizeof *d->types.v, by_growth);
    return status;
}

static size_t listed(const struct pgk_heap_diff *d)
{
    return d->opts->top && d->opts->top < d->types.n ? d->opts->top : d->types.n;
}

static const char *name_of(char buf[PGK_TYPE_NUMBER_SIZE], const struct pgk_heap_diff_type *t)
{
    if (!t->id)
        return "(not known)";
    return *t->name ? t->name : pgk_type_number(buf, t->id);
}

void pgk_heap_diff_types_text(const struct pgk_heap_diff *d, const struct pgk_text_style *style)
{
    enum { NAME_AT = 70 };
    char number[PGK_TYPE_NUMBER_SIZE];
    if (!d->types.n)
        return;
    fprintf(style->out, "\n%sTypes of objects%s\n\n%12s %12s %12s %20s  %-7s type\n",
            pgk_style_on(style, PGK_STYLE_BOLD), pgk_style_off(style), "growth", "bytes before",
            "bytes now", "objects", "change");
    for (size_t i = 0; i < listed(d); i++) {
        const struct pgk_heap_diff_type *t = &d->types.v[i];
        char growth[PGK_HUMAN_SIZE + 1], objects[2 * PGK_HUMAN_SIZE + 4];
        snprintf(growth, sizeof growth, "%s%s", t->growth > 0 ? "+" : "", BYTES(t->growth));
        snprintf(objects, sizeof objects, "%s -> %s", COUNT(t->objects_before),
                 COUNT(t->objects));
        fprintf(style->out, "%12s %12s %12s %20s  %-7s ", growth, BYTES(t->bytes_before),
                BYTES(t->bytes), objects, pgk_heap_change_name(t->change));
        pgk_print_type_name(style->out, name_of(number, t), style->width, NAME_AT);
        fputc('\n', style->out);
    }
}

void pgk_heap_diff_types_markdown(const struct pgk_heap_diff *d, struct pgk_text_out *o)
{
    char number[PGK_TYPE_NUMBER_SIZE];
    if (!d->types.n)
        return;
    pgk_text_lit(o, "\n### Types of objects\n\n"
                    "| growth | bytes before | bytes now | objects before | objects now | "
                    "change | type |\n|--:|--:|--:|--:|--:|---|---|\n");
    for (size_t i = 0; i < listed(d); i++) {
        const struct pgk_heap_diff_type *t = &d->types.v[i];
        pgk_text_printf(o, "| %s%s | %s | %s | %s | %s | %s | ", t->growth > 0 ? "+" : "",
                        BYTES(t->growth), BYTES(t->bytes_before), BYTES(t->bytes),
                        COUNT(t->objects_before), COUNT(t->objects),
                        pgk_heap_change_name(t->change));
        pgk_md_code(o, name_of(number, t));
        pgk_text_lit(o, " |\n");
    }
}

static void put_side(struct pgk_json *j, const char *key, uint64_t bytes, uint64_t objects)
{
    pgk_json_object(j, key);
    pgk_json_number(j, "TotalSize", bytes);
    pgk_json_number(j, "AllocCount", objects);
    pgk_json_end_object(j);
}

void pgk_heap_diff_types_json(const struct pgk_heap_diff *d, struct pgk_json *j)
{
    char number[PGK_TYPE_NUMBER_SIZE];
    if (!d->types.n)
        return;
    pgk_json_array(j, "types");
    for (size_t i = 0; i < listed(d); i++) {
        const struct pgk_heap_diff_type *t = &d->types.v[i];
        pgk_json_line(j, 2);
        pgk_json_object(j, NULL);
        if (t->id)
            pgk_json_text(j, "type", name_of(number, t));
        pgk_json_text(j, "change", pgk_heap_change_name(t->change));
        if (t->change != PGK_CHANGE_NEW)
            put_side(j, "before", t->bytes_before, t->objects_before);
        if (t->change != PGK_CHANGE_GONE)
            put_side(j, "now", t->bytes, t->objects);
        pgk_json_end_object(j);
    }
    pgk_json_line(j, 0);
    pgk_json_end_array(j);
}
