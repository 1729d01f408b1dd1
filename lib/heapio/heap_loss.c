/* Lists the data of a heap model that a format cannot hold. */
#include "estimate.h"
#include "heap_raw_layout.h"
#include "memprof_version.h"
#include "pgokit/human.h"
#include "rekey.h"

#include <inttypes.h>
#include <stdio.h>

struct losses {
    const struct pgk_heap *h;
    enum pgk_heap_form form;
    bool full_schema;
    const struct pgk_raw_version *raw;         /* NULL for another form */
    const struct pgk_memprof_version *memprof; /* NULL for another form */
    pgk_heap_loss_fn *fn;
    void *ctx;
    int count;
};

static void say(struct losses *l, const char *sentence)
{
    l->count++;
    l->fn(l->ctx, sentence);
}

/* Fields that the target can hold. */
static uint64_t target_fields(const struct losses *l)
{
    uint64_t fields = 0;
    if (l->raw)
        return pgk_raw_mib(l->raw).known;
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
        if (pgk_mib_is_carried(id) && (l->form != PGK_HEAP_YAML || !pgk_mib_is_own(id)))
            fields |= UINT64_C(1) << id;
    return l->memprof ? fields & pgk_memprof_schema(l->memprof, l->h, l->full_schema) : fields;
}

static void name_fields(char *buf, size_t size, uint64_t fields)
{
    size_t n = 0;
    buf[0] = '\0';
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS && n < size; id++)
        if (fields >> id & 1)
            n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? ", " : "",
                                  pgk_mib_fields[id].name);
}

/* Fields that the block does not know, and that readers of the target do not take for 0. */
static uint64_t unknown_as_such(const struct losses *l, const struct pgk_mib *m, uint64_t held)
{
    uint64_t fields = l->memprof ? pgk_mib_unknown_by_signs(m->known, held) : 0;
    /* Nobody counted the objects of bytes that have none. */
    if (l->memprof && m->v[PGK_MIB_TotalSize])
        fields |= UINT64_C(1) << PGK_MIB_AllocCount;
    return l->raw || l->memprof ? fields : UINT64_MAX;
}

static void lose_fields(struct losses *l)
{
    const uint64_t density = UINT64_C(1) << PGK_MIB_TotalLifetimeAccessDensity,
                   cut_size = UINT64_C(1) << PGK_MIB_CutSize;
    uint64_t all = UINT64_MAX, held = target_fields(l);
    uint64_t cut = 0, zeroed = 0, lost = 0;
    char names[640], text[800];
    for (size_t i = 0; i < l->h->contexts.n; i++) {
        struct pgk_mib *m = PGK_MIB_SPACE;
        pgk_heap_mib(l->h, i, m);
        if (l->form != PGK_HEAP_PARTIAL)
            m->known = pgk_mib_known_without_samples(m);
        all &= m->known;
        /* Stacks are mostly whole, which is no loss to leave unsaid. */
        lost |= m->known & ~(m->v[PGK_MIB_CutSize] ? 0 : cut_size) &
                ~(l->memprof ? held & pgk_mib_known_by_signs(m->known) : held);
        zeroed |= held & ~m->known & ~unknown_as_such(l, m, held);
        for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
            cut += (m->known & held) >> id & 1 && m->v[id] != pgk_mib_file_value(m, id);
    }
    /* Without histograms their size is no loss of its own. */
    lost &= ~(UINT64_C(1) << PGK_MIB_AccessHistogramSize);
    if (lost) {
        name_fields(names, sizeof names, lost);
        snprintf(text, sizeof text, "the fields %s", names);
        say(l, text);
    }
    zeroed &= ~(UINT64_C(1) << PGK_MIB_AccessHistogramSize);
    if (zeroed) {
        name_fields(names, sizeof names, zeroed);
        snprintf(text, sizeof text,
                 "the mark that these fields are not known, which now read as 0: %s", names);
        say(l, text);
    }
    if (held & ~all & density && l->form == PGK_HEAP_INDEXED && l->h->contexts.n)
        say(l, "the mark that the density of accesses is not known: compilers see 0, and take what "
               "lives long for cold");
    if (cut) {
        snprintf(text, sizeof text, "%" PRIu64 " value%s too large for %s, written as 4294967295",
                 cut, pgk_plural(cut), cut == 1 ? "its field" : "their fields");
        say(l, text);
    }
}

static void lose_histograms(struct losses *l)
{
    uint64_t contexts = 0, elements = 0, rounded = 0;
    char text[160];
    for (size_t i = 0; i < l->h->contexts.n; i++) {
        const struct pgk_mib *m = pgk_heap_mib(l->h, i, PGK_MIB_SPACE);
        contexts += m->hist_count > 0;
        elements += m->hist_count;
        for (uint32_t k = 0; k < m->hist_count; k++)
            rounded += l->raw && pgk_raw_element_kept(l->raw->element, m->hist[k]) != m->hist[k];
    }
    bool holds = l->form == PGK_HEAP_PARTIAL || (l->raw && pgk_raw_element_size(l->raw->element));
    if (contexts && !holds) {
        snprintf(text, sizeof text, "the access histograms of %" PRIu64 " context%s (%" PRIu64
                 " element%s)", contexts, pgk_plural(contexts), elements, pgk_plural(elements));
        say(l, text);
    } else if (rounded) {
        snprintf(text, sizeof text, "the exact value of %" PRIu64 " element%s of histograms; 12 "
                 "bits of each are stored", rounded, pgk_plural(rounded));
        say(l, text);
    }
}

