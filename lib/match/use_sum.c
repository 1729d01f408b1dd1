/* Adds up records of what compiles used, and sets them against the profile. */
#include "use_sum.h"

#include "arena.h"
#include "filemap.h"
#include "hash.h"
#include "saturate.h"
#include "search.h"

#include <dirent.h>
#include <stdlib.h>

uint64_t pgk_use_key(uint64_t key, uint64_t next)
{
    return pgk_hash_pair(key, next);
}

uint64_t pgk_use_context_key(const struct pgk_heap_frame *stack, size_t n)
{
    uint64_t key = 0;
    for (size_t i = 0; i < n; i++)
        key = pgk_use_key(pgk_use_key(key, stack[i].guid),
                          (uint64_t)(stack[i].line_offset & 0xffff) << 32 | stack[i].column);
    return key;
}

static uint64_t guid_of(const char *name, uint64_t guid)
{
    return *name ? pgk_sample_guid(name) : guid;
}

uint64_t pgk_use_type_key(const struct pgk_sample *profile, uint32_t node,
                          const struct pgk_sample_record *record)
{
    uint32_t line = record->line, discriminator = record->discriminator;
    uint64_t key = guid_of(record->name, record->guid);
    while (node) {
        struct pgk_sample_function function = {.struct_size = sizeof function};
        if (!pgk_sample_get(profile, node, &function))
            break;
        key = pgk_use_key(pgk_use_key(key, guid_of(function.name, function.guid)),
                          (uint64_t)line << 32 | discriminator);
        line = function.line;
        discriminator = function.discriminator;
        node = function.caller;
    }
    return key;
}

/* ---- records ---- */

/* Calls that links say something of, with the callers inlined there. */
typedef PGK_VEC(uint64_t) place_vec;

struct records {
    struct pgk_used *used;
    bool heap;
    uint64_t items, weight; /* of the profile that records have to be of */
    PGK_VEC(struct pgk_use_line) lines;
    place_vec hinted, compared;
};

static int by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static bool has_place(const place_vec *places, uint64_t place)
{
    return places->n && bsearch(&place, places->v, places->n, sizeof place, by_number);
}

static bool add_places(place_vec *to, const uint64_t *from, size_t n)
{
    if (!pgk_vec_reserve(to, n))
        return false;
    for (size_t i = 0; i < n; i++)
        to->v[to->n++] = from[i];
    return true;
}

static int add_link(struct records *all, const struct pgk_use_record *r, struct pgk_err *err)
{
    struct pgk_used_calls *calls = &all->used->calls;
    calls->links++;
    calls->linked = pgk_add_saturated(calls->linked, all->heap ? r->given : r->missed);
    return add_places(&all->hinted, r->hinted.v, r->hinted.n) &&
                   add_places(&all->compared, r->compared.v, r->compared.n)
               ? 0
               : pgk_fail_nomem(err);
}

static int add_record(struct records *all, const struct pgk_use_record *r, struct pgk_err *err)
{
    struct pgk_used_calls *calls = &all->used->calls;
    if (r->kind == PGK_USE_OF_LINK)
        return add_link(all, r, err);
    if (all->heap != (r->kind == PGK_USE_OF_HEAP))
        return 0;
    if (r->items != all->items || r->weight != all->weight) {
        calls->others++;
        return 0;
    }
    if (!calls->modules++)
        all->used->limits = r->limits;
    calls->given = pgk_add_saturated(calls->given, r->given);
    calls->missed = pgk_add_saturated(calls->missed, r->missed);
    calls->unlocated = pgk_add_saturated(calls->unlocated, r->unlocated);
    if (!pgk_vec_reserve(&all->lines, r->lines.n))
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < r->lines.n; i++)
        all->lines.v[all->lines.n++] = r->lines.v[i];
    return 0;
}

static int read_record(struct records *all, const char *path, struct pgk_err *err)
{
    struct pgk_filemap map = {0};
    struct pgk_use_record record = {0};
    struct pgk_source src = {.file = path, .format = "record of what a compile used"};
    PGK_TRY(pgk_filemap_open(&map, path, err));
    int status = pgk_use_record_read(&record, map.bytes, map.size, &src, err);
    status = status ? status : add_record(all, &record, err);
    pgk_use_record_free(&record);
    pgk_filemap_close(&map);
    return status;
}

typedef PGK_VEC(char *) name_vec;

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_record(const char *name)
{
    static const char suffix[] = ".used";
    size_t n = strlen(name), k = strlen(suffix);
    return n > k && *name != '.' && !strcmp(name + n - k, suffix);
}

