/* Names of a profile: canonical ones, others by a file, spellings for GUIDs; and filters. */
#include "sample_layout.h"

#include "binary_set.h"
#include "cursor.h"
#include "hash.h"
#include "pattern.h"
#include "sample_spelling.h"
#include "text_lines.h"

static int add_symbol(void *profile, const char *line, size_t len, uint64_t number,
                      struct pgk_err *err)
{
    (void)number;
    return pgk_sample_add_symbol(profile, line, len) ? 0 : pgk_fail_nomem(err);
}

int pgk_sample_add_symbols(struct pgk_sample *p, const char *path, struct pgk_err *err)
{
    p->has_symbols = true;
    return pgk_text_lines(path, add_symbol, p, err);
}

/* ---- spellings for GUIDs ---- */

static int spell(void *profile, const char *line, size_t len, uint64_t number,
                 struct pgk_err *err)
{
    struct pgk_sample *p = profile;
    (void)number;
    return pgk_sample_names_spell(&p->names, line, len) ? 0 : pgk_fail_nomem(err);
}

int pgk_sample_name_from_file(struct pgk_sample *p, const char *path, struct pgk_err *err)
{
    p->finished = false;
    return pgk_text_lines(path, spell, p, err);
}

struct speller {
    struct pgk_sample *p;
    struct pgk_err *err;
};

static int spell_function(void *ctx, const struct pgk_sym_function *f)
{
    struct speller *s = ctx;
    return spell(s->p, f->name, strlen(f->name), 0, s->err);
}

/* Descriptors of pseudo probes name static functions by the unique names that profiles have. A
 * damaged section is left where it gets wrong: others know how to complain of it. */
static int spell_probes(struct speller *s, const struct pgk_elf *elf)
{
    const uint8_t *bytes;
    size_t size;
    for (size_t nth = 0; (bytes = pgk_elf_section_nth(elf, ".pseudo_probe_desc", nth, &size));
         nth++) {
        struct pgk_cursor c;
        pgk_cur_init(&c, bytes, size, &(struct pgk_source){.file = pgk_elf_path(elf)});
        while (pgk_cur_left(&c)) {
            pgk_cur_u64(&c, "GUID");
            pgk_cur_u64(&c, "hash");
            uint64_t len = pgk_cur_uleb(&c, "name length");
            const char *name = (const char *)pgk_cur_take(&c, len, "name");
            if (c.failed || !len)
                break;
            PGK_TRY(spell(s->p, name, len, 0, s->err));
        }
    }
    return 0;
}

/* Functions that were inlined everywhere are known to the debug information only, vtables to
 * the symbol table only. */
static int spell_binary(struct speller *s, struct pgk_binaries *binaries, uint32_t pos,
                        struct pgk_err *err)
{
    const struct pgk_elf_sym *syms;
    struct pgk_symboliser *sym;
    size_t n;
    PGK_TRY(pgk_elf_symbols(pgk_binaries_elf(binaries, pos), &syms, &n, err));
    for (size_t i = 0; i < n; i++)
        PGK_TRY(spell(s->p, syms[i].name, strlen(syms[i].name), 0, err));
    PGK_TRY(spell_probes(s, pgk_binaries_elf(binaries, pos)));
    int status = pgk_binaries_symboliser(binaries, pos, &sym, err);
    if (status == PGK_E_NODEBUG)
        return 0;
    return status ? status : pgk_symboliser_functions(sym, spell_function, s, err);
}

int pgk_sample_name_from_binaries(struct pgk_sample *p, struct pgk_binaries *binaries,
                                  struct pgk_err *err)
{
    struct speller s = {.p = p, .err = err};
    p->finished = false;
    for (uint32_t pos = 0; pos < pgk_binaries_count(binaries); pos++)
        PGK_TRY(spell_binary(&s, binaries, pos, err));
    return 0;
}

static bool spell_by(struct pgk_sample *p, const struct pgk_sample *other)
{
    bool ok = true;
    if (!pgk_sample_names_unspelled(&p->names))
        return true;
    p->finished = false;
    for (uint32_t id = 1; id < other->names.list.n && ok; id++) {
        const struct pgk_sample_name *name = &other->names.list.v[id];
        ok = !name->s || pgk_sample_names_spell(&p->names, name->s, name->len);
    }
    return ok;
}

int pgk_sample_exchange_names(struct pgk_sample *a, struct pgk_sample *b, struct pgk_err *err)
{
    return spell_by(a, b) && spell_by(b, a) ? 0 : pgk_fail_nomem(err);
}

/* ---- canonical names ---- */

