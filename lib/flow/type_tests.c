/* Where code compares the type of an object. What is known of registers flows through the blocks of
 * the code between two symbols until nothing changes:
 *
 *     code that may name a table ─► effects of its instructions ─► registers at each block
 *                                ─► comparisons with a table, and the branches behind them */
#include "type_tests.h"

#include "data_words.h"
#include "flow_graph.h"
#include "insn_effect.h"
#include "search.h"

#include <string.h>

enum { FIRST_POINT = 2 * PGK_WORD }; /* objects point to the word after offset and type */

/* 8 bytes of the frame that code put an address into, so that a register was free meanwhile. */
struct spilled {
    int base;
    uint64_t at, value;
};

/* The values of registers, whichever path control came from. */
enum { MOST_SPILLED = 8 };
struct registers {
    bool reached;
    uint32_t from_frame; /* what is known of them was read there */
    uint32_t n_spilled;
    struct spilled spilled[MOST_SPILLED];
    uint32_t known; /* a bit for each */
    uint32_t read;  /* what they point to has been read */
    uint64_t v[PGK_INSN_REGISTERS];
};

struct step {
    uint64_t addr;
    struct pgk_insn_effect effect;
};

/* Tables that the last comparison was with. */
enum { MOST_AT_ONCE = 8 };
struct compared {
    uint32_t n;
    struct {
        uint64_t at, value;
        bool is_read;
    } v[MOST_AT_ONCE];
};

struct span { /* of addresses that code names to reach a table */
    uint64_t low, high;
};

struct finder {
    struct pgk_code *code;
    const struct pgk_vtable_symbols *tables;
    struct pgk_data_words words;
    struct pgk_type_tests *into;
    struct span spans[2]; /* tables, and slots with their addresses */
    struct pgk_flow_graph graph;
    PGK_VEC(struct step) steps;      /* of the code that is looked at, ascending */
    PGK_VEC(struct registers) states; /* by block, at its beginning */
    PGK_VEC(bool) open;               /* by block: is to be gone through */
};

/* ---- tables ---- */

/* Name of the table whose functions an object points to with this value; NULL: it is none. */
static const char *table_of(const struct finder *f, uint64_t value, size_t *len)
{
    const struct pgk_vtable_symbol *s = pgk_vtable_symbol_at(f->tables, value);
    uint64_t off = s ? value - s->addr : 0;
    const char *name = s ? s->name : pgk_foreign_name(f->code->elf, value, &off);
    if (!name || !pgk_is_vtable_name(name) || off < FIRST_POINT || off % PGK_WORD)
        return NULL;
    *len = s ? s->len : pgk_vtable_name_length(name);
    return name;
}

static void widen(struct span *s, uint64_t low, uint64_t high)
{
    bool none = s->low > s->high;
    s->low = none || low < s->low ? low : s->low;
    s->high = none || high > s->high ? high : s->high;
}

static bool is_slot(struct finder *f, uint64_t addr)
{
    uint64_t value = pgk_data_word(&f->words, addr), off;
    const char *name = pgk_foreign_name(f->code->elf, value, &off);
    return pgk_vtable_symbol_at(f->tables, value) || (name && pgk_is_vtable_name(name));
}

static void find_spans(struct finder *f)
{
    f->spans[0] = f->spans[1] = (struct span){.low = UINT64_MAX};
    for (size_t i = 0; i < f->tables->list.n; i++) {
        const struct pgk_vtable_symbol *s = &f->tables->list.v[i];
        widen(&f->spans[0], s->addr, s->addr + s->size);
    }
    for (size_t i = 0; i < pgk_elf_section_count(f->code->elf); i++) {
        struct pgk_elf_section_info s = pgk_elf_section_at(f->code->elf, i);
        for (uint64_t at = 0; !strcmp(s.name, ".got") && s.bytes && at + PGK_WORD <= s.size;
             at += PGK_WORD)
            if (is_slot(f, s.addr + at))
                widen(&f->spans[1], s.addr + at, s.addr + at);
    }
}

/* ---- registers ---- */

static const struct spilled *spilled_at(const struct registers *r,
                                        const struct pgk_insn_operand *o)
{
    for (uint32_t i = 0; o->kind == PGK_OPERAND_MEMORY && i < r->n_spilled; i++)
        if (r->spilled[i].base == o->base && r->spilled[i].at == o->value)
            return &r->spilled[i];
    return NULL;
}

