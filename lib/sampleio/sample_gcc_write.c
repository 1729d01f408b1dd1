/* Writer of sample profiles for gcc's -fauto-profile. docs/formats/sample-gcc.md */
#include "sample_gcc.h"

#include "record_writer.h"
#include "sample_format.h"
#include "sample_lookup.h"
#include "sample_origin.h"

struct writer {
    struct pgk_record_writer w;
    enum pgk_gcc_layout layout;
    enum pgk_gcc_strings strings;
    size_t n;                   /* tops by heat that are written */
    PGK_VEC(uint32_t) files;    /* of the names that are used, each once */
    PGK_VEC(uint32_t) index_of; /* by file of the profile: where it is among these */
};

static void put_word(struct pgk_line *l, uint32_t v)
{
    pgk_line_bytes(l, &v, sizeof v);
}

static void put_dword(struct pgk_line *l, uint64_t v)
{
    pgk_line_bytes(l, &v, sizeof v);
}

/* GCC takes name 0 for none, so the table begins with an empty one. */
static uint32_t index_of(const struct pgk_record_writer *w, uint32_t name)
{
    return w->names.index_of.v[name] + 1;
}

static uint32_t pack_loc(uint64_t loc)
{
    return pgk_sample_line(loc) << 16 | (pgk_sample_discriminator(loc) & 0xffff);
}

static bool is_cut(uint64_t loc)
{
    return pack_loc(loc) << 16 >> 16 != pgk_sample_discriminator(loc);
}

static bool has_discriminator(uint64_t loc)
{
    return pgk_sample_discriminator(loc) != 0;
}

/* Places of the node and its inlinees. */
static size_t count_places(const struct pgk_sample *p, uint32_t node, bool (*is_such)(uint64_t loc))
{
    const struct pgk_sample_recs *recs = &p->nodes.v[node].recs;
    size_t n = 0;
    for (uint32_t i = 0; i < recs->n; i++)
        n += recs->v[i].what == PGK_REC_BODY && is_such(recs->v[i].loc);
    for (uint32_t c = pgk_sample_first(p, node); c; c = pgk_sample_next(p, c))
        n += is_such(p->nodes.v[c].loc) + count_places(p, c, is_such);
    return n;
}

/* Counts what the lines and totals of functions lose. */
static void note_lost(const struct pgk_sample *p, const struct pgk_gcc_compiler *compiler,
                      struct pgk_sample_written *left_out)
{
    bool by_line = compiler->lines == PGK_GCC_BY_LINE;
    size_t *discriminators =
        by_line ? &left_out->discriminators_dropped : &left_out->discriminators_cut;
    for (size_t i = 0; i < p->by_heat.n; i++) {
        uint32_t node = p->by_heat.v[i];
        *discriminators += count_places(p, node, by_line ? has_discriminator : is_cut);
        left_out->totals_dropped += p->nodes.v[node].total != pgk_sample_line_total(p, node);
    }
}

static uint32_t count_lines(const struct pgk_sample_recs *recs)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < recs->n; i++)
        n += recs->v[i].what == PGK_REC_BODY;
    return n;
}

static void put_instance(struct pgk_record_writer *w, uint32_t node)
{
    const struct pgk_sample_recs *recs = &w->p->nodes.v[node].recs;
    struct pgk_sample_place place;
    put_word(w->line, index_of(w, w->p->nodes.v[node].name));
    put_word(w->line, count_lines(recs));
    put_word(w->line, (uint32_t)pgk_count_inlinees(w->p, node));
    for (uint32_t i = 0; i < recs->n;) {
        i = pgk_order_place(&w->order, recs, i, &place);
        if (!place.has_body)
            continue;
        put_word(w->line, pack_loc(place.loc));
        put_word(w->line, (uint32_t)place.n_targets);
        put_dword(w->line, place.samples);
        for (size_t k = 0; k < place.n_targets; k++) {
            put_word(w->line, PGK_GCC_INDIRECT_CALLS);
            put_dword(w->line, index_of(w, pgk_rec_name(&place.targets[k])));
            put_dword(w->line, place.targets[k].count);
        }
    }
    for (uint32_t c = pgk_sample_first(w->p, node); c; c = pgk_sample_next(w->p, c)) {
        put_word(w->line, pack_loc(w->p->nodes.v[c].loc));
        put_instance(w, c);
    }
}