static uint32_t canonical_name(void *ctx, struct pgk_sample *into,
                               const struct pgk_sample_name *name)
{
    enum pgk_sample_suffixes suffixes = *(const enum pgk_sample_suffixes *)ctx;
    if (!name->s)
        return pgk_sample_name_guid(into, name->guid);
    const char *dot = memchr(name->s, '.', name->len);
    size_t len = name->len;
    if (dot && dot > name->s)
        len = suffixes == PGK_SAMPLE_SUFFIXES_ALL   ? (size_t)(dot - name->s)
              : suffixes == PGK_SAMPLE_SUFFIXES_GCC ? pgk_sample_drop_gcc_suffixes(name->s, len)
                                                    : pgk_sample_drop_suffixes(name->s, len);
    return pgk_sample_name(into, name->s, len ? len : name->len);
}

/* A copy whose names go through `fn`, if it is given, and whose places lose bits. */
struct renaming {
    pgk_rename_fn *fn;
    void *ctx;
    uint32_t discriminator_mask;
};

static int make_renamed(void *ctx, struct pgk_sample *into, const struct pgk_sample *from,
                        struct pgk_err *err)
{
    const struct renaming *r = ctx;
    struct pgk_sample_merger m;
    PGK_TRY(pgk_sample_set_kind(into, from->kind.contexts, from->kind.probes, NULL, err));
    int status = pgk_merger_open(&m, into, from, err);
    m.rename = r->fn;
    m.rename_ctx = r->ctx;
    m.discriminator_mask = r->discriminator_mask;
    if (!status)
        status = pgk_merger_add_all(&m, 1, err);
    pgk_merger_close(&m);
    return status;
}

int pgk_sample_canonicalise(struct pgk_sample **profile, enum pgk_sample_suffixes suffixes,
                            struct pgk_err *err)
{
    struct renaming r = {canonical_name, &suffixes, UINT32_MAX};
    return pgk_sample_replace(profile, make_renamed, &r, err);
}

/* ---- flow-sensitive discriminators ---- */

void pgk_sample_pass_sections(struct pgk_sample *p)
{
    p->passes_sections = true;
}

void pgk_sample_mark_flow(struct pgk_sample *p)
{
    p->fs = true;
}

int pgk_sample_reduce_flow(struct pgk_sample **profile, enum pgk_sample_flow_pass pass,
                           struct pgk_err *err)
{
    static const uint32_t masks[] = {
        [PGK_SAMPLE_FLOW_BASE] = 0xff, [PGK_SAMPLE_FLOW_PASS1] = 0x3fff,
        [PGK_SAMPLE_FLOW_PASS2] = 0xfffff, [PGK_SAMPLE_FLOW_PASS3] = 0x3ffffff};
    if (!(*profile)->fs)
        return pgk_fail(err, PGK_E_ARG, .found = "a profile without flow-sensitive discriminators",
                        .expected = "one that is marked as having them",
                        .hint = "if it has them, say so with --fs");
    struct renaming r = {NULL, NULL, masks[pass]};
    return pgk_sample_replace(profile, make_renamed, &r, err);
}

/* ---- names by a file ---- */

struct pairs {
    struct pgk_sample_names names;  /* old ones */
    PGK_VEC(uint32_t) new_of;       /* by old one: its new one, among the same names */
};

static int add_pair(void *ctx, const char *old, size_t n_old, const char *new, size_t n_new,
                    struct pgk_err *err)
{
    struct pairs *p = ctx;
    uint32_t old_id = pgk_sample_names_add(&p->names, old, n_old);
    uint32_t new_id = pgk_sample_names_add(&p->names, new, n_new);
    size_t more = p->names.list.n - p->new_of.n;
    if (!old_id || !new_id || !pgk_vec_reserve(&p->new_of, more))
        return pgk_fail_nomem(err);
    memset(p->new_of.v + p->new_of.n, 0, more * sizeof *p->new_of.v);
    p->new_of.n += more;
    p->new_of.v[old_id] = new_id;
    return 0;
}

static const struct pgk_sample_name *new_name(struct pairs *p, const struct pgk_sample_name *name)
{
    uint32_t id = 0;
    if (name->s)
        id = pgk_sample_names_find(&p->names, name->s, name->len);
    else
        for (uint32_t i = 1; i < p->names.list.n && !id; i++) /* rare: GUIDs and no spelling */
            id = pgk_sample_names_guid(&p->names, i) == name->guid ? i : 0;
    return id && p->new_of.v[id] ? &p->names.list.v[p->new_of.v[id]] : name;
}

static uint32_t remapped_name(void *ctx, struct pgk_sample *into,
                              const struct pgk_sample_name *name)
{
    const struct pgk_sample_name *new = new_name(ctx, name);
    return new->s ? pgk_sample_name(into, new->s, new->len)
                  : pgk_sample_name_guid(into, new->guid);
}

