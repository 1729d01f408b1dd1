/* The basic blocks of a function as llvm-bolt cuts them. docs/formats/bolt.md section 4 */
#include "bolt_blocks.h"

#include "jump_table.h"
#include "search.h"
#include "u64_set.h"

#include <string.h>

struct reader {
    struct pgk_bolt_blocks *b;
    const struct pgk_bolt_functions *functions;
    struct pgk_code *code;
    uint64_t low, high;
    pgk_addr_vec table_targets;
    bool has_indirect;
};

static bool is_inside(const void *ctx, uint64_t addr)
{
    const struct reader *r = ctx;
    return addr >= r->low && addr < r->high;
}

static bool is_jump_inside(const struct reader *r, const struct pgk_insn *insn)
{
    return !insn->indirect && (insn->kind == PGK_INSN_JUMP || insn->kind == PGK_INSN_COND) &&
           is_inside(r, insn->target);
}

/* A block ends with a jump, conditional or not, and with what does not go on; but the jump that
 * follows a conditional one belongs to the block of that one, unless something jumps to it. */
static bool leads(const struct reader *r, const struct pgk_insn *before,
                  const struct pgk_insn *insn)
{
    if (before->kind == PGK_INSN_OTHER || before->kind == PGK_INSN_CALL)
        return false;
    return !(before->kind == PGK_INSN_COND && is_jump_inside(r, before) &&
             insn->kind == PGK_INSN_JUMP && is_jump_inside(r, insn));
}

static bool list_leaders(struct reader *r)
{
    pgk_addr_vec *leaders = &r->b->leaders;
    struct pgk_insn insn, before = {.kind = PGK_INSN_STOP};
    for (uint64_t at = r->low; at < r->high; at += insn.length, before = insn) {
        if (!pgk_code_insn(r->code, at, &insn)) {
            insn = (struct pgk_insn){.length = 1, .kind = PGK_INSN_STOP};
            continue;
        }
        if ((leads(r, &before, &insn) && !pgk_vec_push(leaders, at)) ||
            (is_jump_inside(r, &insn) && !pgk_vec_push(leaders, insn.target)) ||
            (insn.data && !pgk_jump_table_read(r->code, insn.data, is_inside, r,
                                               &r->table_targets)))
            return false;
        r->has_indirect |= insn.kind == PGK_INSN_JUMP && insn.indirect;
    }
    for (size_t i = 0; r->has_indirect && i < r->table_targets.n; i++)
        if (!pgk_vec_push(leaders, r->table_targets.v[i]))
            return false;
    return true;
}

/* Position of the first entry from `addr` on. */
static size_t entry_from(const struct pgk_bolt_functions *f, uint64_t addr)
{
    PGK_SEARCH(at, f->entries.n, mid, f->entries.v[mid] < addr)
    return at;
}

static bool add_entries(struct reader *r)
{
    const struct pgk_bolt_functions *f = r->functions;
    for (size_t i = entry_from(f, r->low); i < f->entries.n && f->entries.v[i] < r->high; i++)
        if (!pgk_vec_push(&r->b->leaders, f->entries.v[i]))
            return false;
    return true;
}

/* A jump, too, may lead to what comes next. */
static bool leads_to(const struct reader *r, const struct pgk_insn *insn, uint64_t next)
{
    if (insn->kind != PGK_INSN_JUMP || !insn->indirect)
        return pgk_insn_falls_through(insn) || (is_jump_inside(r, insn) && insn->target == next);
    for (size_t i = 0; i < r->table_targets.n; i++)
        if (r->table_targets.v[i] == next)
            return true;
    return false;
}

static bool add_block(struct reader *r, uint64_t low, uint64_t high)
{
    struct pgk_bolt_block block = {.low = low, .last = low};
    struct pgk_insn insn = {.kind = PGK_INSN_STOP};
    for (uint64_t at = low; at < high && pgk_code_insn(r->code, at, &insn); at += insn.length)
        block.last = at;
    block.falls_through = leads_to(r, &insn, high);
    block.ends_in_call = insn.kind == PGK_INSN_CALL;
    size_t entry = entry_from(r->functions, low);
    block.is_entry = low == r->low || (entry < r->functions->entries.n &&
                                       r->functions->entries.v[entry] == low);
    return pgk_vec_push(&r->b->list, block);
}

static bool make(struct reader *r)
{
    pgk_addr_vec *leaders = &r->b->leaders;
    r->b->list.n = leaders->n = 0;
    if (!list_leaders(r) || !add_entries(r))
        return false;
    leaders->n = leaders->n ? pgk_u64_set(leaders->v, leaders->n) : 0;
    for (size_t i = 0; i < leaders->n; i++)
        if (!add_block(r, leaders->v[i], i + 1 < leaders->n ? leaders->v[i + 1] : r->high))
            return false;
    return true;
}

static bool is_cold_part(const struct pgk_bolt_function *f)
{
    return strstr(f->name, ".cold");
}

bool pgk_bolt_add_entries(struct pgk_bolt_functions *f, const struct pgk_code *code)
{
    struct pgk_insn insn;
    for (size_t i = 0; i < f->list.n; i++) {
        const struct pgk_bolt_function *part = &f->list.v[i];
        struct reader r = {.low = part->low, .high = part->high};
        for (uint64_t at = part->low; is_cold_part(part) && at < part->high; at += insn.length) {
            if (!pgk_code_insn(code, at, &insn))
                break;
            bool jumps = !insn.indirect &&
                         (insn.kind == PGK_INSN_JUMP || insn.kind == PGK_INSN_COND);
            uint32_t to = jumps && !is_inside(&r, insn.target)
                              ? pgk_bolt_functions_at(f, insn.target)
                              : PGK_BOLT_NO_FUNCTION;
            if (to != PGK_BOLT_NO_FUNCTION && insn.target != f->list.v[to].low &&
                !pgk_vec_push(&f->entries, insn.target))
                return false;
        }
    }
    f->entries.n = f->entries.n ? pgk_u64_set(f->entries.v, f->entries.n) : 0;
    return true;
}

bool pgk_bolt_blocks_make(struct pgk_bolt_blocks *blocks, struct pgk_code *code,
                          const struct pgk_bolt_functions *functions, uint32_t function)
{
    const struct pgk_bolt_function *f = &functions->list.v[function];
    struct reader r = {.b = blocks, .functions = functions, .code = code, .low = f->low,
                       .high = f->high};
    bool ok = make(&r);
    pgk_vec_free(&r.table_targets);
    return ok;
}

size_t pgk_bolt_blocks_at(const struct pgk_bolt_blocks *blocks, uint64_t addr)
{
    PGK_SEARCH(after, blocks->list.n, mid, blocks->list.v[mid].low <= addr)
    return after ? after - 1 : SIZE_MAX;
}

void pgk_bolt_blocks_free(struct pgk_bolt_blocks *blocks)
{
    pgk_vec_free(&blocks->list);
    pgk_vec_free(&blocks->leaders);
}
