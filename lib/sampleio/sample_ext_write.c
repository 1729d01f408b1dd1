/* Writing sample profiles in LLVM's extensible binary. */
#include "sample_binary.h"

#include "hash.h"
#include "indexed_names.h"
#include "keyed_sort.h"
#include "record_writer.h"
#include "sample_format.h"

#include <stdlib.h>
#include <zlib.h>

/* LLVM's readers go by the section table, whose order is not that of the file: what is read
 * first may be known last. Here they are in the order of the file, with their slot. */
struct plan {
    uint8_t slot;
    uint8_t type;
    bool flat; /* of a split layout: functions without inlinees */
};
static const struct plan plain_layout[] = {
    {0, PGK_SEC_SUMMARY, false}, {1, PGK_SEC_NAMES, false},   {2, PGK_SEC_CONTEXTS, false},
    {4, PGK_SEC_PROFILES, false}, {5, PGK_SEC_SYMBOLS, false}, {3, PGK_SEC_OFFSETS, false},
    {6, PGK_SEC_METADATA, false},
};
static const struct plan split_layout[] = {
    {0, PGK_SEC_SUMMARY, false}, {1, PGK_SEC_NAMES, false},   {3, PGK_SEC_PROFILES, false},
    {2, PGK_SEC_OFFSETS, false}, {5, PGK_SEC_PROFILES, true}, {4, PGK_SEC_OFFSETS, true},
    {6, PGK_SEC_SYMBOLS, false}, {7, PGK_SEC_METADATA, false},
};
enum { TABLE_ENTRY_BYTES = 32 };

struct writer {
    const struct pgk_sample *p;
    size_t n; /* tops to write, by heat */
    const struct pgk_sample_write_opts *opts;
    struct pgk_sink *out;
    struct pgk_line line; /* the section under construction */
    struct pgk_record_writer records;
    bool md5, indexed;
    struct pgk_indexed_names spans; /* of an indexed file */
    bool attributes;      /* functions have metadata with attributes */
    PGK_VEC(uint32_t) contexts;    /* tops to write, by identity */
    PGK_VEC(uint32_t) context_of;  /* by node: position there */
    struct start { uint32_t top; uint64_t off; } *starts; /* of the profiles written last */
    size_t n_starts;
    uint64_t table_off;
};

/* ---- sections ---- */

static void put_names(struct writer *w)
{
    if (w->indexed) {
        for (unsigned i = 0; i < PGK_SPANS; i++)
            pgk_line_uleb(&w->line, w->spans.span[i]);
        pgk_line_bytes(&w->line, w->spans.guids.v, w->spans.guids.n * sizeof(uint64_t));
        return;
    }
    if (!w->md5) {
        pgk_put_string_names(&w->records, w->opts->compress ? NULL : w->out);
        return;
    }
    const struct pgk_used_names *names = &w->records.names;
    pgk_line_uleb(&w->line, names->ids.n);
    for (size_t i = 0; i < names->ids.n; i++) {
        uint64_t guid = pgk_name_guid(&w->p->names.list.v[names->ids.v[i]]);
        pgk_line_bytes(&w->line, &guid, sizeof guid);
    }
}

static bool any_unique_suffix(const struct writer *w)
{
    for (size_t i = 0; i < w->records.names.ids.n; i++) {
        const struct pgk_sample_name *name = &w->p->names.list.v[w->records.names.ids.v[i]];
        if (name->s && memchr(name->s, '.', name->len) && strstr(name->s, ".__uniq."))
            return true;
    }
    return false;
}

static void put_identity(struct writer *w, uint32_t top)
{
    if (w->p->kind.contexts)
        pgk_line_uleb(&w->line, w->context_of.v[top]);
    else
        pgk_put_name_index(&w->records, w->p->nodes.v[top].name);
}

static void put_frames(struct writer *w, uint32_t node, unsigned n_frames, uint64_t loc)
{
    const struct pgk_sample_node *n = &w->p->nodes.v[node];
    if (n->parent)
        put_frames(w, n->parent, n_frames + 1, n->loc);
    else
        pgk_line_uleb(&w->line, n_frames + 1);
    pgk_put_name_index(&w->records, n->name);
    pgk_put_loc(&w->line, loc);
}

