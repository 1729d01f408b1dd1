/* Addresses to source frames: the batch, its distribution over units, and the frames. */
#include "symboliser_priv.h"

#include "elf_priv.h"
#include "hash.h"
#include "message.h"
#include "pool.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdio.h>

#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136
#endif

struct pgk_symboliser {
    const struct pgk_elf *elf;
    struct pgk_dw_file *file;
    PGK_VEC(struct pgk_dw_file *) packages; /* .dwp */
    pgk_dw_arange_vec aranges;
    pthread_mutex_t lock; /* of split units being looked for */
    _Atomic(size_t) lost_splits;
};

/* ---- opening ---- */

static bool has_functions(const struct pgk_dw_file *f)
{
    for (size_t i = 0; i < f->units.n; i++) {
        const struct pgk_dw_unit *u = &f->units.v[i];
        if (!u->usable)
            continue;
        if (u->dwo_name)
            return true;
        const struct pgk_dw_abbrevs *t = pgk_dw_unit_abbrevs(u);
        if (t && t->has_functions)
            return true;
    }
    return false;
}

static int fail_nodebug(const struct pgk_elf *elf, const char *tried, bool has_units,
                        struct pgk_err *err)
{
    return pgk_fail(
        err, PGK_E_NODEBUG, .file = pgk_elf_path(elf), .format = "DWARF", .field = ".debug_info",
        .found = has_units  ? "line tables without functions"
                 : tried[0] ? PGK_F("none, nor a debug file at %s", tried)
                            : "none",
        .expected = "DWARF with functions, in the file or in a debug file",
        .hint = has_units ? "compile with -g, or add -fdebug-info-for-profiling to "
                            "-gline-tables-only"
                          : "compile and link with -g and do not strip, or give the debug file "
                            "(--debug-binary) or the folder of the debug files (--debug-dir)");
}

static int add_package(struct pgk_symboliser *s, const char *path, struct pgk_err *err)
{
    struct pgk_elf *dwp = NULL;
    struct pgk_dw_file *package;
    PGK_TRY(pgk_elf_open_as(&dwp, path, PGK_ELF_DEBUG, err));
    PGK_TRY(pgk_dw_file_open(&package, dwp, dwp, true, err));
    if (pgk_vec_push(&s->packages, package))
        return 0;
    pgk_dw_file_close(&package);
    return pgk_fail_nomem(err);
}

/* The package next to a file, which need not exist. */
static int add_package_of(struct pgk_symboliser *s, const struct pgk_elf *elf, struct pgk_err *err)
{
    char path[4096];
    struct pgk_err why = {0};
    int n = snprintf(path, sizeof path, "%s.dwp", pgk_elf_path(elf));
    if (n < 0 || (size_t)n >= sizeof path || !pgk_dw_is_regular(path))
        return 0;
    return add_package(s, path, &why) == PGK_E_NOMEM ? pgk_fail_nomem(err) : 0;
}

static int open_packages(struct pgk_symboliser *s, const struct pgk_debug_places *places,
                         const struct pgk_elf *debug, struct pgk_err *err)
{
    bool split = false;
    for (size_t i = 0; i < s->file->units.n && !split; i++)
        split = s->file->units.v[i].dwo_name != NULL;
    if (!split)
        return 0;
    for (size_t i = 0; places && i < places->n_packages; i++)
        PGK_TRY(add_package(s, places->packages[i], err));
    PGK_TRY(add_package_of(s, s->elf, err));
    return debug == s->elf ? 0 : add_package_of(s, debug, err);
}

static int open_files(struct pgk_symboliser *s, struct pgk_err *err)
{
    const struct pgk_elf_debug *state = pgk_elf_debug_state(s->elf);
    const struct pgk_elf *debug = pgk_dw_file_of(s->elf);
    struct pgk_dw_search search = {.places = state->places};
    struct pgk_elf *alt = NULL;
    PGK_TRY(pgk_dw_file_open(&s->file, debug ? debug : s->elf, NULL, false, err));
    if (!s->file->units.n)
        return fail_nodebug(s->elf, state->tried, false, err);
    PGK_TRY(pgk_dw_find_alt(&search, debug, &alt, err));
    if (alt)
        PGK_TRY(pgk_dw_file_open(&s->file->alt, alt, alt, false, err));
    if (!has_functions(s->file))
        return fail_nodebug(s->elf, state->tried, true, err);
    PGK_TRY(open_packages(s, state->places, debug, err));
    return pgk_dw_aranges(s->file, &s->aranges) ? 0 : pgk_fail_nomem(err);
}