/* ---- names ---- */

/* With one NUL, or with as many as fill up a word, which the length then counts. */
static void put_string(const struct writer *w, const char *s, size_t len)
{
    static const char nuls[4];
    bool words = w->strings == PGK_GCC_WORDS;
    size_t n_nuls = words ? 4 - len % 4 : 1;
    put_word(w->w.line, (uint32_t)(len + n_nuls) / (words ? 4 : 1));
    pgk_line_bytes(w->w.line, s, len);
    pgk_line_bytes(w->w.line, nuls, n_nuls);
}

static uint32_t file_of(const struct writer *w, uint32_t name)
{
    uint32_t file = pgk_sample_origin(w->w.p, name).file;
    return file && file != PGK_SEVERAL_FILES ? w->index_of.v[file] : PGK_GCC_NO_FILE;
}

static bool list_files(struct writer *w)
{
    const struct pgk_sample *p = w->w.p;
    for (size_t i = 0; i < p->files.strs.n; i++)
        if (!pgk_vec_push(&w->index_of, PGK_GCC_NO_FILE))
            return false;
    for (size_t i = 0; i < w->w.names.ids.n; i++) {
        uint32_t file = pgk_sample_origin(p, w->w.names.ids.v[i]).file;
        if (!file || file == PGK_SEVERAL_FILES || w->index_of.v[file] != PGK_GCC_NO_FILE)
            continue;
        w->index_of.v[file] = (uint32_t)w->files.n;
        if (!pgk_vec_push(&w->files, file))
            return false;
    }
    return true;
}

static void put_files(struct writer *w)
{
    put_word(w->w.line, (uint32_t)w->files.n);
    for (size_t i = 0; i < w->files.n; i++) {
        const struct pgk_str *f = &w->w.p->files.strs.v[w->files.v[i]];
        put_string(w, f->s, f->len);
    }
}

static void put_names(struct writer *w)
{
    struct pgk_line *l = w->w.line;
    bool files = w->layout == PGK_GCC_SUMMARY;
    put_word(l, (uint32_t)PGK_GCC_TAG_NAMES);
    put_word(l, 0);
    if (files)
        put_files(w);
    put_word(l, (uint32_t)w->w.names.ids.n + 1);
    put_string(w, "", 0);
    if (files)
        put_word(l, PGK_GCC_NO_FILE);
    for (size_t i = 0; i < w->w.names.ids.n; i++) {
        uint32_t id = w->w.names.ids.v[i];
        put_string(w, w->w.p->names.list.v[id].s, w->w.p->names.list.v[id].len);
        if (files)
            put_word(l, file_of(w, id));
    }
}

/* ---- the file ---- */

static int put_summary(struct writer *w, struct pgk_err *err)
{
    struct pgk_sample_summary s;
    struct pgk_line *l = w->w.line;
    PGK_TRY(pgk_sample_summarise_hottest(w->w.p, w->n, &s, err));
    put_word(l, (uint32_t)PGK_GCC_TAG_SUMMARY);
    put_dword(l, s.total_count);
    put_dword(l, s.max_count);
    put_dword(l, s.max_function_count);
    put_dword(l, s.num_counts);
    put_dword(l, s.num_functions);
    put_dword(l, s.n_cutoffs);
    for (size_t i = 0; i < s.n_cutoffs; i++) {
        put_word(l, (uint32_t)s.cutoffs[i].ppm);
        put_dword(l, s.cutoffs[i].min_count);
        put_dword(l, s.cutoffs[i].num_counts);
    }
    return 0;
}

static void put_functions(struct writer *w, struct pgk_sink *out)
{
    const struct pgk_sample *p = w->w.p;
    struct pgk_line *l = w->w.line;
    put_word(l, (uint32_t)PGK_GCC_TAG_FUNCTIONS);
    put_word(l, 0);
    put_word(l, (uint32_t)w->n);
    for (size_t i = 0; i < w->n; i++) {
        const struct pgk_sample_node *f = &p->nodes.v[p->by_heat.v[i]];
        put_dword(l, f->head);
        if (w->layout == PGK_GCC_SUMMARY)
            put_dword(l, pgk_sample_origin(p, f->name).first_run);
        put_instance(&w->w, p->by_heat.v[i]);
        pgk_line_flush(l, out, PGK_LINE_FLUSH_BYTES);
    }
}