static void put_contexts(struct writer *w)
{
    pgk_line_uleb(&w->line, w->contexts.n);
    for (size_t i = 0; i < w->contexts.n; i++)
        put_frames(w, w->contexts.v[i], 0, 0);
}

static bool belongs(const struct writer *w, uint32_t top, bool flat)
{
    return !w->opts->split_layout || flat == !w->p->nodes.v[top].first_child;
}

static void put_profiles(struct writer *w, bool flat)
{
    uint64_t handed_over = 0;
    w->n_starts = 0;
    for (size_t i = 0; i < w->n; i++) {
        uint32_t top = w->p->by_heat.v[i];
        pgk_sample_prefetch_behind(w->p, i, w->n);
        if (!belongs(w, top, flat))
            continue;
        w->starts[w->n_starts++] = (struct start){.top = top,
                                                  .off = handed_over + w->line.bytes.n};
        if (!w->opts->composite)
            pgk_line_uleb(&w->line, w->p->nodes.v[top].head);
        put_identity(w, top);
        pgk_put_record(&w->records, top);
        if (!w->opts->compress && w->line.bytes.n >= PGK_LINE_FLUSH_BYTES) {
            handed_over += w->line.bytes.n;
            pgk_line_flush(&w->line, w->out, 1);
        }
    }
}

static int by_context(const void *pa, const void *pb, void *context_of)
{
    const uint32_t *order = context_of;
    uint32_t a = order[((const struct start *)pa)->top], b = order[((const struct start *)pb)->top];
    return a < b ? -1 : a > b;
}

/* An offset of 32 bits for each function of the half, where its name stands in the span. */
static int put_indexed_offsets(struct writer *w, bool flat, struct pgk_err *err)
{
    size_t base = flat ? w->spans.span[PGK_SPAN_TOP] : 0;
    size_t n = w->spans.span[flat ? PGK_SPAN_FLAT : PGK_SPAN_TOP];
    uint8_t *to = pgk_line_reserve(&w->line, n * sizeof(uint32_t));
    if (!to)
        return 0; /* the line knows */
    if (n)
        memset(to, 0xff, n * sizeof(uint32_t));
    for (size_t i = 0; i < w->n_starts; i++) {
        const struct start *start = &w->starts[i];
        size_t at = w->records.names.index_of.v[w->p->nodes.v[start->top].name] - base;
        uint32_t off = (uint32_t)start->off;
        if (start->off >= PGK_NO_RECORD)
            return pgk_fail(err, PGK_E_LIMIT, .format = "extensible binary",
                            .found = "more than 4 GiB of profiles",
                            .expected = "offsets of 32 bits, as indexed tables have them",
                            .hint = "write the profile without --indexed-tables");
        if (at < n)
            memcpy(to + at * sizeof off, &off, sizeof off);
    }
    w->line.bytes.n += n * sizeof(uint32_t);
    return 0;
}

static void put_offsets(struct writer *w)
{
    if (w->p->kind.contexts)
        qsort_r(w->starts, w->n_starts, sizeof *w->starts, by_context, w->context_of.v);
    pgk_line_uleb(&w->line, w->n_starts);
    for (size_t i = 0; i < w->n_starts; i++) {
        put_identity(w, w->starts[i].top);
        pgk_line_uleb(&w->line, w->starts[i].off);
    }
}