int pgk_symboliser_open(struct pgk_symboliser **sym, const struct pgk_elf *elf,
                        struct pgk_err *err)
{
    struct pgk_symboliser *s = pgk_mem_zalloc(1, sizeof *s);
    if (!s)
        return pgk_fail_nomem(err);
    s->elf = elf;
    pthread_mutex_init(&s->lock, NULL);
    int status = open_files(s, err);
    if (status < 0) {
        pgk_symboliser_close(&s);
        return status;
    }
    *sym = s;
    return 0;
}

void pgk_symboliser_close(struct pgk_symboliser **sym)
{
    struct pgk_symboliser *s = *sym;
    if (!s)
        return;
    *sym = NULL;
    pgk_dw_file_close(&s->file);
    for (size_t i = 0; i < s->packages.n; i++)
        pgk_dw_file_close(&s->packages.v[i]);
    pgk_vec_free(&s->packages);
    pgk_vec_free(&s->aranges);
    pthread_mutex_destroy(&s->lock);
    pgk_mem_free(s);
}

bool pgk_symboliser_is_whole(const struct pgk_symboliser *sym)
{
    bool split = sym->packages.n;
    for (size_t i = 0; i < sym->file->units.n && !split; i++)
        split = sym->file->units.v[i].dwo_name != NULL;
    return !split && !sym->file->alt;
}

/* ---- split units ---- */

static const struct pgk_dw_unit *unit_with_id(struct pgk_dw_file *f, uint64_t id)
{
    for (size_t i = 0; f && i < f->n_info_units; i++) {
        const struct pgk_dw_unit *u = &f->units.v[i];
        if (u->usable && u->id == id && u->tag == DW_TAG_compile_unit)
            return u;
    }
    return NULL;
}

static int find_split(struct pgk_symboliser *s, struct pgk_dw_unit *u)
{
    struct pgk_dw_unit *split = NULL;
    for (size_t i = 0; i < s->packages.n && !split; i++) {
        split = (struct pgk_dw_unit *)(uintptr_t)unit_with_id(s->packages.v[i], u->id);
        if (split && split->skeleton != split)
            split = NULL; /* two skeletons with one id: the package's unit is the first's */
    }
    if (!split) {
        struct pgk_elf *dwo = NULL;
        PGK_TRY(pgk_dw_find_dwo(u, pgk_elf_path(s->elf), &dwo, NULL));
        if (dwo) {
            PGK_TRY(pgk_dw_file_open(&u->split_file, dwo, dwo, true, NULL));
            split = (struct pgk_dw_unit *)(uintptr_t)unit_with_id(u->split_file, u->id);
            if (!split)
                pgk_warn("%s does not belong to this program: it has no unit of id %016" PRIx64,
                         pgk_elf_path(dwo), u->id);
        }
    }
    if (split) {
        split->skeleton = u;
        u->split = split;
    } else if (!atomic_fetch_add(&s->lost_splits, 1)) {
        pgk_warn("%s: split debug information %s was not found; functions of such units are "
                 "unknown",
                 pgk_elf_path(s->elf), u->dwo_name);
    }
    return 0;
}

struct pgk_dw_file *pgk_symboliser_file(struct pgk_symboliser *sym)
{
    return sym->file;
}