static bool value_of(struct finder *f, const struct registers *r, const struct pgk_insn_operand *o,
                     uint64_t *value)
{
    const struct spilled *s = spilled_at(r, o);
    if (s) {
        *value = s->value;
        return true;
    }
    if (o->kind == PGK_OPERAND_UNKNOWN || (o->base >= 0 && !(r->known >> o->base & 1)))
        return false;
    *value = o->value + (o->base >= 0 ? r->v[o->base] : 0);
    if (o->kind == PGK_OPERAND_MEMORY)
        *value = pgk_data_word(&f->words, *value);
    return true;
}

static uint32_t bit(int reg)
{
    return reg >= 0 ? (uint32_t)1 << reg : 0;
}

static uint32_t read_by(const struct pgk_insn_operand *o)
{
    return o->kind == PGK_OPERAND_MEMORY ? bit(o->base) : 0;
}

static bool is_read(const struct registers *r, const struct pgk_insn_operand *o)
{
    return o->kind == PGK_OPERAND_VALUE && !o->value && r->read & bit(o->base);
}

static bool is_from_frame(const struct registers *r, const struct pgk_insn_operand *o)
{
    return spilled_at(r, o) || (o->kind == PGK_OPERAND_VALUE && r->from_frame & bit(o->base));
}

/* Forgets what a store overwrites, and what is found by registers that change. */
static void forget_spilled(struct registers *r, const struct pgk_insn_effect *e)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->n_spilled; i++) {
        const struct spilled *s = &r->spilled[i];
        bool overwritten = e->stores && s->base == e->place.base &&
                           (s->at - e->place.value < e->stores ||
                            e->place.value - s->at < PGK_WORD);
        if (!overwritten && !(e->changed & bit(s->base)))
            r->spilled[n++] = *s;
    }
    r->n_spilled = n;
}

static void go_in_frame(struct finder *f, struct registers *r, const struct pgk_insn_effect *e)
{
    uint64_t value;
    bool known = e->stores == PGK_WORD && value_of(f, r, &e->stored, &value);
    forget_spilled(r, e);
    if (known && r->n_spilled < MOST_SPILLED)
        r->spilled[r->n_spilled++] = (struct spilled){e->place.base, e->place.value, value};
}

static void go(struct finder *f, struct registers *r, const struct pgk_insn_effect *e)
{
    uint64_t value;
    bool known = e->reg >= 0 && value_of(f, r, &e->a, &value);
    bool copies_read = e->reg >= 0 && is_read(r, &e->a);
    uint32_t from_frame = known && is_from_frame(r, &e->a) ? bit(e->reg) : 0;
    go_in_frame(f, r, e);
    r->from_frame = (r->from_frame & ~e->changed) | from_frame;
    r->read = ((r->read | read_by(&e->a) | read_by(&e->b)) & ~e->changed) |
              (copies_read ? bit(e->reg) : 0);
    r->known &= ~e->changed;
    if (known) {
        r->known |= bit(e->reg);
        r->v[e->reg] = value;
    }
}

/* Leaves what both have; true if that is less than `into` had. */
static bool join(struct registers *into, const struct registers *from)
{
    uint32_t known = into->known, read = into->read, from_frame = into->from_frame;
    const uint32_t spilled = into->n_spilled;
    if (!into->reached) {
        *into = *from;
        return true;
    }
    into->known &= from->known;
    into->read &= from->read;
    for (unsigned i = 0; i < PGK_INSN_REGISTERS; i++)
        if (into->known >> i & 1 && into->v[i] != from->v[i])
            into->known &= ~bit((int)i);
    into->from_frame |= from->from_frame;
    into->n_spilled = 0;
    for (uint32_t i = 0; i < spilled; i++) {
        const struct spilled s = into->spilled[i];
        const struct spilled *other = spilled_at(from, &(struct pgk_insn_operand){
                                                           PGK_OPERAND_MEMORY, s.base, s.at});
        if (other && other->value == s.value)
            into->spilled[into->n_spilled++] = s;
    }
    return into->known != known || into->read != read || into->from_frame != from_frame ||
           into->n_spilled != spilled;
}

static size_t step_at(const struct finder *f, uint64_t addr)
{
    PGK_SEARCH(i, f->steps.n, mid, f->steps.v[mid].addr < addr)
    return i;
}

static void leave_block(struct finder *f, uint32_t block, const struct registers *r)
{
    const pgk_flow_edges *edges = &f->graph.edges;
    PGK_SEARCH(i, edges->n, mid, edges->v[mid].from < block)
    for (; i < edges->n && edges->v[i].from == block; i++)
        if (join(&f->states.v[edges->v[i].to], r))
            f->open.v[edges->v[i].to] = true;
}