static int list_records(name_vec *names, struct pgk_arena *arena, const char *folder,
                        struct pgk_err *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return pgk_fail_errno(err, folder, "cannot open the folder");
    bool fits = true;
    for (const struct dirent *d; fits && (d = readdir(dir));) {
        if (!is_record(d->d_name))
            continue;
        size_t n = strlen(folder) + 1 + strlen(d->d_name);
        char *path = pgk_arena_alloc(arena, n + 1, 1);
        fits = path && pgk_vec_push(names, path);
        if (fits)
            snprintf(path, n + 1, "%s/%s", folder, d->d_name);
    }
    closedir(dir);
    if (names->n)
        qsort(names->v, names->n, sizeof *names->v, by_name);
    return fits ? 0 : pgk_fail_nomem(err);
}

static int by_key(const void *a, const void *b)
{
    const struct pgk_use_line *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->use < y->use ? -1 : x->use > y->use;
}

/* The outcome of a link at the place of a call. */
static void take_links(struct records *all)
{
    if (all->hinted.n)
        qsort(all->hinted.v, all->hinted.n, sizeof *all->hinted.v, by_number);
    if (all->compared.n)
        qsort(all->compared.v, all->compared.n, sizeof *all->compared.v, by_number);
    for (size_t i = 0; i < all->lines.n; i++) {
        struct pgk_use_line *line = &all->lines.v[i];
        if (line->use == PGK_USE_IN_LINK && has_place(&all->hinted, line->place))
            line->use = PGK_USE_HINTED;
        if ((line->use == PGK_USE_GIVEN || line->use == PGK_USE_LOCAL_TABLE) && !all->heap &&
            has_place(&all->compared, line->place))
            line->use = PGK_USE_COMPARED;
    }
    if (all->lines.n)
        qsort(all->lines.v, all->lines.n, sizeof *all->lines.v, by_key);
}

static int read_records(struct records *all, const char *folder, struct pgk_err *err)
{
    name_vec names = {0};
    struct pgk_arena arena = {0};
    int status = list_records(&names, &arena, folder, err);
    for (size_t i = 0; !status && i < names.n; i++)
        status = read_record(all, names.v[i], err);
    const struct pgk_used_calls *calls = &all->used->calls;
    if (!status && !calls->modules)
        status = pgk_fail(err, calls->others ? PGK_E_MISMATCH : PGK_E_EMPTY, .file = folder,
                          .format = "records of what compiles used",
                          .found = calls->others ? "records of other profiles" : "none",
                          .expected = "records of this profile",
                          .hint = "compile with the flags that pgokit config use prints with "
                                  "--report, and an empty folder for each build");
    pgk_vec_free(&names);
    pgk_arena_free(&arena);
    if (!status)
        take_links(all);
    return status;
}

static enum pgk_use find_use(const struct records *all, uint64_t key)
{
    PGK_SEARCH(at, all->lines.n, middle, all->lines.v[middle].key < key);
    return at < all->lines.n && all->lines.v[at].key == key ? all->lines.v[at].use
                                                            : PGK_USE_NO_FUNCTION;
}

static void free_records(struct records *all)
{
    pgk_vec_free(&all->lines);
    pgk_vec_free(&all->hinted);
    pgk_vec_free(&all->compared);
}

/* ---- sums ---- */

static bool add_item(struct pgk_used *used, struct pgk_used_left item)
{
    struct pgk_used_totals *of[] = {&used->totals[item.use], &used->totals[PGK_USES]};
    for (size_t i = 0; i < 2; i++) {
        of[i]->items++;
        of[i]->weight = pgk_add_saturated(of[i]->weight, item.weight);
    }
    if (item.use <= PGK_USE_LAST_USED || item.use >= PGK_USE_FIRST_UNWANTED)
        return true;
    return pgk_vec_push(&used->left, item);
}

/* Positions at last, so that the order is one. */
static int by_weight(const void *a, const void *b)
{
    const struct pgk_used_left *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    if (x->context != y->context)
        return x->context < y->context ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return x->line != y->line ? (x->line < y->line ? -1 : 1) : strcmp(x->type, y->type);
}

static int finish(struct pgk_used **into, struct records *all, int status)
{
    struct pgk_used *used = all->used;
    free_records(all);
    if (status) {
        pgk_used_close(&used);
        return status;
    }
    if (used->left.n)
        qsort(used->left.v, used->left.n, sizeof *used->left.v, by_weight);
    *into = used;
    return 0;
}

static struct pgk_heap_frame *space_for_stacks(const struct pgk_heap *heap, size_t *deepest)
{
    *deepest = 1;
    for (size_t i = 0; i < pgk_heap_contexts(heap); i++) {
        size_t n = pgk_heap_stack(heap, i, NULL, 0);
        *deepest = n > *deepest ? n : *deepest;
    }
    return pgk_mem_alloc(*deepest, sizeof(struct pgk_heap_frame));
}