int pgk_symboliser_tree(struct pgk_symboliser *s, struct pgk_dw_unit *u, struct pgk_dw_unit **tree)
{
    *tree = u;
    if (!u->dwo_name)
        return 0;
    int status = 0;
    pthread_mutex_lock(&s->lock);
    if (!u->split_tried) {
        status = find_split(s, u);
        u->split_tried = status == 0;
    }
    if (u->split)
        *tree = (struct pgk_dw_unit *)(uintptr_t)u->split;
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* ---- a batch ---- */

/* The queries that lie in one unit. */
struct job {
    struct pgk_dw_unit *unit;
    size_t first, count; /* in the batch's lists */
    PGK_VEC(struct pgk_sym_frame) frames;
    PGK_VEC(struct pgk_dw_func) funcs; /* each read once */
    PGK_VEC(struct pgk_dw_die) func_dies;
    struct pgk_index func_index;
};

struct batch {
    struct pgk_symboliser *sym;
    PGK_VEC(struct job) jobs;
    bool copies;        /* one chain for all addresses of a copy, without lines */
    struct pgk_sym_place *places; /* of these, by query; NULL: not asked for */
    uint64_t *addrs;    /* grouped by job, ascending */
    uint32_t *query;    /* number of the query in the caller's arrays */
    struct frame_run {  /* parallel to addrs: in the job's frames */
        uint32_t first, n;
    } *runs;
};

static bool known_function(struct job *j, struct pgk_dw_die key, struct pgk_dw_func *f)
{
    PGK_INDEX_FOR (&j->func_index, pgk_hash_pair((uintptr_t)key.unit, key.off), i) {
        if (j->func_dies.v[i].off == key.off && j->func_dies.v[i].unit == key.unit) {
            *f = j->funcs.v[i];
            return true;
        }
    }
    return false;
}

/* For inlined calls without attributes of their own the shared origin is the key. */
static bool read_function(struct job *j, struct pgk_dw_die key, struct pgk_dw_func *f)
{
    if (known_function(j, key, f))
        return true;
    pgk_dw_func_read(key, f);
    return pgk_vec_push(&j->funcs, *f) && pgk_vec_push(&j->func_dies, key) &&
           pgk_index_add(&j->func_index, pgk_hash_pair((uintptr_t)key.unit, key.off),
                         (uint32_t)j->funcs.n - 1);
}

/* Reads the place of the call and the function of an inlined copy, once; false when out of memory.
 * A copy that has no name of its own is known by its origin, so that all copies share one function.
 * */
static bool decode_node(struct job *j, const struct pgk_dw_unit *tree, struct pgk_dw_node *n)
{
    struct pgk_dw_die key = {tree, n->die}, origin;
    struct pgk_dw_iter it;
    uint64_t v;
    pgk_dw_iter_start(&it, tree, n->die);
    bool nameless = it.abbrev && (it.abbrev->flags & PGK_DW_A_NAMELESS);
    while (pgk_dw_iter_next(&it)) {
        switch (it.at) {
        case DW_AT_abstract_origin:
            if (nameless && pgk_dw_reference(tree, &it.value, &origin))
                key = origin;
            break;
        case DW_AT_call_file:
            n->call_file = pgk_dw_constant(&it.value, &v) ? (uint32_t)v : 0;
            break;
        case DW_AT_call_line:
            n->call_line = pgk_dw_constant(&it.value, &v) ? (uint32_t)v : 0;
            break;
        case DW_AT_call_column:
            n->call_column = pgk_dw_constant(&it.value, &v) ? (uint32_t)v : 0;
            break;
        case DW_AT_GNU_discriminator:
            n->call_discriminator = pgk_dw_constant(&it.value, &v) ? (uint32_t)v : 0;
            break;
        default:
            break;
        }
    }
    n->decoded = true;
    return read_function(j, key, &n->func);
}

/* Appends the frames of one address; `row` is NULL if lines and files are of no matter. */
static bool add_frames(struct job *j, const struct pgk_dw_unit *tree, struct pgk_dw_chains *c,
                       uint32_t node, const struct pgk_dw_row *row, struct frame_run *run)
{
    const struct pgk_dw_lines *lines = row ? pgk_dw_unit_lines(j->unit) : NULL;
    const struct pgk_dw_node *inner = NULL;
    if (j->frames.n >= UINT32_MAX)
        return false;
    *run = (struct frame_run){.first = (uint32_t)j->frames.n};
    for (; node != PGK_INDEX_NONE; node = inner->parent, run->n++) {
        struct pgk_dw_node *n = &c->nodes.v[node];
        if (!n->decoded && !decode_node(j, tree, n))
            return false;
        struct pgk_sym_frame f = {
            .function = n->func.name,
            .decl_file = n->func.decl_file,
            .decl_line = n->func.decl_line,
            .inlined = n->parent != PGK_INDEX_NONE,
        };
        if (!inner && row && row->found) {
            f.file = pgk_dw_lines_file(lines, row->file);
        } else if (inner && lines) {
            f.file = pgk_dw_lines_file(lines, inner->call_file);
        }
        /* As in LLVM, a row whose file has no name is no answer. */
        if (!inner && f.file) {
            f.line = row->line;
            f.column = row->column;
            f.discriminator = row->discriminator;
        } else if (inner) {
            f.line = inner->call_line;
            f.column = inner->call_column;
            f.discriminator = inner->call_discriminator;
        }
        if (!pgk_vec_push(&j->frames, f))
            return false;
        inner = n;
    }
    return true;
}

static bool starved(const struct pgk_dw_file *f)
{
    return f->starved || (f->alt && f->alt->starved);
}

/* With lines each address has frames of its own. */
static bool add_chains(struct job *j, const struct pgk_dw_unit *tree, struct pgk_dw_chains *c,
                       const uint64_t *addrs, struct frame_run *runs)
{
    struct pgk_dw_row *rows = pgk_mem_alloc(j->count, sizeof *rows);
    bool ok = rows && pgk_dw_lines_find(pgk_dw_unit_lines(j->unit), addrs, j->count, rows);
    for (size_t i = 0; ok && i < j->count; i++)
        ok = add_frames(j, tree, c, c->innermost[i], &rows[i], &runs[i]);
    pgk_mem_free(rows);
    return ok;
}

static bool add_copies(struct job *j, const struct pgk_dw_unit *tree, struct pgk_dw_chains *c,
                       struct frame_run *runs)
{
    struct frame_run *known = pgk_mem_zalloc(c->nodes.n + 1, sizeof *known); /* by node */
    bool ok = known;
    for (size_t i = 0; ok && i < j->count; i++) {
        uint32_t node = c->innermost[i];
        if (node == PGK_INDEX_NONE)
            continue;
        if (!known[node].n)
            ok = add_frames(j, tree, c, node, NULL, &known[node]);
        runs[i] = known[node];
    }
    pgk_mem_free(known);
    return ok;
}

/* As in add_frames, a row whose file has no name is no answer. */
static bool add_places(struct job *j, const uint64_t *addrs, const uint32_t *query,
                       struct pgk_sym_place *places)
{
    const struct pgk_dw_lines *lines = pgk_dw_unit_lines(j->unit);
    struct pgk_dw_row *rows = pgk_mem_alloc(j->count, sizeof *rows);
    bool ok = rows && pgk_dw_lines_find(lines, addrs, j->count, rows);
    bool known = false, named = false;
    uint32_t file = 0;
    for (size_t i = 0; ok && i < j->count; i++) {
        const struct pgk_dw_row *row = &rows[i];
        if (row->found && (!known || row->file != file)) {
            known = true;
            file = row->file;
            named = pgk_dw_lines_file(lines, file);
        }
        places[query[i]] = row->found && named
                               ? (struct pgk_sym_place){row->line, row->discriminator}
                               : (struct pgk_sym_place){0};
    }
    pgk_mem_free(rows);
    return ok;
}

static int run_job(void *ctx, size_t number, unsigned worker)
{
    struct batch *b = ctx;
    struct job *j = &b->jobs.v[number];
    const uint64_t *addrs = b->addrs + j->first;
    struct pgk_dw_chains chains = {0};
    struct pgk_dw_unit *tree;
    (void)worker;
    PGK_TRY(pgk_symboliser_tree(b->sym, j->unit, &tree));
    chains.innermost = pgk_mem_alloc(j->count, sizeof *chains.innermost);
    bool ok = chains.innermost && pgk_dw_unit_chains(tree, addrs, j->count, &chains);
    if (ok)
        ok = b->copies ? add_copies(j, tree, &chains, b->runs + j->first)
                       : add_chains(j, tree, &chains, addrs, b->runs + j->first);
    if (ok && b->places)
        ok = add_places(j, addrs, b->query + j->first, b->places);
    ok = ok && !starved(j->unit->file) && !starved(tree->file);
    pgk_vec_free(&chains.nodes);
    pgk_mem_free(chains.innermost);
    pgk_vec_free(&j->funcs);
    pgk_vec_free(&j->func_dies);
    pgk_index_free(&j->func_index);
    return ok ? 0 : PGK_E_NOMEM;
}

static bool in_code(const struct pgk_elf *elf, uint64_t addr)
{
    size_t n;
    const struct pgk_segment *s = pgk_elf_segments(elf, &n);
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (!s[i].executable)
            continue;
        any = true;
        if (addr >= s[i].vaddr && addr - s[i].vaddr < s[i].memsz)
            return true;
    }
    return !any;
}