/* Space in front of a loop, which looks like a block that is entered from elsewhere. */
static bool is_space(const struct finder *f, uint32_t block)
{
    const struct pgk_flow_place *p = &f->graph.places.v[block];
    size_t i = step_at(f, p->low);
    while (i < f->steps.n && f->steps.v[i].addr < p->high && f->steps.v[i].effect.pads)
        i++;
    return block != f->graph.entry && (i == f->steps.n || f->steps.v[i].addr >= p->high);
}

/* The blocks and, after them, where indirect jumps lead. */
static bool settle_registers(struct finder *f)
{
    const struct pgk_flow_graph *g = &f->graph;
    bool any = true;
    f->states.n = f->open.n = 0;
    for (uint32_t i = 0; i < g->blocks.n; i++) {
        bool begins = g->blocks.v[i].is_entry && (i == g->places.n || !is_space(f, i));
        if (!pgk_vec_push(&f->states, (struct registers){.reached = begins}) ||
            !pgk_vec_push(&f->open, begins))
            return false;
    }
    while (any) {
        any = false;
        for (uint32_t i = 0; i < g->blocks.n; i++) {
            if (!f->open.v[i])
                continue;
            any = true;
            f->open.v[i] = false;
            struct registers r = f->states.v[i];
            for (size_t k = i < g->places.n ? step_at(f, g->places.v[i].low) : f->steps.n;
                 k < f->steps.n && f->steps.v[k].addr < g->places.v[i].high; k++)
                go(f, &r, &f->steps.v[k].effect);
            leave_block(f, i, &r);
        }
    }
    return true;
}

/* ---- comparisons ---- */

static void compare(struct finder *f, const struct registers *r, const struct step *s,
                    struct compared *c)
{
    uint64_t a, b;
    bool know_a = value_of(f, r, &s->effect.a, &a), know_b = value_of(f, r, &s->effect.b, &b);
    if (know_a && know_b) { /* one may be an object in the frame, which a call may have changed */
        know_a = !is_from_frame(r, &s->effect.a);
        know_b = !is_from_frame(r, &s->effect.b);
    }
    bool fits = know_a != know_b && (s->effect.flags == PGK_FLAGS_COMPARE ||
                                     (c->n && c->n < MOST_AT_ONCE));
    c->n = s->effect.flags == PGK_FLAGS_COMPARE || !fits ? 0 : c->n;
    if (fits) {
        c->v[c->n].at = s->addr;
        c->v[c->n].is_read = is_read(r, know_a ? &s->effect.b : &s->effect.a);
        c->v[c->n++].value = know_a ? a : b;
    }
}

static bool add_tests(struct finder *f, const struct step *s, const struct compared *c)
{
    struct pgk_insn insn;
    if (!pgk_code_insn(f->code, s->addr, &insn))
        return true;
    struct pgk_type_test test = {.branch = s->addr,
                                 .target = insn.target,
                                 .behind = s->addr + insn.length,
                                 .if_equal = s->effect.asks == PGK_ASKS_JUMP,
                                 .no_branch = s->effect.asks == PGK_ASKS_CHOICE,
                                 .tables = c->n};
    for (uint32_t i = 0; i < c->n; i++)
        if (!table_of(f, c->v[i].value, &test.table_len))
            return true;
    for (uint32_t i = 0; i < c->n; i++) {
        test.at = c->v[i].at;
        test.is_read = c->v[i].is_read;
        test.table = table_of(f, c->v[i].value, &test.table_len);
        if (!pgk_vec_push(&f->into->list, test))
            return false;
    }
    return true;
}

static bool look_at_block(struct finder *f, uint32_t block)
{
    const struct pgk_flow_place *p = &f->graph.places.v[block];
    struct registers r = f->states.v[block];
    struct compared c = {0};
    for (size_t k = step_at(f, p->low); k < f->steps.n && f->steps.v[k].addr < p->high; k++) {
        const struct step *s = &f->steps.v[k];
        if (c.n && s->effect.asks != PGK_ASKS_NOTHING) {
            if (!add_tests(f, s, &c))
                return false;
            c.n = 0; /* a comparison is reported once */
        }
        if (s->effect.flags == PGK_FLAGS_COMPARE || s->effect.flags == PGK_FLAGS_OR_EQUAL)
            compare(f, &r, s, &c);
        else if (s->effect.flags == PGK_FLAGS_LOST)
            c.n = 0;
        go(f, &r, &s->effect);
    }
    return true;
}