/* Callees of call sites, and a data access profile. */
static bool holds_extras(const struct losses *l)
{
    return l->memprof ? l->memprof->extras : !l->raw;
}

static void lose_callees(struct losses *l)
{
    size_t callees = pgk_heap_callees(l->h);
    char text[100];
    if (!callees || holds_extras(l))
        return;
    snprintf(text, sizeof text, "%zu target%s of indirect calls", callees, pgk_plural(callees));
    say(l, text);
}

static void lose_data_access(struct losses *l)
{
    const struct pgk_data_access *d = &l->h->data;
    char text[160];
    if (!pgk_data_access_any(d) || holds_extras(l))
        return;
    snprintf(text, sizeof text,
             "the data access profile: %zu symbols and literals, %zu known not to be accessed",
             d->entries.n, d->cold_symbols.n + d->cold_hashes.n);
    say(l, text);
}

static void lose_times(struct losses *l)
{
    const struct pgk_over_time *t = &l->h->over_time;
    char text[160];
    if (!t->processes || l->form == PGK_HEAP_PARTIAL)
        return;
    snprintf(text, sizeof text,
             "how the heap was over time: its peak, and %zu point%s of the curve", t->points.n,
             pgk_plural(t->points.n));
    say(l, text);
}

/* Where samples are lost, so are doubts. */
static void lose_doubts(struct losses *l)
{
    size_t contexts = 0;
    double bytes = 0;
    char text[200], size[PGK_HUMAN_SIZE];
    for (size_t i = 0; i < l->h->contexts.n && l->form != PGK_HEAP_PARTIAL; i++) {
        const struct pgk_mib *m = pgk_heap_mib(l->h, i, PGK_MIB_SPACE);
        if (!pgk_mib_is_levelled(m))
            continue;
        contexts++;
        bytes += (double)m->v[PGK_MIB_TotalSize];
    }
    if (!contexts)
        return;
    snprintf(text, sizeof text,
             "that %zu context%s, %s, may be cold or hot, which more samples would decide: written "
             "as neither", contexts, pgk_plural(contexts), pgk_human_bytes(size, bytes));
    say(l, text);
}

static void lose_modules(struct losses *l)
{
    size_t frames = 0;
    char text[160];
    if (!l->raw)
        return;
    bool by_file_off = !pgk_raw_has_build_ids(l->raw);
    for (size_t i = 0; i < l->h->frames.n; i++) {
        const struct pgk_frame *f = &l->h->frames.v[i];
        frames += f->kind == PGK_FRAME_ADDRESS && f->ref != PGK_INDEX_NONE &&
                  l->h->modules.v[f->ref].by_file_off != by_file_off;
    }
    if (frames) {
        snprintf(text, sizeof text, "the module of %zu address%s, whose binary was not given",
                 frames, frames == 1 ? "" : "es");
        say(l, text);
    }
}

/* Functions that LLVM's files cannot distinguish. */
static int lose_functions(struct losses *l, struct pgk_err *err)
{
    struct pgk_heap *plain = NULL;
    char text[160];
    size_t lines = 0;
    if (l->form == PGK_HEAP_RAW || l->form == PGK_HEAP_PARTIAL)
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
        snprintf(text, sizeof text,
                 "what distinguishes %zu function%s from others of the same name in "
                 "other files",
                 functions, pgk_plural(functions));
        say(l, text);
    }
    if (lines) {
        snprintf(text, sizeof text, "all but 16 bits of %zu line offset%s, more of which no "
                 "compiler matches", lines, pgk_plural(lines));
        say(l, text);
    }
    if (contexts) {
        snprintf(text, sizeof text,
                 "what distinguishes %zu context%s from others, to which %s added", contexts,
                 pgk_plural(contexts), contexts == 1 ? "it is" : "they are");
        say(l, text);
    }
    return 0;
}

int pgk_heap_losses(const struct pgk_heap *heap, const struct pgk_heap_target *target,
                    pgk_heap_loss_fn *fn, void *ctx, struct pgk_err *err)
{
    const bool is_raw = target->form == PGK_HEAP_RAW, is_indexed = target->form == PGK_HEAP_INDEXED;
    struct losses l = {
        .h = heap,
        .form = target->form,
        .full_schema = target->full_schema,
        .raw = is_raw ? pgk_raw_version(target->version) : NULL,
        .memprof = is_indexed ? pgk_memprof_version(target->version) : NULL,
        .fn = fn,
        .ctx = ctx,
    };
    if ((is_raw && !l.raw) || (is_indexed && !l.memprof))
        return pgk_fail(err, PGK_E_ARG, .format = is_raw ? "raw heap profile" : "indexed profile",
                        .field = is_raw ? "version" : "MemProf version",
                        .found = PGK_F("%u", target->version),
                        .expected = PGK_F("%d to %d", is_raw, is_raw ? PGK_RAW_NOW
                                                                      : PGK_MEMPROF_NOW),
                        .hint = is_raw ? "choose another --format-version"
                                       : "choose another --memprof-version");
    lose_fields(&l);
    lose_histograms(&l);
    lose_callees(&l);
    lose_data_access(&l);
    lose_times(&l);
    lose_doubts(&l);
    lose_modules(&l);
    PGK_TRY(lose_functions(&l, err));
    return l.count;
}