/* Distributes the queries over units, in the order of the units. */
static bool make_jobs(struct batch *b, const uint64_t *addrs, size_t count)
{
    const struct pgk_symboliser *s = b->sym;
    size_t n_units = s->file->units.n, a = 0;
    uint32_t *unit_of = pgk_mem_alloc(count + 1, sizeof *unit_of);
    size_t *start = pgk_mem_zalloc(n_units + 2, sizeof *start);
    b->addrs = pgk_mem_alloc(count + 1, sizeof *b->addrs);
    b->query = pgk_mem_alloc(count + 1, sizeof *b->query);
    b->runs = pgk_mem_zalloc(count + 1, sizeof *b->runs);
    bool ok = unit_of && start && b->addrs && b->query && b->runs;
    for (size_t i = 0; ok && i < count; i++) {
        while (a < s->aranges.n && s->aranges.v[a].high <= addrs[i])
            a++;
        bool inside =
            a < s->aranges.n && s->aranges.v[a].low <= addrs[i] && in_code(s->elf, addrs[i]);
        unit_of[i] = inside ? s->aranges.v[a].unit : PGK_INDEX_NONE;
        if (inside)
            start[unit_of[i] + 1]++;
    }
    for (size_t u = 0; ok && u < n_units; u++) {
        size_t n = start[u + 1];
        start[u + 1] += start[u];
        if (n)
            ok = pgk_vec_push(
                &b->jobs,
                (struct job){.unit = &s->file->units.v[u], .first = start[u], .count = n});
    }
    for (size_t i = 0; ok && i < count; i++) {
        if (unit_of[i] == PGK_INDEX_NONE)
            continue;
        size_t to = start[unit_of[i]]++;
        b->addrs[to] = addrs[i];
        b->query[to] = (uint32_t)i;
    }
    pgk_mem_free(unit_of);
    pgk_mem_free(start);
    return ok;
}

