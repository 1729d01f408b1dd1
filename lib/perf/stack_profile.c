/* Profiles of other profilers, whose samples have call stacks: what is common to their forms. */
#include "stack_profile.h"

#include "hex.h"

enum { REGION_BITS = 40, REGIONS_MAX = 1 << 22 };

static const struct pgk_stack_form *const forms[] = {
    &pgk_stack_pprof, &pgk_stack_otlp, &pgk_stack_json, &pgk_stack_folded};

const struct pgk_stack_form *pgk_stacks_in_form(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < PGK_COUNTOF(forms); i++)
        if (forms[i]->sniff(bytes, size))
            return forms[i];
    return NULL;
}

int pgk_stacks_in_read(const struct pgk_stack_form *form, const struct pgk_filemap *map,
                       const struct pgk_source *src, const struct pgk_perf_handler *handler,
                       struct pgk_perf_info *info, struct pgk_err *err)
{
    struct pgk_stack_reader r = {.src = src, .handler = handler, .info = info, .err = err};
    *info = (struct pgk_perf_info){.form = form->name, .cpu = "", .bytes = map->size};
    int status = form->read(&r, map->bytes, map->size);
    pgk_vec_free(&r.regions);
    pgk_intern_free(&r.known);
    pgk_vec_free(&r.chain);
    pgk_vec_free(&r.labels);
    return status;
}

/* ---- mappings ---- */

void pgk_stacks_in_build_id(struct pgk_stack_mapping *m, struct pgk_perf_name digits)
{
    const size_t n = pgk_hex_read(digits.s, digits.s + digits.n, m->build_id, sizeof m->build_id);
    m->build_id_size = 2 * n == digits.n ? (uint32_t)n : 0;
}

static int pass_mapping(struct pgk_stack_reader *r, const struct pgk_stack_mapping *m,
                        uint32_t region)
{
    struct pgk_perf_mapping mapping = {.start = (uint64_t)(region + 1) << REGION_BITS,
                                       .size = r->regions.v[region].size,
                                       .file_offset = m->linked ? 0 : m->offset,
                                       .prot = PGK_PROT_READ | PGK_PROT_EXEC,
                                       .path = m->path.s,
                                       .path_len = m->path.n,
                                       .build_id_size = m->build_id_size,
                                       .linked = m->linked,
                                       .from_base = m->from_base};
    memcpy(mapping.build_id, m->build_id, sizeof mapping.build_id);
    r->info->mappings++;
    return r->handler->mapping ? r->handler->mapping(r->handler->ctx, &mapping) : 0;
}

static bool starts_with(struct pgk_perf_name name, const char *text)
{
    return name.n >= strlen(text) && !memcmp(name.s, text, strlen(text));
}

/* What distinguishes mappings, as bytes. */
struct mapping_key {
    uint64_t start, limit, offset, linked;
    uint8_t build_id[PGK_BUILD_ID_MAX + 4];
};

static uint32_t find_mapping(struct pgk_stack_reader *r, const struct pgk_stack_mapping *m)
{
    struct mapping_key key = {.linked = m->linked | (uint64_t)m->from_base << 1};
    if (!m->linked && !m->from_base) {
        key.start = m->start;
        key.limit = m->limit;
        key.offset = m->offset;
    }
    memcpy(key.build_id, m->build_id, m->build_id_size);
    uint32_t path = pgk_intern(&r->known, m->path.s, m->path.n);
    if (path == PGK_INDEX_NONE)
        return path;
    memcpy(key.build_id + PGK_BUILD_ID_MAX, &path, sizeof path);
    return pgk_intern(&r->known, (const char *)&key, sizeof key);
}

int pgk_stacks_in_map(struct pgk_stack_reader *r, const struct pgk_stack_mapping *m,
                      uint32_t *region)
{
    const uint64_t most = UINT64_C(1) << REGION_BITS;
    *region = PGK_STACK_NOWHERE;
    if (!m->path.n && !m->build_id_size)
        return 0;
    const uint32_t id = find_mapping(r, m);
    if (id == PGK_INDEX_NONE)
        return pgk_fail_nomem(r->err);
    while (r->regions.n <= id) /* ids of paths have none */
        if (!pgk_vec_push(&r->regions, (struct pgk_stack_region){0}))
            return pgk_fail_nomem(r->err);
    if (id > REGIONS_MAX)
        return pgk_fail(r->err, PGK_E_LIMIT, .file = r->src->file, .format = r->src->format,
                        .offset = &(uint64_t){r->src->base_off}, .field = "mapping",
                        .found = "more of them", .expected = PGK_F("at most %d", REGIONS_MAX),
                        .hint = "split the file");
    struct pgk_stack_region *known = &r->regions.v[id];
    *region = id;
    if (known->size)
        return 0;
    const uint64_t size = m->limit > m->start ? m->limit - m->start : most;
    *known = (struct pgk_stack_region){.start = m->linked ? 0 : m->start,
                                       .size = m->linked || size > most ? most : size,
                                       .kernel = starts_with(m->path, "[kernel") ||
                                                 starts_with(m->path, "vmlinux")};
    return pass_mapping(r, m, id);
}

/* ---- samples ---- */