static int sum_heap(struct records *all, const struct pgk_heap *heap, uint8_t *classes,
                    struct pgk_err *err)
{
    size_t deepest;
    struct pgk_heap_frame *stack = space_for_stacks(heap, &deepest);
    bool fits = stack != NULL;
    int status = pgk_use_classify(heap, &all->used->limits, classes, err);
    for (size_t i = 0; fits && !status && i < pgk_heap_contexts(heap); i++) {
        size_t n = pgk_heap_stack(heap, i, stack, deepest);
        enum pgk_use use = classes[i];
        if (use < PGK_USE_FIRST_UNWANTED)
            use = find_use(all, pgk_use_context_key(stack, n));
        fits = add_item(all->used, (struct pgk_used_left){.use = use, .context = i, .type = "",
                            .weight = pgk_heap_value(heap, i, PGK_MIB_TotalSize)});
    }
    pgk_mem_free(stack);
    return fits ? status : pgk_fail_nomem(err);
}

int pgk_used_heap(struct pgk_used **used, const struct pgk_heap *heap, const char *folder,
                  struct pgk_err *err)
{
    size_t n = pgk_heap_contexts(heap);
    struct records all = {.used = pgk_mem_zalloc(1, sizeof *all.used), .heap = true, .items = n};
    uint8_t *classes = pgk_mem_alloc(n ? n : 1, 1);
    if (!all.used || !classes) {
        pgk_mem_free(all.used);
        pgk_mem_free(classes);
        return pgk_fail_nomem(err);
    }
    all.used->heap = heap;
    for (size_t i = 0; i < n; i++)
        all.weight = pgk_add_saturated(all.weight, pgk_heap_value(heap, i, PGK_MIB_TotalSize));
    int status = read_records(&all, folder, err);
    status = status ? status : sum_heap(&all, heap, classes, err);
    pgk_mem_free(classes);
    return finish(used, &all, status);
}

/* Calls `fn` for each type at a place. */
typedef bool type_fn(struct records *all, const struct pgk_sample *profile, uint32_t node,
                     const struct pgk_sample_record *record);

static bool each_type_of(struct records *all, const struct pgk_sample *profile, uint32_t node,
                         type_fn *fn)
{
    struct pgk_sample_record record = {.struct_size = sizeof record, .node = node};
    while (pgk_sample_next_record(profile, &record))
        if (record.kind == PGK_SAMPLE_TYPE && !fn(all, profile, node, &record))
            return false;
    return true;
}

static bool each_type(struct records *all, const struct pgk_sample *profile, type_fn *fn)
{
    for (size_t i = 0; i < pgk_sample_functions(profile); i++) {
        uint32_t root = pgk_sample_function_at(profile, i);
        for (uint32_t node = root; node;) {
            if (!each_type_of(all, profile, node, fn))
                return false;
            uint32_t next = pgk_sample_first_inlinee(profile, node);
            while (!next && node != root) {
                struct pgk_sample_function function = {.struct_size = sizeof function};
                next = pgk_sample_next_inlinee(profile, node);
                pgk_sample_get(profile, node, &function);
                node = function.caller;
            }
            node = next;
        }
    }
    return true;
}

static bool count_type(struct records *all, const struct pgk_sample *profile, uint32_t node,
                       const struct pgk_sample_record *record)
{
    (void)profile;
    (void)node;
    all->items++;
    all->weight = pgk_add_saturated(all->weight, record->count);
    return true;
}

static bool sum_type(struct records *all, const struct pgk_sample *profile, uint32_t node,
                     const struct pgk_sample_record *record)
{
    enum pgk_use use = find_use(all, pgk_use_type_key(profile, node, record));
    return add_item(all->used, (struct pgk_used_left){.use = use, .weight = record->count,
                        .node = node, .line = record->line,
                        .discriminator = record->discriminator, .type = record->name});
}

int pgk_used_sample(struct pgk_used **used, const struct pgk_sample *profile, const char *folder,
                    struct pgk_err *err)
{
    struct records all = {.used = pgk_mem_zalloc(1, sizeof *all.used)};
    if (!all.used)
        return pgk_fail_nomem(err);
    all.used->sample = profile;
    each_type(&all, profile, count_type);
    int status = read_records(&all, folder, err);
    if (!status && !each_type(&all, profile, sum_type))
        status = pgk_fail_nomem(err);
    return finish(used, &all, status);
}

void pgk_used_close(struct pgk_used **used)
{
    if (!*used)
        return;
    pgk_vec_free(&(*used)->left);
    pgk_mem_free(*used);
    *used = NULL;
}

double pgk_used_percent(const struct pgk_used *used)
{
    struct pgk_used_totals hit = {0}, wanted = {0};
    for (enum pgk_use use = 0; use < PGK_USE_FIRST_UNWANTED; use++) {
        wanted.items += used->totals[use].items;
        wanted.weight = pgk_add_saturated(wanted.weight, used->totals[use].weight);
        if (use > PGK_USE_LAST_USED)
            continue;
        hit.items += used->totals[use].items;
        hit.weight = pgk_add_saturated(hit.weight, used->totals[use].weight);
    }
    if (wanted.weight)
        return 100.0 * (double)hit.weight / (double)wanted.weight;
    return wanted.items ? 100.0 * (double)hit.items / (double)wanted.items : 100;
}