static bool collect(const struct batch *b, struct pgk_arena *arena, struct pgk_sym_chain *chains)
{
    for (size_t i = 0; i < b->jobs.n; i++) {
        const struct job *j = &b->jobs.v[i];
        struct pgk_sym_frame *f = pgk_arena_alloc(arena, j->frames.n, sizeof *f);
        if (!f)
            return false;
        if (j->frames.n)
            memcpy(f, j->frames.v, j->frames.n * sizeof *f);
        for (size_t q = j->first; q < j->first + j->count; q++)
            if (b->runs[q].n)
                chains[b->query[q]] = (struct pgk_sym_chain){f + b->runs[q].first, b->runs[q].n};
    }
    return true;
}

static int symbolise(struct batch *b, const uint64_t *addrs, size_t count, unsigned threads,
                     struct pgk_arena *arena, struct pgk_sym_chain *chains, struct pgk_err *err)
{
    if (count > UINT32_MAX - 1)
        return pgk_fail(err, PGK_E_LIMIT, .field = "addresses", .found = PGK_F("%zu", count),
                        .expected = "fewer than 2^32 in a batch");
    for (size_t i = 1; i < count; i++)
        if (addrs[i - 1] >= addrs[i])
            return pgk_fail(err, PGK_E_ARG, .field = "addresses",
                            .found =
                                PGK_F("0x%" PRIx64 " before 0x%" PRIx64, addrs[i - 1], addrs[i]),
                            .expected = "ascending addresses without doubles");
    int status = make_jobs(b, addrs, count) ? 0 : PGK_E_NOMEM;
    if (!status)
        status = pgk_pool_run(threads, b->jobs.n, run_job, b);
    if (!status) {
        if (count)
            memset(chains, 0, count * sizeof *chains);
        if (!collect(b, arena, chains))
            status = PGK_E_NOMEM;
    }
    if (status < 0) /* a job only fails when out of memory */
        (void)pgk_fail_nomem(err);
    for (size_t i = 0; i < b->jobs.n; i++)
        pgk_vec_free(&b->jobs.v[i].frames);
    pgk_vec_free(&b->jobs);
    pgk_mem_free(b->addrs);
    pgk_mem_free(b->query);
    pgk_mem_free(b->runs);
    return status;
}

int pgk_symbolise(struct pgk_symboliser *sym, const uint64_t *addrs, size_t count, unsigned threads,
                  struct pgk_arena *arena, struct pgk_sym_chain *chains, struct pgk_err *err)
{
    return symbolise(&(struct batch){.sym = sym}, addrs, count, threads, arena, chains, err);
}

int pgk_symbolise_copies(struct pgk_symboliser *sym, const uint64_t *addrs, size_t count,
                         unsigned threads, struct pgk_arena *arena, struct pgk_sym_chain *chains,
                         struct pgk_err *err)
{
    return symbolise(&(struct batch){.sym = sym, .copies = true}, addrs, count, threads, arena,
                     chains, err);
}

