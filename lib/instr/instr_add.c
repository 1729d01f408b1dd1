/* Adding one input's functions to a profile: what merging means. */
#include "instr_model.h"

#include "hash.h"
#include "instr_rename.h"

#include <assert.h>
#include <stdlib.h>

bool pgk_instr_adder_init(struct pgk_instr_adder *a, struct pgk_instr *p, const char *file,
                          uint64_t weight)
{
    assert(weight > 0);
    const char *copy = pgk_arena_copy(&p->arena, file, strlen(file));
    *a = (struct pgk_instr_adder){
        .profile = p, .weight = weight, .file = copy, .input = ++p->inputs};
    return copy != NULL;
}

/* ---- value sites ---- */

static int by_value(const void *a, const void *b)
{
    const struct pgk_instr_value *x = a, *y = b;
    if (x->value != y->value)
        return x->value < y->value ? -1 : 1;
    return x->count > y->count ? -1 : x->count < y->count;
}

/* Sites are short as a rule. */
static void sort_by_value(struct pgk_instr_value *v, uint32_t n)
{
    if (n > 16) {
        qsort(v, n, sizeof *v, by_value);
        return;
    }
    for (uint32_t i = 1; i < n; i++) {
        struct pgk_instr_value x = v[i];
        uint32_t at = i;
        for (; at && by_value(&v[at - 1], &x) > 0; at--)
            v[at] = v[at - 1];
        v[at] = x;
    }
}

static bool grow_site(struct pgk_arena *arena, struct pgk_value_site *s, uint32_t n)
{
    if (n <= s->cap)
        return true;
    uint32_t cap = s->n ? n + n / 2 : n;
    struct pgk_instr_value *v = pgk_arena_alloc(arena, cap, sizeof *v);
    if (!v)
        return false;
    if (s->n)
        memcpy(v, s->v, s->n * sizeof *v);
    s->v = v;
    s->cap = cap;
    return true;
}

/* How many of the other values are not in the site; both are sorted. */
static uint32_t count_new(const struct pgk_value_site *s, const struct pgk_instr_value *v,
                          uint32_t n)
{
    uint32_t fresh = 0;
    for (uint32_t i = 0, k = 0; k < n; k++) {
        while (i < s->n && s->v[i].value < v[k].value)
            i++;
        if (i < s->n && s->v[i].value == v[k].value)
            i++;
        else
            fresh++;
    }
    return fresh;
}

/* Merges from the back, so that it can be done in place. Equal values meet pair by pair, the
 * largest counts first; the positions of a pair follow from how many of a value each
 * side has. */
static void merge_sorted(struct pgk_value_site *s, const struct pgk_instr_value *v, uint32_t n,
                         uint32_t fresh, uint64_t weight)
{
    uint32_t i = s->n, k = n, out = s->n + fresh;
    s->n = out;
    while (k) {
        uint64_t value = v[k - 1].value;
        if (i && s->v[i - 1].value > value) {
            s->v[--out] = s->v[--i];
            continue;
        }
        uint32_t mine = 0, theirs = 0;
        while (mine < i && s->v[i - 1 - mine].value == value)
            mine++;
        while (theirs < k && v[k - 1 - theirs].value == value)
            theirs++;
        i -= mine;
        k -= theirs;
        uint32_t both = mine > theirs ? mine : theirs;
        out -= both;
        /* The target of `both` lies at or after the own ones, so the last are moved first. */
        for (uint32_t j = both; j-- > 0;) {
            uint64_t count = j < mine ? s->v[i + j].count : 0;
            if (j < theirs)
                count = pgk_count_add(count, v[k + j].count, weight, UINT64_MAX);
            s->v[out + j] = (struct pgk_instr_value){value, count};
        }
    }
}

static bool merge_site(struct pgk_arena *arena, struct pgk_value_site *s, struct pgk_instr_value *v,
                       uint32_t n, uint64_t weight)
{
    sort_by_value(v, n);
    uint32_t fresh = count_new(s, v, n);
    if (!grow_site(arena, s, s->n + fresh))
        return false;
    merge_sorted(s, v, n, fresh, weight);
    return true;
}

