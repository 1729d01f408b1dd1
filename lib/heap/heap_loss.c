/* What a form of heap profiles cannot hold of a model. */
#include "heap_raw.h"
#include "rekey.h"

#include <inttypes.h>
#include <stdio.h>

struct losses {
    const struct pgk_heap *h;
    const struct pgk_heap_target *target;
    pgk_heap_loss_fn *fn;
    void *ctx;
    int count;
};

static void say(struct losses *l, const char *sentence)
{
    l->count++;
    l->fn(l->ctx, sentence);
}

/* Fields that the target has room for. */
static uint32_t target_fields(const struct pgk_heap_target *t)
{
    uint32_t fields = 0;
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++) {
        const struct pgk_mib_field *f = &pgk_mib_fields[id];
        bool holds = t->form == PGK_HEAP_RAW ? t->version >= f->sound && t->version <= f->last
                     : t->form != PGK_HEAP_INDEXED ? true
                     : t->version < 2              ? id < PGK_MIB_AccessHistogramSize
                                                   : t->full_schema || pgk_mib_is_compilers(id);
        if (f->step != PGK_RULE_NONE && holds)
            fields |= UINT32_C(1) << id;
    }
    return fields;
}

static void name_fields(char *buf, size_t size, uint32_t fields)
{
    size_t n = 0;
    buf[0] = '\0';
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS && n < size; id++)
        if (fields >> id & 1)
            n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "",
                                  pgk_mib_fields[id].name);
}

static void lose_fields(struct losses *l)
{
    uint32_t known = 0, all = UINT32_MAX, room = target_fields(l->target);
    uint64_t cut = 0;
    char names[640], text[800];
    for (size_t i = 0; i < l->h->contexts.n; i++) {
        const struct pgk_mib *m = pgk_heap_mib(l->h, i, PGK_MIB_ROOM);
        known |= m->known;
        all &= m->known;
        for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
            cut += (m->known & room) >> id & 1 && m->v[id] != pgk_mib_file_value(m, id);
    }
    /* Without histograms their size is no loss of its own. */
    known &= ~(UINT32_C(1) << PGK_MIB_AccessHistogramSize);
    if (known & ~room) {
        name_fields(names, sizeof names, known & ~room);
        snprintf(text, sizeof text, "the fields %s", names);
        say(l, text);
    }
    uint32_t zeroed = room & ~all & ~(UINT32_C(1) << PGK_MIB_AccessHistogramSize);
    if (l->h->contexts.n && zeroed && l->target->form == PGK_HEAP_RAW) {
        name_fields(names, sizeof names, zeroed);
        snprintf(text, sizeof text, "that these fields are not known, which reads as 0 now: %s",
                 names);
        say(l, text);
    }
    const uint32_t density = UINT32_C(1) << PGK_MIB_TotalLifetimeAccessDensity;
    if (zeroed & density && l->target->form == PGK_HEAP_INDEXED && l->h->contexts.n)
        say(l, "that the density of accesses is not known: compilers see 0, and take what lives "
               "long for cold");
    if (cut) {
        snprintf(text, sizeof text, "%" PRIu64 " values too large for their field, which stop at "
                 "4294967295", cut);
        say(l, text);
    }
}

static void lose_histograms(struct losses *l)
{
    const struct pgk_heap_target *t = l->target;
    uint64_t contexts = 0, elements = 0, rounded = 0;
    char text[160];
    for (size_t i = 0; i < l->h->contexts.n; i++) {
        const struct pgk_mib *m = pgk_heap_mib(l->h, i, PGK_MIB_ROOM);
        contexts += m->hist_count > 0;
        elements += m->hist_count;
        for (uint32_t k = 0; k < m->hist_count; k++)
            rounded += pgk_heap_raw_decode(pgk_heap_raw_code(m->hist[k])) != m->hist[k];
    }
    bool holds = t->form == PGK_HEAP_PATHS || (t->form == PGK_HEAP_RAW && t->version >= 4);
    if (contexts && !holds) {
        snprintf(text, sizeof text, "the access histograms of %" PRIu64 " contexts (%" PRIu64
                 " elements)", contexts, elements);
        say(l, text);
    } else if (rounded && t->form == PGK_HEAP_RAW && t->version == 5) {
        snprintf(text, sizeof text, "the exact value of %" PRIu64 " elements of histograms, which "
                 "are stored with 12 bits", rounded);
        say(l, text);
    }
}