int pgk_symbolise_places(struct pgk_symboliser *sym, const uint64_t *addrs, size_t count,
                         unsigned threads, struct pgk_arena *arena, struct pgk_sym_chain *chains,
                         struct pgk_sym_place *places, struct pgk_err *err)
{
    if (count)
        memset(places, 0, count * sizeof *places);
    return symbolise(&(struct batch){.sym = sym, .copies = true, .places = places}, addrs, count,
                     threads, arena, chains, err);
}

/* ---- ranges of functions ---- */

struct code_job {
    struct pgk_dw_unit *unit;
    PGK_VEC(struct pgk_sym_code) code;
};

struct code_batch {
    struct pgk_symboliser *sym;
    PGK_VEC(struct code_job) jobs;
};

static int run_code_job(void *ctx, size_t number, unsigned worker)
{
    struct code_batch *b = ctx;
    struct code_job *j = &b->jobs.v[number];
    struct pgk_dw_unit *tree;
    (void)worker;
    PGK_TRY(pgk_symboliser_tree(b->sym, j->unit, &tree));
    if (!pgk_dw_unit_index(tree) || !pgk_vec_reserve(&j->code, tree->funcs.n))
        return PGK_E_NOMEM;
    uint64_t last = UINT64_MAX;
    struct pgk_dw_func f = {0};
    for (size_t i = 0; i < tree->funcs.n; i++) {
        const struct pgk_dw_func_range *r = &tree->funcs.v[i];
        if (r->die != last)
            pgk_dw_func_read((struct pgk_dw_die){tree, r->die}, &f);
        last = r->die;
        j->code.v[j->code.n++] = (struct pgk_sym_code){r->low, r->high, f.name};
    }
    return starved(j->unit->file) || starved(tree->file) ? PGK_E_NOMEM : 0;
}

/* One job for each unit that an address lies in. */
static bool make_code_jobs(struct code_batch *b, const uint64_t *addrs, size_t count)
{
    const struct pgk_symboliser *s = b->sym;
    bool *taken = pgk_mem_zalloc(s->file->units.n + 1, sizeof *taken);
    bool ok = taken;
    for (size_t i = 0, a = 0; ok && i < count; i++) {
        while (a < s->aranges.n && s->aranges.v[a].high <= addrs[i])
            a++;
        if (a == s->aranges.n || s->aranges.v[a].low > addrs[i] || taken[s->aranges.v[a].unit])
            continue;
        taken[s->aranges.v[a].unit] = true;
        ok = pgk_vec_push(&b->jobs,
                          (struct code_job){.unit = &s->file->units.v[s->aranges.v[a].unit]});
    }
    pgk_mem_free(taken);
    return ok;
}

int pgk_symboliser_code(struct pgk_symboliser *sym, const uint64_t *addrs, size_t count,
                        unsigned threads, struct pgk_arena *arena, struct pgk_sym_code **code,
                        size_t *n_code, struct pgk_err *err)
{
    struct code_batch b = {.sym = sym};
    size_t n = 0;
    int status = make_code_jobs(&b, addrs, count) ? 0 : PGK_E_NOMEM;
    if (!status)
        status = pgk_pool_run(threads, b.jobs.n, run_code_job, &b);
    for (size_t i = 0; i < b.jobs.n; i++)
        n += b.jobs.v[i].code.n;
    struct pgk_sym_code *all = status ? NULL : pgk_arena_alloc(arena, n + 1, sizeof *all);
    for (size_t i = 0, at = 0; i < b.jobs.n; at += b.jobs.v[i].code.n, i++) {
        if (all && b.jobs.v[i].code.n)
            memcpy(all + at, b.jobs.v[i].code.v, b.jobs.v[i].code.n * sizeof *all);
    }
    for (size_t i = 0; i < b.jobs.n; i++)
        pgk_vec_free(&b.jobs.v[i].code);
    pgk_vec_free(&b.jobs);
    if (!all)
        return pgk_fail_nomem(err);
    *code = all;
    *n_code = n;
    return 0;
}

/* ---- all functions ---- */

struct listing {
    pgk_sym_function_fn *fn;
    void *ctx;
    int stopped;           /* what fn returned */
    size_t unit;           /* number of the one that is listed, */
    bool is_shared;        /* unless it belongs to several programs */
    struct pgk_index seen; /* of `names` */
    PGK_VEC(struct pgk_dw_func) names;
};