void pgk_stacks_in_begin(struct pgk_stack_reader *r)
{
    r->chain.n = r->labels.n = 0;
    r->pid = PGK_PID_UNKNOWN;
    r->in_kernel = false;
}

int pgk_stacks_in_push(struct pgk_stack_reader *r, uint32_t region, uint64_t address, uint64_t off)
{
    uint64_t at = 0;
    if (r->chain.n == PGK_STACK_FRAMES_MAX)
        return pgk_fail(r->err, PGK_E_CORRUPT, .file = r->src->file, .format = r->src->format,
                        .offset = &off, .record = "sample", .field = "stack",
                        .found = "more frames",
                        .expected = PGK_F("at most %d", PGK_STACK_FRAMES_MAX),
                        .hint = "the file is damaged; write it again");
    if (region != PGK_STACK_NOWHERE) {
        const struct pgk_stack_region *m = &r->regions.v[region];
        if (address - m->start < m->size)
            at = ((uint64_t)(region + 1) << REGION_BITS) + (address - m->start);
        r->in_kernel |= !r->chain.n && m->kernel;
    }
    return pgk_vec_push(&r->chain, at) ? 0 : pgk_fail_nomem(r->err);
}

/* Names that profilers have for the number of a process. */
static bool is_pid(struct pgk_perf_name key)
{
    return pgk_name_is(key, "process.pid") || pgk_name_is(key, "pid") ||
           pgk_name_is(key, "process_id");
}

void pgk_stacks_in_number_label(struct pgk_stack_reader *r, struct pgk_perf_name key,
                                uint64_t value)
{
    if (is_pid(key) && value && value <= INT32_MAX)
        r->pid = (int32_t)value;
}

int pgk_stacks_in_label(struct pgk_stack_reader *r, struct pgk_perf_name key,
                        struct pgk_perf_name value)
{
    uint64_t pid = 0;
    for (size_t i = 0; is_pid(key) && i < value.n && i < 9; i++)
        pid = pid * 10 + (uint64_t)(value.s[i] - '0') % 10;
    pgk_stacks_in_number_label(r, key, pid);
    return pgk_vec_push(&r->labels, (struct pgk_perf_label){key, value}) ? 0
                                                                         : pgk_fail_nomem(r->err);
}

/* The program that the profiler says was sampled. */
static struct pgk_perf_name comm_of(const struct pgk_stack_reader *r)
{
    static const char *const keys[] = {"comm", "process.executable.name", "process_name"};
    for (size_t k = 0; k < PGK_COUNTOF(keys); k++)
        for (size_t i = 0; i < r->labels.n; i++)
            if (pgk_name_is(r->labels.v[i].key, keys[k]))
                return r->labels.v[i].value;
    return (struct pgk_perf_name){0};
}

int pgk_stacks_in_pass(struct pgk_stack_reader *r, uint64_t count, uint64_t unix_ns)
{
    if (!r->chain.n || !count)
        return 0;
    struct pgk_perf_sample s = {
        .has = PGK_PERF_HAS_IP | PGK_PERF_HAS_CHAIN,
        .comm = comm_of(r),
        .pid = r->pid,
        .tid = PGK_PID_UNKNOWN,
        .mode = r->in_kernel ? PGK_PERF_KERNEL : PGK_PERF_USER,
        .count = count,
        .ip = r->chain.v[0],
        .chain = r->chain.v,
        .n_chain = r->chain.n,
        .chain_in_calls = true,
        .unix_ns = unix_ns,
        .labels = r->labels.v,
        .n_labels = r->labels.n,
    };
    r->info->samples++;
    return r->handler->sample ? r->handler->sample(r->handler->ctx, &s) : 0;
}

/* ---- values ---- */

static const struct {
    const char *type, *unit;
    bool is_count;
} values[] = {
#define PGK_STACK_VALUE(type, unit, is_count) {type, unit, is_count},
#include "stack_values.def"
};

unsigned pgk_stacks_in_rank(const struct pgk_stack_value *v)
{
    for (unsigned i = 0; i < PGK_COUNTOF(values); i++)
        if (pgk_name_is(v->type, values[i].type) && pgk_name_is(v->unit, values[i].unit))
            return i + 1;
    return 0;
}

uint64_t pgk_stacks_in_count(const struct pgk_stack_value *v, uint64_t n,
                             const struct pgk_stack_value *period_type, uint64_t period)
{
    const unsigned rank = pgk_stacks_in_rank(v);
    const bool same =
        period_type->unit.n == v->unit.n && !memcmp(period_type->unit.s, v->unit.s, v->unit.n);
    if (!n || !rank || values[rank - 1].is_count || period < 2 || !same)
        return n;
    return n / period + (n % period >= period - n % period || n < period);
}

int pgk_stacks_in_no_cpu(const struct pgk_stack_reader *r, const char *found)
{
    return pgk_fail(r->err, PGK_E_MISMATCH, .file = r->src->file, .format = r->src->format,
                    .offset = &(uint64_t){r->src->base_off}, .record = "profile",
                    .field = "sample_type", .found = *found ? found : "none",
                    .expected = "samples or time on processors, such as samples/count or "
                                "cpu/nanoseconds",
                    .hint = "collect a CPU profile; pgokit show reads heap profiles");
}