static void lose_callees(struct losses *l)
{
    const struct pgk_heap_target *t = l->target;
    size_t callees = pgk_heap_callees(l->h);
    char text[100];
    if (!callees || t->form == PGK_HEAP_YAML || t->form == PGK_HEAP_PATHS ||
        (t->form == PGK_HEAP_INDEXED && t->version >= 4))
        return;
    snprintf(text, sizeof text, "%zu targets of indirect calls", callees);
    say(l, text);
}

static void lose_data_access(struct losses *l)
{
    const struct pgk_heap_target *t = l->target;
    const struct pgk_data_access *d = &l->h->data;
    char text[160];
    if (!pgk_data_access_any(d) || t->form == PGK_HEAP_YAML || t->form == PGK_HEAP_PATHS ||
        (t->form == PGK_HEAP_INDEXED && t->version >= 4))
        return;
    snprintf(text, sizeof text,
             "the data access profile: %zu symbols and literals, %zu known not to be accessed",
             d->entries.n, d->cold_symbols.n + d->cold_hashes.n);
    say(l, text);
}

static void lose_modules(struct losses *l)
{
    bool by_file_off = !pgk_heap_raw_has_build_ids(l->target->version);
    size_t frames = 0;
    char text[160];
    if (l->target->form != PGK_HEAP_RAW)
        return;
    for (size_t i = 0; i < l->h->frames.n; i++) {
        const struct pgk_frame *f = &l->h->frames.v[i];
        frames += f->kind == PGK_FRAME_ADDRESS && f->ref != PGK_INDEX_NONE &&
                  l->h->modules.v[f->ref].by_file_off != by_file_off;
    }
    if (frames) {
        snprintf(text, sizeof text, "the module of %zu addresses, whose binary was not given",
                 frames);
        say(l, text);
    }
}

/* Functions that LLVM's files cannot tell apart. */
static int lose_functions(struct losses *l, struct pgk_err *err)
{
    struct pgk_heap *plain = NULL;
    char text[160];
    size_t lines = 0;
    if (l->target->form == PGK_HEAP_RAW || l->target->form == PGK_HEAP_PATHS)
        return 0;
    PGK_TRY(pgk_heap_for_llvm(&plain, l->h, err));
    if (!plain)
        return 0;
    size_t contexts = l->h->contexts.n - plain->contexts.n,
           functions = l->h->funcs.n - plain->funcs.n;
    pgk_heap_close(&plain);
    for (size_t i = 0; i < l->h->frames.n; i++)
        lines += l->h->frames.v[i].where >> 32 > PGK_LLVM_LINE_MASK;
    if (functions) {
        snprintf(text, sizeof text, "what tells %zu functions from others of the same name in "
                 "other files", functions);
        say(l, text);
    }
    if (lines) {
        snprintf(text, sizeof text, "all but 16 bits of %zu line offsets, more of which no "
                 "compiler matches", lines);
        say(l, text);
    }
    if (contexts) {
        snprintf(text, sizeof text, "what tells %zu contexts from others, which they are added to",
                 contexts);
        say(l, text);
    }
    return 0;
}

int pgk_heap_losses(const struct pgk_heap *heap, const struct pgk_heap_target *target,
                    pgk_heap_loss_fn *fn, void *ctx, struct pgk_err *err)
{
    struct losses l = {heap, target, fn, ctx, 0};
    lose_fields(&l);
    lose_histograms(&l);
    lose_callees(&l);
    lose_data_access(&l);
    lose_modules(&l);
    PGK_TRY(lose_functions(&l, err));
    return l.count;
}