/* ---- code ---- */

static bool list_steps(struct finder *f, const struct pgk_code_region *region)
{
    f->steps.n = 0;
    for (uint64_t at = region->low, last = region->high - 1;
         (at = pgk_code_first(f->code, at, last)) != UINT64_MAX;
         at += pgk_code_mark(f->code, at) & PGK_CODE_LENGTH) {
        struct step s = {.addr = at};
        pgk_insn_effect(&f->code->decoder, region->bytes + (at - region->low), region->high - at,
                        at, &s.effect);
        if (!pgk_vec_push(&f->steps, s))
            return false;
    }
    return true;
}

/* The code of a region as that of one function. */
static int look_at_region(struct finder *f, const struct pgk_code_region *region,
                          struct pgk_err *err)
{
    struct pgk_function_range range = {.low = region->low, .high = region->high, .is_entry = true};
    struct pgk_function function = {.name = "", .n = 1};
    const struct pgk_functions one = {.ranges = {.v = &range, .n = 1},
                                      .by_function = {.v = &(uint32_t){0}, .n = 1},
                                      .functions = {.v = &function, .n = 1}};
    PGK_TRY(pgk_flow_graph_make(&f->graph, f->code, &one, 0, err));
    bool ok = list_steps(f, region) && settle_registers(f);
    for (uint32_t i = 0; ok && i < f->graph.places.n; i++)
        ok = look_at_block(f, i);
    return ok ? 0 : pgk_fail_nomem(err);
}

static bool may_name(const struct finder *f, const struct pgk_code_region *r)
{
    bool may = false;
    for (size_t i = 0; i < PGK_COUNTOF(f->spans) && !may; i++)
        may = f->spans[i].low <= f->spans[i].high &&
              pgk_insn_may_name(&f->code->decoder, r->bytes, r->high - r->low, r->low,
                                f->spans[i].low, f->spans[i].high);
    return may;
}

static int find(struct finder *f, const uint64_t *addrs, size_t n, struct pgk_err *err)
{
    size_t at = 0;
    find_spans(f);
    for (size_t i = 0; i < f->code->regions.n && at < n; i++) {
        const struct pgk_code_region *r = &f->code->regions.v[i];
        while (at < n && addrs[at] < r->low)
            at++;
        if (at < n && addrs[at] < r->high && may_name(f, r))
            PGK_TRY(look_at_region(f, r, err));
    }
    return 0;
}

int pgk_type_tests_find(struct pgk_type_tests *tests, struct pgk_code *code,
                        const struct pgk_vtable_symbols *tables, const uint64_t *addrs, size_t n,
                        struct pgk_err *err)
{
    struct finder f = {.code = code, .tables = tables, .into = tests};
    int status = pgk_data_words_open(&f.words, code->elf) ? find(&f, addrs, n, err)
                                                          : pgk_fail_nomem(err);
    pgk_data_words_free(&f.words);
    pgk_flow_graph_free(&f.graph);
    pgk_vec_free(&f.steps);
    pgk_vec_free(&f.states);
    pgk_vec_free(&f.open);
    return status;
}

void pgk_type_tests_free(struct pgk_type_tests *tests)
{
    pgk_vec_free(&tests->list);
}

size_t pgk_type_tests_from(const struct pgk_type_tests *tests, uint64_t addr)
{
    PGK_SEARCH(i, tests->list.n, mid, tests->list.v[mid].branch < addr)
    return i;
}

/* ---- the call of all other types ---- */

uint64_t pgk_type_test_call(const struct pgk_type_tests *tests, struct pgk_code *code,
                            const struct pgk_type_test *test)
{
    enum { FAR = 64 }; /* instructions */
    struct pgk_insn insn;
    uint64_t at = test->if_equal ? test->behind : test->target;
    for (unsigned i = 0; i < FAR && pgk_code_insn(code, at, &insn); i++) {
        size_t next = pgk_type_tests_from(tests, at);
        const struct pgk_type_test *other =
            next < tests->list.n && tests->list.v[next].branch == at ? &tests->list.v[next] : NULL;
        if (insn.indirect)
            return at;
        if (insn.kind == PGK_INSN_CALL || insn.kind == PGK_INSN_RET || insn.kind == PGK_INSN_STOP)
            break;
        at = other && !other->if_equal && !other->no_branch ? insn.target
             : insn.kind == PGK_INSN_JUMP                   ? insn.target
                                                            : at + insn.length;
    }
    return test->at;
}
