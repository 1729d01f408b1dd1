/* The types of a sample profile that concern a module, and what becomes of them. */
#include "type_profile.h"

#include "plan_memory.h"

#include <pgokit/sample.h>
#include <string.h>

struct pgc_type_profile {
    struct pgk_sample *sample;
    struct pgc_type_index rows;
    uint64_t *functions; /* all that the profile names, ascending */
    size_t n_functions, function_capacity;
};

static int by_id(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t id_of_node(const struct pgk_sample_function *node)
{
    return *node->name ? pgk_sample_guid(node->name) : node->guid;
}

static void add_function(struct pgc_type_profile *p, uint64_t id)
{
    PGC_PUSH(p->functions, p->n_functions, p->function_capacity, id);
}

static void add_node(struct pgc_type_profile *p, uint32_t node)
{
    struct pgk_sample_function function = {.struct_size = sizeof function};
    struct pgk_sample_record record = {.struct_size = sizeof record, .node = node};
    if (!pgk_sample_get(p->sample, node, &function))
        return;
    uint64_t id = id_of_node(&function);
    add_function(p, id);
    pgc_type_index_context(&p->rows, node, (struct pgc_type_context){
        id, function.line, function.discriminator, function.caller});
    while (pgk_sample_next_record(p->sample, &record)) {
        uint64_t named = *record.name ? pgk_sample_guid(record.name) : record.guid;
        if (record.kind == PGK_SAMPLE_TARGET)
            add_function(p, named);
        if (record.kind != PGK_SAMPLE_TYPE)
            continue;
        pgc_type_index_add(&p->rows, (struct pgc_type_row){.function = id, .line = record.line,
            .discriminator = record.discriminator, .context = node, .of = {named, record.count},
            .local = strstr(record.name, "_GLOBAL__N_") != NULL, .use = PGK_USE_NO_FUNCTION,
            .key = pgk_use_type_key(p->sample, node, &record)});
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
    p->rows.probes = info.probes;
    for (size_t i = 0; i < pgk_sample_functions(sample); i++)
        add_tree(p, pgk_sample_function_at(sample, i));
    pgc_type_index_sort(&p->rows);
    qsort(p->functions, p->n_functions, sizeof *p->functions, by_id);
    return p;
}

void pgc_types_close(struct pgc_type_profile *profile)
{
    if (!profile)
        return;
    pgk_sample_close(&profile->sample);
    pgc_type_index_close(&profile->rows);
    free(profile->functions);
    free(profile);
}

bool pgc_types_know(const struct pgc_type_profile *p, uint64_t function)
{
    return p->n_functions &&
           bsearch(&function, p->functions, p->n_functions, sizeof function, by_id);
}

size_t pgc_types_at(struct pgc_type_profile *p, const struct pgc_place *chain, size_t n,
                    struct pgc_type_count types[PGC_TYPES])
{
    return pgc_type_index_at(&p->rows, chain, n, types);
}

static enum pgk_use use_of(const struct pgc_type_row *row, const struct pgc_type_count *types,
                           size_t given, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (types[i].type == row->of.type)
            return i < given ? PGK_USE_GIVEN : PGK_USE_RARE;
    return PGK_USE_MANY;
}

void pgc_types_settle(struct pgc_type_profile *p, const struct pgc_type_count *types, size_t given,
                      size_t n, bool taken, const struct pgc_place *chain, size_t n_chain)
{
    for (size_t i = 0; i < p->rows.n_found; i++)
        for (struct pgc_type_row *row = p->rows.found[i].first; row < p->rows.found[i].end; row++) {
            enum pgk_use use = taken ? PGK_USE_TAKEN : use_of(row, types, given, n);
            if (row->use <= use)
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
    size_t capacity = 0, length;
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g)) {
        if (strncmp(LLVMGetValueName2(g, &length), "_ZTV", 4) != 0)
            continue;
        PGC_PUSH(tables, *n, capacity, pgc_function_id(g));
    }
    if (*n)
        qsort(tables, *n, sizeof *tables, by_id);
    return tables;
}

/* Rows of a function whose call was not found. */
static void miss_function(struct pgc_type_profile *p, uint64_t function)
{
    const struct pgc_type_range rows = pgc_type_index_of(&p->rows, function);
    for (struct pgc_type_row *row = rows.first; row < rows.end; row++)
        if (row->use > PGK_USE_NO_CALL)
            row->use = PGK_USE_NO_CALL;
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
    for (size_t i = 0; i < p->rows.n; i++)
        if (__builtin_add_overflow(objects, p->rows.all[i].of.count, &objects))
            objects = UINT64_MAX;
    pgc_report_of(report, "types", p->rows.n, objects);
    for (size_t i = 0; i < p->rows.n; i++) {
        const struct pgc_type_row *row = &p->rows.all[i];
        enum pgk_use use = row->use;
        if (use == PGK_USE_GIVEN && row->local && !has_table(tables, n_tables, row->of.type))
            use = PGK_USE_LOCAL_TABLE;
        if (use != PGK_USE_NO_FUNCTION)
            pgc_report_use(report, use, row->key, row->place);
    }
    free(tables);
}
