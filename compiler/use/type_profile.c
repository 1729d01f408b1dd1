/* An index of the types in a sample profile: one row for each type at each place of each function
 * or inlined function, by the function and the place. */
#include "type_profile.h"

#include "plan_memory.h"

#include <pgokit/sample.h>
#include <string.h>

struct row {
    uint64_t function;
    uint32_t line, discriminator;
    uint32_t node; /* of the profile */
    bool used;
    struct pgc_type_count of;
};

struct pgc_type_profile {
    struct pgk_sample *sample;
    bool probes;
    struct row *rows; /* by function, line, discriminator */
    size_t n, room;
    uint64_t *functions; /* all that the profile names, ascending */
    size_t n_functions, function_room;
};

static int by_number(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_id(const void *a, const void *b)
{
    return by_number(*(const uint64_t *)a, *(const uint64_t *)b);
}

static int compare_places(const struct row *a, const struct row *b)
{
    int order = by_number(a->function, b->function);
    order = order ? order : by_number(a->line, b->line);
    return order ? order : by_number(a->discriminator, b->discriminator);
}

static int by_place(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    int order = compare_places(x, y);
    order = order ? order : by_number(x->node, y->node);
    return order ? order : by_number(x->of.type, y->of.type);
}

/* The most frequent first. */
static int by_count(const void *a, const void *b)
{
    const struct pgc_type_count *x = a, *y = b;
    int order = by_number(y->count, x->count);
    return order ? order : by_number(x->type, y->type);
}

static uint64_t id_of_node(const struct pgk_sample_function *node)
{
    return *node->name ? pgk_sample_guid(node->name) : node->guid;
}

static void add_function(struct pgc_type_profile *p, uint64_t id)
{
    p->functions = pgc_room(p->functions, p->n_functions, &p->function_room, sizeof *p->functions);
    p->functions[p->n_functions++] = id;
}

static void add_node(struct pgc_type_profile *p, uint32_t node)
{
    struct pgk_sample_function function = {.struct_size = sizeof function};
    struct pgk_sample_record record = {.struct_size = sizeof record, .node = node};
    if (!pgk_sample_get(p->sample, node, &function))
        return;
    uint64_t id = id_of_node(&function);
    add_function(p, id);
    while (pgk_sample_next_record(p->sample, &record)) {
        uint64_t named = *record.name ? pgk_sample_guid(record.name) : record.guid;
        if (record.kind == PGK_SAMPLE_TARGET)
            add_function(p, named);
        if (record.kind != PGK_SAMPLE_TYPE)
            continue;
        p->rows = pgc_room(p->rows, p->n, &p->room, sizeof *p->rows);
        p->rows[p->n++] = (struct row){.function = id, .line = record.line,
            .discriminator = record.discriminator, .node = node, .of = {named, record.count}};
    }
}

/* A node and all that is inlined into it. */
static void add_tree(struct pgc_type_profile *p, uint32_t root)
{
    for (uint32_t node = root; node;) {
        add_node(p, node);
        uint32_t next = pgk_sample_first_inlinee(p->sample, node);
        while (!next && node != root) {
            struct pgk_sample_function function = {.struct_size = sizeof function};
            next = pgk_sample_next_inlinee(p->sample, node);
            pgk_sample_get(p->sample, node, &function);
            node = function.caller;
        }
        node = next;
    }
}

static int read_sample(struct pgk_sample **sample, struct pgk_file *file, struct pgk_err *err)
{
    int status = pgk_sample_new(sample, err);
    status = status ? status : pgk_sample_read_file(*sample, file, 1, err);
    struct pgk_sample_info info = {.struct_size = sizeof info};
    if (status)
        return status;
    pgk_sample_info(*sample, &info);
    if (info.flow_discriminators)
        status = pgk_sample_reduce_flow(sample, PGK_SAMPLE_FLOW_BASE, err);
    status = status ? status
                    : pgk_sample_canonicalise(sample, PGK_SAMPLE_SUFFIXES_SELECTED, err);
    return status ? status : pgk_sample_finish(*sample, err);
}

struct pgc_type_profile *pgc_types_read(struct pgk_file *file, struct pgk_err *err)
{
    struct pgk_sample *sample = NULL;
    if (read_sample(&sample, file, err)) {
        pgk_sample_close(&sample);
        return NULL;
    }
    struct pgc_type_profile *p = pgc_zeroed(1, sizeof *p);
    struct pgk_sample_info info = {.struct_size = sizeof info};
    pgk_sample_info(sample, &info);
    p->sample = sample;
    p->probes = info.probes;
    for (size_t i = 0; i < pgk_sample_functions(sample); i++)
        add_tree(p, pgk_sample_function_at(sample, i));
    qsort(p->rows, p->n, sizeof *p->rows, by_place);
    qsort(p->functions, p->n_functions, sizeof *p->functions, by_id);
    return p;
}

void pgc_types_close(struct pgc_type_profile *profile)
{
    if (!profile)
        return;
    pgk_sample_close(&profile->sample);
    free(profile->rows);
    free(profile->functions);
    free(profile);
}

bool pgc_types_know(const struct pgc_type_profile *p, uint64_t function)
{
    return p->n_functions &&
           bsearch(&function, p->functions, p->n_functions, sizeof function, by_id);
}

/* ---- contexts ---- */

enum agreement { OTHER, MAY_BE, SAME };

static uint32_t line_of(const struct pgc_type_profile *p, const struct pgc_place *place)
{
    return p->probes ? place->probe : place->line_offset;
}

static uint32_t discriminator_of(const struct pgc_type_profile *p, const struct pgc_place *place)
{
    return p->probes ? 0 : place->discriminator;
}

/* Is a node of the profile where the chain is? One may go further up than the other. */
static enum agreement compare_contexts(const struct pgc_type_profile *p, uint32_t node,
                                       const struct pgc_place *chain, size_t n)
{
    struct pgk_sample_function function = {.struct_size = sizeof function};
    pgk_sample_get(p->sample, node, &function);
    for (size_t i = 1; i < n && function.caller; i++) {
        uint32_t line = function.line, discriminator = function.discriminator;
        pgk_sample_get(p->sample, function.caller, &function);
        if (line != line_of(p, &chain[i]) || discriminator != discriminator_of(p, &chain[i]) ||
            id_of_node(&function) != chain[i].function)
            return OTHER;
        if (i + 1 == n)
            return function.caller ? MAY_BE : SAME;
    }
    return n == 1 && !function.caller ? SAME : MAY_BE;
}

/* ---- types of a place ---- */

static struct row *first_at(const struct pgc_type_profile *p, const struct row *place)
{
    size_t low = 0, high = p->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_places(&p->rows[middle], place) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return p->rows + low;
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
    return a + b < a ? UINT64_MAX : a + b;
}

static void add_count(struct pgc_type_count *all, size_t *n, struct pgc_type_count add)
{
    size_t i = 0;
    while (i < *n && all[i].type != add.type)
        i++;
    if (i == *n)
        all[(*n)++] = (struct pgc_type_count){add.type, 0};
    all[i].count = add_up(all[i].count, add.count);
}

size_t pgc_types_at(struct pgc_type_profile *p, const struct pgc_place *chain, size_t n,
                    struct pgc_type_count types[PGC_TYPES])
{
    if (!n || (p->probes && !chain->probe))
        return 0;
    const struct row place = {.function = chain->function, .line = line_of(p, chain),
                              .discriminator = discriminator_of(p, chain)};
    struct row *first = first_at(p, &place), *end = first;
    enum agreement best = OTHER;
    for (; end < p->rows + p->n && !compare_places(end, &place); end++) {
        enum agreement how = compare_contexts(p, end->node, chain, n);
        best = how > best ? how : best;
    }
    if (best == OTHER)
        return 0;
    size_t found = 0;
    struct pgc_type_count *all = pgc_zeroed((size_t)(end - first), sizeof *all);
    for (struct row *row = first; row < end; row++) {
        if (compare_contexts(p, row->node, chain, n) != best)
            continue;
        add_count(all, &found, row->of);
        row->used = true;
    }
    qsort(all, found, sizeof *all, by_count);
    found = found < PGC_TYPES ? found : PGC_TYPES;
    memcpy(types, all, found * sizeof *all);
    free(all);
    return found;
}

struct pgc_types_share pgc_types_used(const struct pgc_type_profile *p)
{
    struct pgc_types_share share = {0};
    for (size_t i = 0; i < p->n; i++) {
        share.counts = add_up(share.counts, p->rows[i].of.count);
        share.used = add_up(share.used, p->rows[i].used ? p->rows[i].of.count : 0);
    }
    return share;
}