static int remap_symbols(struct pairs *pairs, struct pgk_sample *p, struct pgk_err *err)
{
    struct pgk_intern *old = p->symbols;
    if (!old)
        return 0;
    p->symbols = NULL;
    int status = 0;
    for (size_t i = 1; i < old->strs.n && !status; i++) {
        struct pgk_sample_name symbol = {.s = old->strs.v[i].s, .len = old->strs.v[i].len};
        const struct pgk_sample_name *new = new_name(pairs, &symbol);
        if (!pgk_sample_add_symbol(p, new->s ? new->s : symbol.s, new->s ? new->len : symbol.len))
            status = pgk_fail_nomem(err);
    }
    pgk_intern_free(old);
    pgk_mem_free(old);
    return status;
}

int pgk_sample_remap(struct pgk_sample **profile, const char *path, struct pgk_err *err)
{
    struct pairs pairs = {0};
    struct renaming r = {remapped_name, &pairs, UINT32_MAX};
    int status = pgk_text_pairs(path, add_pair, &pairs, err);
    if (!status)
        status = pgk_sample_replace(profile, make_renamed, &r, err);
    if (!status)
        status = remap_symbols(&pairs, *profile, err);
    pgk_sample_names_free(&pairs.names);
    pgk_vec_free(&pairs.new_of);
    return status;
}

/* ---- filters ---- */

struct pattern {
    struct pgk_pattern regex;
    uint64_t guid; /* of the pattern as a name */
};

static int compile(struct pattern *p, const char *text, struct pgk_err *err)
{
    PGK_TRY(pgk_pattern_compile(&p->regex, text, err));
    p->guid = text ? pgk_md5_low64(text, strlen(text)) : 0;
    return 0;
}

static bool matches(const struct pattern *p, const char *identity,
                    const struct pgk_sample_name *name)
{
    bool is_guid = p->regex.given && !name->s && name->guid == p->guid;
    return is_guid || pgk_pattern_matches(&p->regex, identity);
}

static int filter(struct pgk_sample *p, const struct pattern *keep, const struct pattern *drop,
                  struct pgk_err *err)
{
    struct pgk_line line = {0};
    for (uint32_t id = 1; id < p->nodes.n && !line.failed; id++) {
        if (!pgk_sample_is_top(p, id))
            continue;
        const struct pgk_sample_name *name = &p->names.list.v[p->nodes.v[id].name];
        line.bytes.n = 0;
        pgk_sample_put_identity(p, id, &line);
        pgk_line_byte(&line, '\0');
        const char *identity = (const char *)line.bytes.v;
        if (!line.failed && ((keep->regex.given && !matches(keep, identity, name)) ||
                             matches(drop, identity, name)))
            p->nodes.v[id].flags &= ~(uint32_t)PGK_NODE_TOP;
    }
    bool failed = line.failed;
    pgk_line_free(&line);
    p->finished = false;
    return failed ? pgk_fail_nomem(err) : 0;
}

/* True if the top is "[main:3 @ parse]", without looking at its text unless it may be. */
static bool is_context(const struct pgk_sample *p, uint32_t top, const char *text, size_t len,
                       struct pgk_line *line)
{
    line->bytes.n = 0;
    pgk_sample_put_identity(p, top, line);
    return line->bytes.n == len - 2 && !memcmp(line->bytes.v, text + 1, len - 2);
}

int pgk_sample_keep_function(struct pgk_sample *p, const char *function, const char *file,
                             struct pgk_err *err)
{
    size_t len = strlen(function), kept = 0;
    bool context = len > 2 && function[0] == '[' && function[len - 1] == ']';
    uint32_t wanted = pgk_sample_names_find(&p->names, function, len);
    struct pgk_line line = {0};
    p->finished = false;
    for (uint32_t id = 1; id < p->nodes.n; id++) {
        if (!pgk_sample_is_top(p, id))
            continue;
        bool keep = context ? is_context(p, id, function, len, &line)
                            : wanted && p->nodes.v[id].name == wanted;
        if (!keep)
            p->nodes.v[id].flags &= ~(uint32_t)PGK_NODE_TOP;
        kept += keep;
    }
    bool failed = line.failed;
    pgk_line_free(&line);
    if (failed)
        return pgk_fail_nomem(err);
    if (kept)
        return 0;
    return pgk_fail(err, PGK_E_EMPTY, .file = file, .field = "function",
                    .found = PGK_F("no profile of '%s'", function), .expected = "one",
                    .hint = "give the name as the linker knows it; pgokit show --linkage-names "
                            "lists them");
}

int pgk_sample_filter(struct pgk_sample *profile, const char *keep, const char *drop,
                      struct pgk_err *err)
{
    struct pattern k = {0}, d = {0};
    int status = compile(&k, keep, err);
    if (!status)
        status = compile(&d, drop, err);
    if (!status)
        status = filter(profile, &k, &d, err);
    pgk_pattern_free(&k.regex);
    pgk_pattern_free(&d.regex);
    return status;
}