/* The first values of a site stay in the order of the file. */
static bool fill_site(struct pgk_arena *arena, struct pgk_value_site *s,
                      const struct pgk_instr_value *v, uint32_t n, uint64_t weight)
{
    if (!grow_site(arena, s, n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        s->v[i] =
            (struct pgk_instr_value){v[i].value, pgk_count_add(0, v[i].count, weight, UINT64_MAX)};
    s->n = n;
    return true;
}

/* The sites of a function are one array. One kind may come later than the others, when the first
 * input did not have it. */
static bool make_sites(struct pgk_arena *arena, struct pgk_instr_func *f,
                       const struct pgk_value_data *d)
{
    size_t total = 0;
    bool more = false;
    for (int k = 0; k < PGK_VALUE_KINDS; k++) {
        more |= d->kind[k].counts.n && !f->n_sites[k];
        total += f->n_sites[k] ? f->n_sites[k] : d->kind[k].counts.n;
    }
    if (!more)
        return true;
    struct pgk_value_site *sites = pgk_arena_alloc(arena, total, sizeof *sites);
    size_t at = 0, old = 0;
    if (!sites)
        return false;
    memset(sites, 0, total * sizeof *sites);
    for (int k = 0; k < PGK_VALUE_KINDS; k++) {
        if (f->n_sites[k])
            memcpy(&sites[at], &f->sites[old], f->n_sites[k] * sizeof *sites);
        old += f->n_sites[k];
        if (!f->n_sites[k])
            f->n_sites[k] = (uint32_t)d->kind[k].counts.n;
        at += f->n_sites[k];
    }
    f->sites = sites;
    return true;
}

static bool add_values(const struct pgk_instr_adder *a, struct pgk_instr_func *f,
                       const struct pgk_value_data *d)
{
    struct pgk_arena *arena = &a->profile->arena;
    if (!make_sites(arena, f, d))
        return false;
    size_t first = 0;
    for (int k = 0; k < PGK_VALUE_KINDS; k++) {
        size_t at = 0;
        for (size_t i = 0; i < d->kind[k].counts.n; i++) {
            uint32_t n = d->kind[k].counts.v[i];
            struct pgk_value_site *site = &f->sites[first + i];
            struct pgk_instr_value *v = n ? &d->kind[k].values.v[at] : NULL;
            if (n && !(f->merged ? merge_site(arena, site, v, n, a->weight)
                                 : fill_site(arena, site, v, n, a->weight)))
                return false;
            at += n;
        }
        first += f->n_sites[k];
    }
    return true;
}

/* ---- counters ---- */

static uint64_t count_at(const struct pgk_instr_record *r, size_t i)
{
    uint64_t v;
    memcpy(&v, (const uint8_t *)r->counts + i * sizeof v, sizeof v);
    return v;
}

static bool is_pseudo(uint64_t first)
{
    return first >= PGK_COUNT_WARM;
}

static void copy_counts(struct pgk_instr_func *f, const struct pgk_instr_record *r, uint64_t weight)
{
    for (size_t i = 0; i < r->n_counts; i++)
        f->counts[i] = pgk_count_add(0, count_at(r, i), weight, PGK_COUNT_MAX);
    f->pseudo = is_pseudo(count_at(r, 0));
    if (f->pseudo)
        f->counts[0] = count_at(r, 0);
}

static void add_counts(struct pgk_instr_func *f, const struct pgk_instr_record *r, uint64_t weight)
{
    for (size_t i = 0; weight == 1 && i < r->n_counts; i++) {
        uint64_t more = count_at(r, i), sum = f->counts[i] + more;
        f->counts[i] = sum < more || sum > PGK_COUNT_MAX ? PGK_COUNT_MAX : sum;
    }
    for (size_t i = 0; weight != 1 && i < r->n_counts; i++)
        f->counts[i] = pgk_count_add(f->counts[i], count_at(r, i), weight, PGK_COUNT_MAX);
}

/* Most functions of a large program do not run, and their counters are not even looked at. */
static bool has_counts(const struct pgk_instr_record *r)
{
    uint64_t any = 0;
    for (size_t i = 0; i < r->n_counts; i++)
        any |= count_at(r, i);
    return any != 0;
}

static void merge_counts(struct pgk_instr_func *f, const struct pgk_instr_record *r,
                         uint64_t weight)
{
    bool pseudo = is_pseudo(count_at(r, 0));
    f->mixed |= pseudo != f->pseudo;
    if (PGK_LIKELY(!f->pseudo && !pseudo)) {
        if (has_counts(r))
            add_counts(f, r, weight);
    } else if (f->pseudo && pseudo) {
        f->counts[0] = f->counts[0] > count_at(r, 0) ? f->counts[0] : count_at(r, 0);
    } else if (f->pseudo) {
        copy_counts(f, r, weight);
    }
}

static bool merge_bitmap(struct pgk_arena *arena, struct pgk_instr_func *f,
                         const struct pgk_instr_record *r)
{
    if (!r->n_bitmap)
        return true;
    if (!f->n_bitmap) {
        f->bitmap = (uint8_t *)pgk_arena_copy(arena, (const char *)r->bitmap, r->n_bitmap);
        f->n_bitmap = (uint32_t)r->n_bitmap;
        return f->bitmap != NULL;
    }
    for (size_t i = 0; i < r->n_bitmap; i++)
        f->bitmap[i] |= r->bitmap[i];
    return true;
}

/* ---- functions ---- */

/* The part of a record that differs in shape from its function; NULL: none. A part that one of the
 * two lacks altogether, such as values, is no contradiction. */
static const char *differs(const struct pgk_instr_func *f, const struct pgk_instr_record *r,
                           uint64_t *one, uint64_t *other)
{
    static const char *const sites[] = {"sites of indirect calls", "sites of memory operations",
                                        "sites of virtual tables"};
    *one = f->n_counts;
    *other = r->n_counts;
    if (*one != *other)
        return "counters";
    *one = f->n_bitmap;
    *other = r->n_bitmap;
    if (*one && *other && *one != *other)
        return "bitmap bytes";
    for (int k = 0; r->values && k < PGK_VALUE_KINDS; k++) {
        *one = f->n_sites[k];
        *other = r->values->kind[k].counts.n;
        if (*one && *other && *one != *other)
            return sites[k];
    }
    return NULL;
}

static int dispute(const struct pgk_instr_adder *a, struct pgk_instr_func *f, const char *what,
                   uint64_t one, uint64_t other, struct pgk_err *err)
{
    struct pgk_instr *p = a->profile;
    if (f->disputed)
        return 0;
    f->disputed = true;
    return pgk_vec_push(&p->disputes,
                        (struct pgk_instr_dispute){f->name, f->hash, what, a->file, one, other})
               ? 0
               : pgk_fail_nomem(err);
}

static int add_function(struct pgk_instr_adder *a, const struct pgk_instr_record *r,
                        struct pgk_err *err)
{
    struct pgk_instr *p = a->profile;
    struct pgk_instr_func f = {.hash = r->hash, .name = r->name, .n_counts = (uint32_t)r->n_counts};
    f.counts = pgk_arena_alloc(&p->arena, r->n_counts, sizeof *f.counts);
    if (!f.counts || !merge_bitmap(&p->arena, &f, r))
        return pgk_fail_nomem(err);
    copy_counts(&f, r, a->weight);
    if (r->uniformity && !pgk_uniformity_add(&p->arena, &f, r->uniformity, a->weight))
        return pgk_fail_nomem(err);
    if (r->values && !add_values(a, &f, r->values))
        return pgk_fail_nomem(err);
    if (p->funcs.n >= PGK_INDEX_NONE - 1 || !pgk_vec_push(&p->funcs, f))
        return pgk_fail_nomem(err);
    uint32_t pos = (uint32_t)p->funcs.n - 1;
    if (!pgk_index_add(&p->func_index, pgk_hash_pair(p->names.list.v[r->name].ref, r->hash), pos)) {
        p->funcs.n--;
        return pgk_fail_nomem(err);
    }
    a->next = pos + 1;
    return 0;
}

static void sort_sites(struct pgk_instr_func *f)
{
    size_t n = 0;
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        n += f->n_sites[k];
    for (size_t i = 0; i < n; i++)
        sort_by_value(f->sites[i].v, f->sites[i].n);
    f->merged = true;
}

static uint32_t find(const struct pgk_instr_adder *a, const struct pgk_instr_record *r)
{
    const struct pgk_instr *p = a->profile;
    if (a->next < p->funcs.n && p->funcs.v[a->next].name == r->name &&
        p->funcs.v[a->next].hash == r->hash)
        return a->next;
    return pgk_instr_find(p, p->names.list.v[r->name].ref, r->hash);
}

/* Inputs are counted once, however many images they have. */
static void note_input(const struct pgk_instr_adder *a, struct pgk_instr_func *f)
{
    struct pgk_instr_name *name = &a->profile->names.list.v[f->name];
    f->inputs += f->last_input != a->input;
    f->last_input = a->input;
    name->inputs += name->last_input != a->input;
    name->last_input = a->input;
}

static int merge_function(const struct pgk_instr_adder *a, struct pgk_instr_func *f,
                          const struct pgk_instr_record *r, struct pgk_err *err)
{
    struct pgk_instr *p = a->profile;
    uint64_t one, other;
    const char *what = differs(f, r, &one, &other);
    if (what)
        return dispute(a, f, what, one, other, err);
    if (!f->merged)
        sort_sites(f);
    merge_counts(f, r, a->weight);
    if (!merge_bitmap(&p->arena, f, r) || (r->values && !add_values(a, f, r->values)) ||
        (r->uniformity && !pgk_uniformity_add(&p->arena, f, r->uniformity, a->weight)))
        return pgk_fail_nomem(err);
    return 0;
}

int pgk_instr_add(struct pgk_instr_adder *a, const struct pgk_instr_record *r, struct pgk_err *err)
{
    assert(r->name < a->profile->names.list.n);
    struct pgk_instr *p = a->profile;
    uint32_t at = find(a, r);
    if (at == PGK_INDEX_NONE) {
        PGK_TRY(add_function(a, r, err));
        at = (uint32_t)p->funcs.n - 1;
    } else {
        a->next = at + 1;
        PGK_TRY(merge_function(a, &p->funcs.v[at], r, err));
    }
    note_input(a, &p->funcs.v[at]);
    return 0;
}

/* ---- variants ---- */

#define BIT(name) (UINT64_C(1) << PGK_INDEXED_##name)

/* The variants in which counters mean the same. Texts do not record which blocks byte coverage
 * counts. */
static uint64_t sort_of(uint64_t flags)
{
    return flags & (BIT(IR) | BIT(BYTE_COVERAGE));
}

static const char *sort_text(uint64_t flags)
{
    const struct pgk_instr p = {.flags = flags, .flags_file = ""};
    return pgk_instr_origin_text(&p);
}

int pgk_instr_note_flags(struct pgk_instr_adder *a, uint64_t flags, const char *format,
                         struct pgk_err *err)
{
    struct pgk_instr *p = a->profile;
    if (p->flags_file && sort_of(p->flags) != sort_of(flags))
        return pgk_fail(err, PGK_E_MISMATCH, .file = a->file, .format = format,
                        .field = "instrumentation", .found = sort_text(flags),
                        .expected = PGK_F("%s, as in %s", sort_text(p->flags), p->flags_file),
                        .hint = "their counters mean different things; merge them into files "
                                "of their own");
    if (!p->flags_file)
        p->flags_file = a->file;
    p->flags |= flags & ~(BIT(MEMPROF) | BIT(DEBUG_INFO));
    return 0;
}

/* ---- whole profiles ---- */

/* A profile that is added, and how. */
struct whole {
    const struct pgk_instr *from;
    const struct pgk_instr_renames *renames;
    uint64_t weight;
};

/* The values of one site. */
static bool copy_values(const struct whole *w, enum pgk_value_kind kind,
                        const struct pgk_value_site *site, struct pgk_value_data *d)
{
    if (!pgk_vec_push(&d->kind[kind].counts, site->n) ||
        !pgk_vec_reserve(&d->kind[kind].values, site->n))
        return false;
    struct pgk_instr_value *to = d->kind[kind].values.v + d->kind[kind].values.n;
    if (site->n)
        memcpy(to, site->v, site->n * sizeof *to);
    for (uint32_t i = 0; w->renames && kind != PGK_VALUE_SIZE && i < site->n; i++)
        to[i].value = pgk_instr_renamed_ref(w->renames, to[i].value);
    d->kind[kind].values.n += site->n;
    return true;
}

static int copy_function(struct pgk_instr_adder *a, const struct whole *w,
                         const struct pgk_instr_func *f, struct pgk_value_data *d,
                         struct pgk_err *err)
{
    const struct pgk_instr_name *name =
        pgk_instr_renamed(w->renames, &w->from->names.list.v[f->name]);
    struct pgk_instr_record r = {.hash = f->hash,
                                 .counts = f->counts,
                                 .n_counts = f->n_counts,
                                 .bitmap = f->bitmap,
                                 .n_bitmap = f->n_bitmap,
                                 .values = d,
                                 .uniformity = f->uniformity};
    r.name = pgk_names_add(&a->profile->names, &a->profile->arena, name->ref, name->s, name->len);
    if (r.name == PGK_INDEX_NONE)
        return pgk_fail_nomem(err);
    pgk_value_data_clear(d);
    const struct pgk_value_site *site = f->sites;
    for (int k = 0; k < PGK_VALUE_KINDS; k++)
        for (uint32_t i = 0; i < f->n_sites[k]; i++, site++)
            if (!copy_values(w, (enum pgk_value_kind)k, site, d))
                return pgk_fail_nomem(err);
    PGK_TRY(pgk_instr_add(a, &r, err));
    struct pgk_instr_func *sum =
        &a->profile->funcs.v[pgk_instr_find(a->profile, name->ref, f->hash)];
    sum->inputs += f->inputs - 1;
    sum->mixed |= f->mixed;
    /* With several inputs, equal counts are ordered by value, not by the order of this input. */
    if (f->merged && !sum->merged)
        sort_sites(sum);
    return 0;
}

static int copy_names(struct pgk_instr *into, const struct whole *w, struct pgk_err *err)
{
    const struct pgk_instr_names *tables[] = {&w->from->names, &w->from->vtables};
    struct pgk_instr_names *targets[] = {&into->names, &into->vtables};
    for (int t = 0; t < 2; t++)
        for (size_t i = 0; i < tables[t]->list.n; i++) {
            const struct pgk_instr_name *old = &tables[t]->list.v[i],
                                        *n = pgk_instr_renamed(w->renames, old);
            uint32_t at = pgk_names_add(targets[t], &into->arena, n->ref, n->s, n->len);
            if (at == PGK_INDEX_NONE)
                return pgk_fail_nomem(err);
            if (old->inputs)
                targets[t]->list.v[at].inputs += old->inputs - 1;
        }
    return 0;
}

typedef PGK_VEC(uint64_t) ref_vec;

/* `refs`: scratch. */
static bool copy_trace(struct pgk_instr *into, const struct whole *w,
                       const struct pgk_instr_trace *t, ref_vec *refs)
{
    refs->n = 0;
    if (!pgk_vec_reserve(refs, t->n))
        return false;
    for (size_t i = 0; i < t->n; i++)
        refs->v[i] = pgk_instr_renamed_ref(w->renames, t->refs[i]);
    return pgk_instr_add_trace(into, pgk_count_add(0, t->weight, w->weight, UINT64_MAX), refs->v,
                               t->n);
}

static int copy_rest(struct pgk_instr *into, const struct whole *w, struct pgk_err *err)
{
    const struct pgk_instr *from = w->from;
    ref_vec refs = {0};
    bool done = true;
    PGK_TRY(copy_names(into, w, err));
    for (size_t i = 0; i < from->binary_ids.n && done; i++)
        done = pgk_instr_add_binary_id(into, from->binary_ids.v[i].bytes,
                                       from->binary_ids.v[i].size);
    for (size_t i = 0; i < from->traces.n && done; i++)
        done = copy_trace(into, w, &from->traces.v[i], &refs);
    pgk_vec_free(&refs);
    if (!done)
        return pgk_fail_nomem(err);
    into->trace_stream = pgk_count_add(into->trace_stream, from->trace_stream, 1, UINT64_MAX);
    into->hash_age |= from->hash_age;
    return 0;
}

int pgk_instr_copy(struct pgk_instr *into, const struct pgk_instr *from, uint64_t weight,
                   const struct pgk_instr_renames *renames, struct pgk_err *err)
{
    const struct whole w = {from, renames, weight};
    struct pgk_instr_adder a;
    struct pgk_value_data d = {0};
    if (!pgk_instr_adder_init(&a, into, from->flags_file ? from->flags_file : "", weight))
        return pgk_fail_nomem(err);
    if (from->flags_file)
        PGK_TRY(pgk_instr_note_flags(&a, from->flags, "", err));
    int status = 0;
    for (size_t i = 0; i < from->funcs.n && !status; i++)
        status = copy_function(&a, &w, &from->funcs.v[i], &d, err);
    pgk_value_data_free(&d);
    for (size_t i = 0; i < from->disputes.n && !status; i++) {
        const struct pgk_instr_dispute *x = &from->disputes.v[i];
        uint64_t ref = pgk_instr_renamed_ref(renames, from->names.list.v[x->name].ref);
        uint32_t at = pgk_instr_find(into, ref, x->hash);
        if (at != PGK_INDEX_NONE)
            status = dispute(&a, &into->funcs.v[at], x->what, x->one, x->other, err);
    }
    return status ? status : copy_rest(into, &w, err);
}

int pgk_instr_merge(struct pgk_instr *into, const struct pgk_instr *from, uint64_t weight,
                    struct pgk_err *err)
{
    return pgk_instr_copy(into, from, weight, NULL, err);
}