/* Declarations are of functions that are elsewhere. A copy of an abstract function says
 * nothing of its own, for the abstract one is listed, too. */
static int list_function(void *ctx, const struct pgk_dw_unit *u, const struct pgk_dw_abbrev *a,
                         uint64_t die)
{
    struct listing *l = ctx;
    struct pgk_dw_func f;
    if (a->flags & PGK_DW_A_DECLARATION || (a->has_origin && a->flags & PGK_DW_A_NAMELESS))
        return 0;
    pgk_dw_func_read((struct pgk_dw_die){u, die}, &f);
    if (!f.name || (f.is_declaration && !(a->flags & PGK_DW_A_PC)))
        return 0;
    uint64_t hash = pgk_hash_pair((uintptr_t)f.name, f.decl_line);
    PGK_INDEX_FOR (&l->seen, hash, i) {
        const struct pgk_dw_func *g = &l->names.v[i];
        if (g->name == f.name && g->decl_line == f.decl_line && g->decl_file == f.decl_file)
            return 0;
    }
    if (!pgk_vec_push(&l->names, f) || !pgk_index_add(&l->seen, hash, (uint32_t)l->names.n - 1))
        return PGK_E_NOMEM;
    l->stopped =
        l->fn(l->ctx, &(struct pgk_sym_function){f.name, f.decl_file, f.decl_line, l->unit});
    return l->stopped;
}

/* Calls `visit` for the tree of each unit, whose numbers begin at 1. */
static int each_tree(struct pgk_symboliser *sym, struct pgk_dw_file *f,
                     int (*visit)(void *ctx, const struct pgk_dw_unit *tree, size_t unit),
                     void *ctx)
{
    int status = 0;
    for (size_t i = 0; f && i < f->units.n && !status; i++) {
        struct pgk_dw_unit *u = &f->units.v[i], *tree;
        if (!u->usable)
            continue;
        status = pgk_symboliser_tree(sym, u, &tree);
        if (!status)
            status = visit(ctx, tree, i + 1);
        if (!status && (starved(f) || starved(tree->file)))
            status = PGK_E_NOMEM;
    }
    return status;
}

static int list_unit(void *ctx, const struct pgk_dw_unit *tree, size_t unit)
{
    struct listing *l = ctx;
    l->unit = l->is_shared ? 0 : unit;
    int status = pgk_dw_unit_functions(tree, list_function, l);
    pgk_index_free(&l->seen);
    pgk_vec_free(&l->names);
    return status;
}

int pgk_symboliser_functions(struct pgk_symboliser *sym, pgk_sym_function_fn *fn, void *ctx,
                             struct pgk_err *err)
{
    struct listing l = {.fn = fn, .ctx = ctx};
    int status = each_tree(sym, sym->file, list_unit, &l);
    /* Entries that dwz moved there belong to several programs, and nothing records to which. */
    l.is_shared = true;
    if (!status)
        status = each_tree(sym, sym->file->alt, list_unit, &l);
    if (l.stopped)
        return l.stopped;
    return status < 0 ? pgk_fail_nomem(err) : 0;
}

/* ---- all variables ---- */

struct variables {
    pgk_sym_variable_fn *fn;
    void *ctx;
    int stopped;
};

static int list_variable(void *ctx, uint64_t addr, struct pgk_dw_die die)
{
    struct variables *v = ctx;
    struct pgk_dw_func f;
    pgk_dw_func_read(die, &f);
    if (!f.decl_file || !f.decl_line)
        return 0;
    v->stopped = v->fn(v->ctx, &(struct pgk_sym_variable){addr, f.decl_file, f.decl_line});
    return v->stopped;
}

static int list_variables(void *ctx, const struct pgk_dw_unit *tree, size_t unit)
{
    (void)unit;
    return pgk_dw_unit_variables(tree, list_variable, ctx);
}

int pgk_symboliser_variables(struct pgk_symboliser *sym, pgk_sym_variable_fn *fn, void *ctx,
                             struct pgk_err *err)
{
    struct variables v = {.fn = fn, .ctx = ctx};
    int status = each_tree(sym, sym->file, list_variables, &v);
    if (v.stopped)
        return v.stopped;
    return status < 0 ? pgk_fail_nomem(err) : 0;
}
