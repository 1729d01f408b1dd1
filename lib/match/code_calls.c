/* The calls of a binary, from its debug information and its instructions. */
#include "code_calls.h"

#include "code.h"
#include "hash.h"
#include "search.h"

#include <stdlib.h>

/* What is called at an address. */
struct target {
    uint64_t addr;
    struct pgk_sym_call callee; /* without place; callee NULL: not known */
};

struct decoded {
    uint64_t addr, target; /* target 0: through a register or memory */
    bool is_jump;
};

struct finder {
    struct pgk_symboliser *sym;
    unsigned threads;
    struct pgk_code code;
    PGK_VEC(struct decoded) decoded;
    struct pgk_sym_call *known; /* of debug information, by address */
    size_t n_known;
    PGK_VEC(struct target) targets;
    struct pgk_index target_index;
    PGK_VEC(uint64_t) unknown; /* targets that no known call has */
};

static int by_address(const void *a, const void *b)
{
    const struct pgk_sym_call *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* A jump to where a function begins, or out of all code that is known, is a call of that function
 * with its caller's frame gone. */
static bool is_tail_call(const struct pgk_code *code, const struct pgk_code_region *r,
                         const struct pgk_insn *insn)
{
    if ((insn->kind != PGK_INSN_JUMP && insn->kind != PGK_INSN_COND) || !insn->target ||
        (insn->target >= r->low && insn->target < r->high))
        return false;
    PGK_SEARCH(at, code->regions.n, mid, code->regions.v[mid].high <= insn->target)
    return at == code->regions.n || code->regions.v[at].low >= insn->target;
}

static bool decode_region(struct finder *f, const struct pgk_code_region *r)
{
    struct pgk_insn insn;
    for (uint64_t at = r->low; at < r->high; at += insn.length) {
        pgk_insn_decode(&f->code.decoder, r->bytes + (at - r->low), r->high - at, at, &insn);
        bool is_jump = is_tail_call(&f->code, r, &insn);
        if (!is_jump && insn.kind != PGK_INSN_CALL)
            continue;
        if (!pgk_vec_push(&f->decoded,
                          (struct decoded){at + insn.length - 1, insn.target, is_jump}))
            return false;
    }
    return true;
}

static int decode(struct finder *f, const struct pgk_elf *elf, struct pgk_err *err)
{
    int status = pgk_code_open(&f->code, elf, err);
    if (status == PGK_E_NODEBUG) { /* no symbols: what debug information describes is all */
        *err = (struct pgk_err){0};
        return 0;
    }
    bool ok = true;
    for (size_t i = 0; !status && ok && i < f->code.regions.n; i++)
        ok = decode_region(f, &f->code.regions.v[i]);
    return ok ? status : pgk_fail_nomem(err);
}

static const struct pgk_sym_call *known_at(const struct finder *f, uint64_t addr)
{
    PGK_SEARCH(at, f->n_known, mid, f->known[mid].addr < addr)
    return at < f->n_known && f->known[at].addr == addr ? &f->known[at] : NULL;
}

static struct target *find_target(struct finder *f, uint64_t addr)
{
    PGK_INDEX_FOR (&f->target_index, addr, i)
        if (f->targets.v[i].addr == addr)
            return &f->targets.v[i];
    return NULL;
}

static bool add_target(struct finder *f, uint64_t addr, const struct pgk_sym_call *callee)
{
    return pgk_vec_push(&f->targets, (struct target){addr, *callee}) &&
           pgk_index_add(&f->target_index, addr, (uint32_t)f->targets.n - 1);
}

/* Calls with a known callee give the function at their target, stubs of the linker included. */
static bool learn_targets(struct finder *f)
{
    for (size_t i = 0; i < f->decoded.n; i++) {
        const struct decoded *d = &f->decoded.v[i];
        const struct pgk_sym_call *known = d->target ? known_at(f, d->addr) : NULL;
        if (known && known->callee && !find_target(f, d->target) &&
            !add_target(f, d->target, known))
            return false;
    }
    for (size_t i = 0; i < f->decoded.n; i++) {
        uint64_t target = f->decoded.v[i].target;
        if (target && !find_target(f, target) && !pgk_vec_push(&f->unknown, target))
            return false;
    }
    return true;
}

/* The functions that debug information has at the other targets. */
static int name_targets(struct finder *f, struct pgk_err *err)
{
    size_t n = 0;
    struct pgk_arena arena = {0};
    if (!f->unknown.n)
        return 0;
    qsort(f->unknown.v, f->unknown.n, sizeof *f->unknown.v, by_number);
    for (size_t i = 0; i < f->unknown.n; i++)
        if (!n || f->unknown.v[n - 1] != f->unknown.v[i])
            f->unknown.v[n++] = f->unknown.v[i];
    struct pgk_sym_chain *chains = pgk_arena_alloc(&arena, n, sizeof *chains);
    int status = chains ? pgk_symbolise_copies(f->sym, f->unknown.v, n, f->threads, &arena, chains,
                                               err)
                        : pgk_fail_nomem(err);
    for (size_t i = 0; !status && i < n; i++) {
        struct pgk_sym_call callee = {0};
        if (chains[i].count) {
            const struct pgk_sym_frame *outermost = &chains[i].frames[chains[i].count - 1];
            callee.callee = outermost->function;
            callee.callee_file = outermost->decl_file;
        }
        if (!add_target(f, f->unknown.v[i], &callee))
            status = pgk_fail_nomem(err);
    }
    pgk_arena_free(&arena);
    return status;
}

/* The callee by debug information, or by the target if debug information lacks it. */
static int merge(struct finder *f, struct pgk_arena *arena, struct pgk_sym_call **calls,
                 size_t *n_calls, struct pgk_err *err)
{
    struct pgk_sym_call *all =
        pgk_arena_alloc(arena, f->n_known + f->decoded.n + 1, sizeof *all);
    size_t n = f->n_known;
    if (!all)
        return pgk_fail_nomem(err);
    if (n)
        memcpy(all, f->known, n * sizeof *all);
    for (size_t i = 0; i < f->decoded.n; i++) {
        const struct decoded *d = &f->decoded.v[i];
        const struct pgk_sym_call *known = known_at(f, d->addr);
        const struct target *target = d->target ? find_target(f, d->target) : NULL;
        if (known && (known->callee || !target)) {
            all[known - f->known].is_tail |= d->is_jump;
            continue;
        }
        struct pgk_sym_call *call = known ? &all[known - f->known] : &all[n++];
        *call = target ? target->callee : (struct pgk_sym_call){0};
        call->addr = d->addr;
        call->is_tail = d->is_jump;
    }
    if (n)
        qsort(all, n, sizeof *all, by_address);
    *calls = all;
    *n_calls = n;
    return 0;
}

int pgk_code_calls(struct pgk_binaries *set, uint32_t binary, struct pgk_arena *arena,
                   struct pgk_sym_call **calls, size_t *n_calls, struct pgk_err *err)
{
    struct finder f = {.threads = pgk_binaries_threads(set)};
    struct pgk_arena of_known = {0};
    struct pgk_err own = {0};
    err = err ? err : &own;
    int status = pgk_binaries_symboliser(set, binary, &f.sym, err);
    if (!status)
        status = pgk_symboliser_calls(f.sym, f.threads, &of_known, &f.known, &f.n_known, err);
    if (!status && f.n_known)
        qsort(f.known, f.n_known, sizeof *f.known, by_address);
    if (!status)
        status = decode(&f, pgk_binaries_elf(set, binary), err);
    if (!status)
        status = learn_targets(&f) ? name_targets(&f, err) : pgk_fail_nomem(err);
    if (!status)
        status = merge(&f, arena, calls, n_calls, err);
    pgk_code_close(&f.code);
    pgk_vec_free(&f.decoded);
    pgk_vec_free(&f.targets);
    pgk_index_free(&f.target_index);
    pgk_vec_free(&f.unknown);
    pgk_arena_free(&of_known);
    return status;
}