static int write_all(struct writer *w, uint32_t number, struct pgk_sink *out, struct pgk_err *err)
{
    struct pgk_line *l = w->w.line;
    if (!pgk_used_names(&w->w.names, w->w.p, w->n, false) || !list_files(w))
        return pgk_fail_nomem(err);
    pgk_line_bytes(l, PGK_SAMPLE_GCC_MAGIC, strlen(PGK_SAMPLE_GCC_MAGIC));
    put_word(l, number);
    put_word(l, 0);
    if (w->layout == PGK_GCC_SUMMARY)
        PGK_TRY(put_summary(w, err));
    put_names(w);
    put_functions(w, out);
    /* An empty list of modules, which GCC wants to see. */
    put_word(l, (uint32_t)PGK_GCC_TAG_MODULES);
    put_word(l, 0);
    put_word(l, 0);
    pgk_line_flush(l, out, 1);
    return l->failed || w->w.order.failed ? pgk_fail_nomem(err) : 0;
}

int pgk_sample_gcc_write(const struct pgk_sample *p, size_t n,
                         const struct pgk_gcc_compiler *compiler, struct pgk_sink *out,
                         struct pgk_err *err)
{
    struct pgk_line line = {0};
    struct writer w = {.w = {.p = p, .line = &line, .order = {.p = p}},
                       .layout = compiler->profile->layout,
                       .strings = compiler->profile->strings,
                       .n = n};
    int status = write_all(&w, compiler->profile->number, out, err);
    pgk_line_free(&line);
    pgk_used_names_free(&w.w.names);
    pgk_order_free(&w.w.order);
    pgk_vec_free(&w.files);
    pgk_vec_free(&w.index_of);
    return status;
}

/* ---- among the formats ---- */

static int find_compiler(const struct pgk_sample_write_opts *opts,
                         struct pgk_gcc_compiler *compiler, struct pgk_err *err)
{
    unsigned release = opts->gcc_release ? opts->gcc_release : PGK_GCC_DEFAULT;
    if (pgk_gcc_compiler(release, compiler))
        return 0;
    return pgk_fail(err, PGK_E_ARG, .field = "gcc_release", .found = PGK_F("%u", release),
                    .expected = PGK_F("%d to %d", PGK_GCC_OLDEST, PGK_GCC_NEWEST),
                    .hint = "see pgokit formats");
}

int pgk_sample_gcc_adapt(struct pgk_sample **adapted, const struct pgk_sample *p,
                         const struct pgk_sample_write_opts *opts,
                         struct pgk_sample_written *left_out, struct pgk_err *err)
{
    struct pgk_gcc_compiler compiler;
    struct pgk_gcc_changes changes = {0};
    PGK_TRY(find_compiler(opts, &compiler, err));
    PGK_TRY(pgk_gcc_adapt(adapted, p, &compiler, &changes, err));
    if (!left_out)
        return 0;
    note_lost(p, &compiler, left_out);
    left_out->contexts_dropped = changes.contexts ? p->by_heat.n : 0;
    left_out->lines_merged = changes.lines_merged;
    left_out->clones_joined = changes.clones_joined;
    left_out->heads_raised = changes.heads_raised;
    if (compiler.profile->layout != PGK_GCC_SUMMARY)
        left_out->origins_dropped = pgk_sample_count_origins(p, p->by_heat.n);
    return 0;
}

int pgk_sample_gcc_write_for(const struct pgk_sample *p, size_t n,
                             const struct pgk_sample_write_opts *opts, struct pgk_sink *out,
                             struct pgk_err *err)
{
    struct pgk_gcc_compiler compiler;
    PGK_TRY(find_compiler(opts, &compiler, err));
    return pgk_sample_gcc_write(p, n, &compiler, out, err);
}
