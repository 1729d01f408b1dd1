/* Calls that compilers describe in debug information: DW_TAG_call_site of DWARF 5, and GNU's of
 * before. clang and gcc write one for each call of optimised code. */
#include "dwarf_priv.h"
#include "symboliser_priv.h"

#include "hash.h"
#include "pool.h"

#include <dwarf.h>

struct call_job {
    struct pgk_dw_unit *unit;
    PGK_VEC(struct pgk_sym_call) calls;
    /* Callees, each read once. */
    PGK_VEC(struct pgk_dw_func) funcs;
    PGK_VEC(struct pgk_dw_die) dies;
    struct pgk_index index;
};

static bool read_callee(struct call_job *j, struct pgk_dw_die die, struct pgk_sym_call *call)
{
    uint64_t hash = pgk_hash_pair((uintptr_t)die.unit, die.off);
    const struct pgk_dw_func *f = NULL;
    PGK_INDEX_FOR (&j->index, hash, i)
        if (j->dies.v[i].off == die.off && j->dies.v[i].unit == die.unit)
            f = &j->funcs.v[i];
    if (!f) {
        struct pgk_dw_func read;
        pgk_dw_func_read(die, &read);
        if (!pgk_vec_push(&j->funcs, read) || !pgk_vec_push(&j->dies, die) ||
            !pgk_index_add(&j->index, hash, (uint32_t)j->funcs.n - 1))
            return false;
        f = &j->funcs.v[j->funcs.n - 1];
    }
    call->callee = f->name;
    call->callee_file = f->decl_file;
    call->is_elsewhere = f->is_declaration;
    return true;
}

static bool flag_is_set(const struct pgk_dw_value *v)
{
    return v->form == DW_FORM_flag_present || v->u;
}

/* DWARF 5 has the address of a call or of the instruction after it; GNU's sites the latter. */
static int add_call(void *ctx, const struct pgk_dw_unit *u, const struct pgk_dw_abbrev *a,
                    uint64_t die)
{
    struct call_job *j = ctx;
    struct pgk_sym_call call = {0};
    struct pgk_dw_die callee = {0};
    struct pgk_dw_iter it;
    uint64_t addr = 0;
    (void)a;
    pgk_dw_iter_start(&it, u, die);
    while (pgk_dw_iter_next(&it)) {
        switch (it.at) {
        case DW_AT_call_return_pc:
        case DW_AT_low_pc:
            if (pgk_dw_address(u, &it.value, &addr) && addr && !call.addr)
                call.addr = addr - 1;
            break;
        case DW_AT_call_pc:
            if (pgk_dw_address(u, &it.value, &addr))
                call.addr = addr;
            break;
        case DW_AT_call_origin:
        case DW_AT_abstract_origin:
            if (!pgk_dw_reference(u, &it.value, &callee))
                callee = (struct pgk_dw_die){0};
            break;
        case DW_AT_call_tail_call:
        case DW_AT_GNU_tail_call:
            call.is_tail = flag_is_set(&it.value);
            break;
        default:
            break;
        }
    }
    if (!call.addr)
        return 0;
    if (callee.unit && !read_callee(j, callee, &call))
        return PGK_E_NOMEM;
    return pgk_vec_push(&j->calls, call) ? 0 : PGK_E_NOMEM;
}

struct call_batch {
    struct pgk_symboliser *sym;
    PGK_VEC(struct call_job) jobs;
};

static int run_job(void *ctx, size_t number, unsigned worker)
{
    struct call_batch *b = ctx;
    struct call_job *j = &b->jobs.v[number];
    struct pgk_dw_unit *tree;
    (void)worker;
    PGK_TRY(pgk_symboliser_tree(b->sym, j->unit, &tree));
    int status = pgk_dw_unit_calls(tree, add_call, j);
    pgk_vec_free(&j->funcs);
    pgk_vec_free(&j->dies);
    pgk_index_free(&j->index);
    return status;
}

/* Appends what the jobs found to one array. */
static int gather(const struct call_batch *b, struct pgk_arena *arena,
                  struct pgk_sym_call **calls, size_t *n_calls, struct pgk_err *err)
{
    size_t n = 0;
    for (size_t i = 0; i < b->jobs.n; i++)
        n += b->jobs.v[i].calls.n;
    struct pgk_sym_call *all = pgk_arena_alloc(arena, n + 1, sizeof *all);
    if (!all)
        return pgk_fail_nomem(err);
    *calls = all;
    *n_calls = n;
    for (size_t i = 0; i < b->jobs.n; i++) {
        if (b->jobs.v[i].calls.n)
            memcpy(all, b->jobs.v[i].calls.v, b->jobs.v[i].calls.n * sizeof *all);
        all += b->jobs.v[i].calls.n;
    }
    return 0;
}

int pgk_symboliser_calls(struct pgk_symboliser *sym, unsigned threads, struct pgk_arena *arena,
                         struct pgk_sym_call **calls, size_t *n_calls, struct pgk_err *err)
{
    struct call_batch b = {.sym = sym};
    struct pgk_dw_file *file = pgk_symboliser_file(sym);
    bool ok = true;
    for (size_t i = 0; ok && i < file->units.n; i++)
        if (file->units.v[i].usable)
            ok = pgk_vec_push(&b.jobs, (struct call_job){.unit = &file->units.v[i]});
    int status = ok ? pgk_pool_run(threads, b.jobs.n, run_job, &b) : PGK_E_NOMEM;
    if (!status && (file->starved || (file->alt && file->alt->starved)))
        status = PGK_E_NOMEM;
    status = status ? pgk_fail_nomem(err) : gather(&b, arena, calls, n_calls, err);
    for (size_t i = 0; i < b.jobs.n; i++)
        pgk_vec_free(&b.jobs.v[i].calls);
    pgk_vec_free(&b.jobs);
    return status;
}