static int compare_strings(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* A symbol that is known by its GUID alone stands for it in decimal. */
static bool is_unspelled(const struct pgk_intern *symbols, size_t i, uint64_t *guid)
{
    return pgk_sample_name_is_guid(symbols->strs.v[i].s, symbols->strs.v[i].len, guid);
}

static bool put_symbol_guids(struct writer *w)
{
    const struct pgk_intern *symbols = w->p->symbols;
    size_t n = symbols->strs.n - 1, distinct = 0;
    struct pgk_keyed *v = pgk_mem_alloc(n, sizeof *v);
    uint64_t *rising = pgk_mem_alloc(n, sizeof *rising);
    for (size_t i = 0; v && rising && i < n; i++) {
        v[i].value = 0;
        if (!is_unspelled(symbols, i + 1, &v[i].key))
            v[i].key = pgk_md5_low64(symbols->strs.v[i + 1].s, symbols->strs.v[i + 1].len);
    }
    bool ok = v && rising && pgk_keyed_sort(v, n);
    for (size_t i = 0; ok && i < n; i++)
        if (!i || v[i].key != v[i - 1].key)
            rising[distinct++] = v[i].key;
    uint8_t *to = ok ? pgk_line_reserve(&w->line, distinct * sizeof *rising) : NULL;
    if (to) {
        pgk_eytzinger_put((uint64_t *)(void *)to, rising, distinct);
        w->line.bytes.n += distinct * sizeof *rising;
    }
    pgk_mem_free(v);
    pgk_mem_free(rising);
    return to != NULL;
}

static bool put_symbols(struct writer *w)
{
    const struct pgk_intern *symbols = w->p->symbols;
    uint64_t guid;
    if (w->opts->drop_symbols || !symbols || symbols->strs.n < 2)
        return true;
    if (w->opts->symbol_guids)
        return put_symbol_guids(w);
    size_t n = 0;
    const char **sorted = pgk_mem_alloc(symbols->strs.n - 1, sizeof *sorted);
    if (!sorted)
        return false;
    for (size_t i = 1; i < symbols->strs.n; i++)
        if (!is_unspelled(symbols, i, &guid))
            sorted[n++] = symbols->strs.v[i].s;
    qsort(sorted, n, sizeof *sorted, compare_strings);
    for (size_t i = 0; i < n; i++)
        pgk_line_bytes(&w->line, sorted[i], strlen(sorted[i]) + 1);
    pgk_mem_free(sorted);
    return true;
}

static void put_metadata_of(struct writer *w, uint32_t node)
{
    const struct pgk_sample_node *n = &w->p->nodes.v[node];
    if (w->p->kind.probes)
        pgk_line_uleb(&w->line, n->checksum);
    if (w->attributes)
        pgk_line_uleb(&w->line, n->attributes);
    if (w->p->kind.contexts)
        return;
    pgk_line_uleb(&w->line, pgk_count_inlinees(w->p, node));
    for (uint32_t c = pgk_sample_first(w->p, node); c; c = pgk_sample_next(w->p, c)) {
        pgk_put_loc(&w->line, w->p->nodes.v[c].loc);
        pgk_put_name_index(&w->records, w->p->nodes.v[c].name);
        put_metadata_of(w, c);
    }
}

static void put_metadata(struct writer *w)
{
    if (!w->p->kind.probes && !w->attributes)
        return;
    for (size_t i = 0; i < w->n; i++) {
        put_identity(w, w->p->by_heat.v[i]);
        put_metadata_of(w, w->p->by_heat.v[i]);
    }
}

static int put_section(struct writer *w, const struct plan *plan, struct pgk_err *err)
{
    switch (plan->type) {
    case PGK_SEC_SUMMARY:
        return pgk_put_summary(&w->records, w->n, err);
    case PGK_SEC_NAMES:
        put_names(w);
        break;
    case PGK_SEC_CONTEXTS:
        put_contexts(w);
        break;
    case PGK_SEC_PROFILES:
        put_profiles(w, plan->flat);
        break;
    case PGK_SEC_OFFSETS:
        if (w->indexed)
            return put_indexed_offsets(w, plan->flat, err);
        put_offsets(w);
        break;
    case PGK_SEC_SYMBOLS:
        w->line.failed |= !put_symbols(w);
        break;
    case PGK_SEC_METADATA:
        put_metadata(w);
        break;
    }
    return 0;
}

static uint64_t section_flags(const struct writer *w, const struct plan *plan)
{
    uint64_t flags = (w->opts->compress ? PGK_SECF_COMPRESSED : 0) |
                     (plan->flat ? PGK_SECF_FLAT : 0);
    switch (plan->type) {
    case PGK_SEC_SUMMARY:
        return flags | (w->opts->partial ? PGK_SECF_SUMMARY_PARTIAL : 0) |
               (w->p->kind.contexts ? PGK_SECF_SUMMARY_CONTEXTS : 0) |
               (w->p->fs ? PGK_SECF_SUMMARY_FS : 0) |
               (w->p->preinlined ? PGK_SECF_SUMMARY_PREINLINED : 0) |
               (w->opts->vtables ? PGK_SECF_SUMMARY_VTABLES : 0);
    case PGK_SEC_NAMES:
        flags |= w->indexed ? PGK_SECF_NAMES_INDEXED : 0;
        if (w->md5)
            return flags | PGK_SECF_NAMES_MD5 | PGK_SECF_NAMES_FIXED;
        return flags | (any_unique_suffix(w) ? PGK_SECF_NAMES_UNIQ : 0);
    case PGK_SEC_OFFSETS:
        return flags | (w->indexed ? PGK_SECF_OFFSETS_INDEXED : 0) |
               (w->p->kind.contexts ? PGK_SECF_OFFSETS_ORDERED : 0);
    case PGK_SEC_SYMBOLS:
        return flags | (w->opts->symbol_guids ? PGK_SECF_SYMBOLS_GUIDS : 0);
    case PGK_SEC_METADATA:
        return flags | (w->p->kind.probes ? PGK_SECF_METADATA_CHECKSUMS : 0) |
               (w->attributes ? PGK_SECF_METADATA_ATTRIBUTES : 0);
    }
    return flags;
}

/* ---- the file ---- */

static int write_packed(struct writer *w, struct pgk_err *err)
{
    uLong plain = w->line.bytes.n;
    uLongf packed = compressBound(plain);
    uint8_t *bytes = pgk_mem_alloc(packed, 1);
    if (!bytes || compress2(bytes, &packed, w->line.bytes.v, plain, Z_BEST_COMPRESSION) != Z_OK) {
        pgk_mem_free(bytes);
        return pgk_fail_nomem(err);
    }
    pgk_sink_uleb(w->out, plain);
    pgk_sink_uleb(w->out, packed);
    pgk_sink_bytes(w->out, bytes, packed);
    pgk_mem_free(bytes);
    return 0;
}

static uint64_t section_type(const struct writer *w, const struct plan *plan)
{
    if (w->opts->composite && plan->type == PGK_SEC_PROFILES)
        return PGK_SEC_COMPOSITE;
    return w->opts->composite && plan->type == PGK_SEC_OFFSETS ? PGK_SEC_COMPOSITE_OFFSETS
                                                               : plan->type;
}

static int write_section(struct writer *w, const struct plan *plan, struct pgk_err *err)
{
    uint64_t off = pgk_sink_off(w->out);
    w->line.bytes.n = 0;
    PGK_TRY(put_section(w, plan, err));
    if (w->line.failed || w->records.order.failed)
        return pgk_fail_nomem(err);
    if (w->opts->compress && w->line.bytes.n)
        PGK_TRY(write_packed(w, err));
    else
        pgk_sink_bytes(w->out, w->line.bytes.v, w->line.bytes.n);
    const uint64_t entry[] = {section_type(w, plan), section_flags(w, plan), off,
                              pgk_sink_off(w->out) - off};
    for (unsigned i = 0; i < 4; i++)
        pgk_sink_patch_u64(w->out,
                           w->table_off + plan->slot * (uint64_t)TABLE_ENTRY_BYTES + 8 * i,
                           entry[i]);
    return 0;
}

static bool any_attributes(const struct pgk_sample *p, uint32_t node)
{
    if (p->nodes.v[node].attributes)
        return true;
    for (uint32_t c = pgk_sample_first(p, node); c; c = pgk_sample_next(p, c))
        if (any_attributes(p, c))
            return true;
    return false;
}

static bool prepare(struct writer *w)
{
    const struct pgk_sample *p = w->p;
    w->indexed = w->opts->indexed && !p->kind.contexts;
    w->md5 = w->opts->md5 || w->indexed || pgk_sample_names_unspelled(&p->names);
    w->attributes = p->kind.contexts || p->preinlined;
    const uint32_t *tops = pgk_sample_hottest(p, w->n);
    for (size_t i = 0; i < w->n && !w->attributes; i++)
        w->attributes = any_attributes(p, tops[i]);
    w->starts = pgk_mem_alloc(w->n + 1, sizeof *w->starts);
    if (!w->starts || !pgk_used_names(&w->records.names, p, w->n, w->opts->vtables))
        return false;
    if (w->indexed &&
        !pgk_index_names(&w->spans, &w->records.names, p, w->n, w->opts->split_layout))
        return false;
    if (!p->kind.contexts)
        return true;
    if (!pgk_vec_reserve(&w->contexts, w->n + 1) || !pgk_vec_reserve(&w->context_of, p->nodes.n))
        return false;
    memset(w->context_of.v, 0, p->nodes.n * sizeof *w->context_of.v);
    for (size_t i = 0; i < w->n; i++)
        w->context_of.v[p->by_heat.v[i]] = 1;
    for (size_t i = 0; i < p->by_identity.n; i++) {
        uint32_t top = p->by_identity.v[i];
        if (w->context_of.v[top]) {
            w->context_of.v[top] = (uint32_t)w->contexts.n;
            w->contexts.v[w->contexts.n++] = top;
        }
    }
    return true;
}

static uint32_t version_of(const struct pgk_sample_write_opts *opts)
{
    if (opts->version)
        return opts->version;
    return opts->composite ? PGK_SAMPLE_COMPOSITE : PGK_SAMPLE_VERSION;
}

static int check_version(const struct pgk_sample_write_opts *opts, struct pgk_err *err)
{
    if (!opts->composite || version_of(opts) >= PGK_SAMPLE_COMPOSITE)
        return 0;
    return pgk_fail(err, PGK_E_ARG, .format = "extensible binary",
                    .found = PGK_F("composite profiles in version %u", opts->version),
                    .expected = PGK_F("version %d", PGK_SAMPLE_COMPOSITE),
                    .hint = "leave the version out, or the request for composite profiles");
}

static int write_all(struct writer *w, struct pgk_err *err)
{
    bool split = w->opts->split_layout;
    const struct plan *plan = split ? split_layout : plain_layout;
    size_t n = split ? PGK_COUNTOF(split_layout) : PGK_COUNTOF(plain_layout);
    if (!prepare(w))
        return pgk_fail_nomem(err);
    pgk_sink_uleb(w->out, PGK_SAMPLE_MAGIC_EXT);
    pgk_sink_uleb(w->out, version_of(w->opts));
    pgk_sink_u64(w->out, n);
    w->table_off = pgk_sink_off(w->out);
    pgk_sink_zeros(w->out, n * TABLE_ENTRY_BYTES);
    for (size_t i = 0; i < n; i++)
        PGK_TRY(write_section(w, &plan[i], err));
    return 0;
}

int pgk_sample_ext_write(const struct pgk_sample *p, size_t n,
                         const struct pgk_sample_write_opts *opts, struct pgk_sink *out,
                         struct pgk_err *err)
{
    struct pgk_sample_write_opts given = *opts;
    /* Earlier releases could not read the file for a part that is empty in each record. */
    given.vtables = opts->vtables && pgk_sample_any_vtables(p);
    opts = &given;
    if (opts->split_layout && p->kind.contexts)
        return pgk_fail(err, PGK_E_ARG, .format = "extensible binary",
                        .found = "a split layout of a context-sensitive profile",
                        .expected = "a profile without contexts",
                        .hint = "the split layout has no place for contexts: no tool, LLVM's own "
                                "included, could read the file");
    PGK_TRY(check_version(opts, err));
    struct writer w = {.p = p, .n = n, .opts = opts, .out = out};
    w.records = (struct pgk_record_writer){.p = p,
                                           .line = &w.line,
                                           .order = {.p = p},
                                           .vtables = opts->vtables,
                                           .composite = opts->composite};
    int status = write_all(&w, err);
    pgk_line_free(&w.line);
    pgk_used_names_free(&w.records.names);
    pgk_indexed_names_free(&w.spans);
    pgk_order_free(&w.records.order);
    pgk_vec_free(&w.contexts);
    pgk_vec_free(&w.context_of);
    pgk_mem_free(w.starts);
    return status;
}
