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
    uint32_t lookup; /* the last one that found it */
    bool local;      /* of an anonymous namespace */
    enum pgk_use use; /* its outcome; PGK_USE_NO_FUNCTION: none */
    uint64_t key, place; /* of the row and of its call, in records */
    struct pgc_type_count of;
};

struct pgc_type_profile {
    struct pgk_sample *sample;
    bool probes;
    struct row *rows; /* by function, line, discriminator */
    size_t n, room;
    uint64_t *functions; /* all that the profile names, ascending */
    size_t n_functions, function_room;
    uint32_t lookups;
    struct row *first, *end; /* of the last one */
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
            .discriminator = record.discriminator, .node = node, .of = {named, record.count},
            .local = strstr(record.name, "_GLOBAL__N_") != NULL, .use = PGK_USE_NO_FUNCTION,
            .key = pgk_use_type_key(p->sample, node, &record)};
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

static int read_part(struct pgk_sample **sample, struct pgk_file *file, LLVMModuleRef module,
                     struct pgk_err *err)
{
    size_t n;
    uint64_t *functions = pgc_functions(module, &n);
    int status = pgk_use_read_functions(sample, file, functions, n, err);
    free(functions);
    return status;
}

struct pgc_type_profile *pgc_types_read(struct pgk_file *file, LLVMModuleRef module, bool all,
                                        struct pgk_err *err)
{
    struct pgk_sample *sample = NULL;
    if (all ? pgk_use_read_sample(&sample, file, err) : read_part(&sample, file, module, err))
        return NULL;
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
    p->lookups++;
    for (; end < p->rows + p->n && !compare_places(end, &place); end++) {
        enum agreement how = compare_contexts(p, end->node, chain, n);
        best = how > best ? how : best;
        if (end->use > PGK_USE_OTHER_CALLER)
            end->use = PGK_USE_OTHER_CALLER;
    }
    p->first = first;
    p->end = end;
    if (best == OTHER)
        return 0;
    size_t found = 0;
    struct pgc_type_count *all = pgc_zeroed((size_t)(end - first), sizeof *all);
    for (struct row *row = first; row < end; row++) {
        if (compare_contexts(p, row->node, chain, n) != best)
            continue;
        add_count(all, &found, row->of);
        row->lookup = p->lookups;
    }
    qsort(all, found, sizeof *all, by_count);
    found = found < PGC_TYPES ? found : PGC_TYPES;
    memcpy(types, all, found * sizeof *all);
    free(all);
    return found;
}

static enum pgk_use use_of(const struct row *row, const struct pgc_type_count *types, size_t given,
                           size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (types[i].type == row->of.type)
            return i < given ? PGK_USE_GIVEN : PGK_USE_RARE;
    return PGK_USE_MANY;
}

void pgc_types_settle(struct pgc_type_profile *p, const struct pgc_type_count *types, size_t given,
                      size_t n, bool taken, const struct pgc_place *chain, size_t n_chain)
{
    for (struct row *row = p->first; row < p->end; row++) {
        enum pgk_use use = taken ? PGK_USE_TAKEN : use_of(row, types, given, n);
        if (row->lookup != p->lookups || row->use <= use)
            continue;
        row->use = use;
        row->place = pgc_place_key(chain, n_chain, row->of.type);
    }
}

/* ---- records ---- */

static bool has_table(const uint64_t *tables, size_t n, uint64_t type)
{
    return n && bsearch(&type, tables, n, sizeof type, by_id);
}

/* Ids of the tables that the module names. */
static uint64_t *list_tables(LLVMModuleRef module, size_t *n)
{
    uint64_t *tables = NULL;
    size_t room = 0, length;
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
        if (strncmp(LLVMGetValueName2(g, &length), "_ZTV", 4) != 0)
            continue;
        tables = pgc_room(tables, *n, &room, sizeof *tables);
        tables[(*n)++] = pgc_function_id(g);
    }
    if (*n)
        qsort(tables, *n, sizeof *tables, by_id);
    return tables;
}

/* Rows of a function whose call was not found. */
static void miss_function(struct pgc_type_profile *p, uint64_t function)
{
    const struct row place = {.function = function};
    for (struct row *row = first_at(p, &place); row < p->rows + p->n; row++) {
        if (row->function != function)
            break;
        if (row->use > PGK_USE_NO_CALL)
            row->use = PGK_USE_NO_CALL;
    }
}

void pgc_types_report(struct pgc_type_profile *p, LLVMModuleRef module, struct pgc_report *report)
{
    uint64_t objects = 0;
    size_t n_tables = 0;
    if (!report)
        return;
    uint64_t *tables = list_tables(module, &n_tables);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            miss_function(p, pgc_function_id(f));
    for (size_t i = 0; i < p->n; i++)
        objects = add_up(objects, p->rows[i].of.count);
    pgc_report_of(report, "types", p->n, objects);
    for (size_t i = 0; i < p->n; i++) {
        const struct row *row = &p->rows[i];
        enum pgk_use use = row->use;
        if (use == PGK_USE_GIVEN && row->local && !has_table(tables, n_tables, row->of.type))
            use = PGK_USE_LOCAL_TABLE;
        if (use != PGK_USE_NO_FUNCTION)
            pgc_report_use(report, use, row->key, row->place);
    }
    free(tables);
}
