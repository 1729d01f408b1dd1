/* Reader of YAML heap profiles. The YAML itself is libyaml's; this file knows the keys. */
#include "function_name.h"
#include "format_row.h"
#include "heap_yaml.h"
#include "record_builder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <yaml.h>

struct call_site {
    uint32_t stack;
    size_t first_callee, n_callees;
};
struct alloc_site {
    uint32_t stack;
    struct pgk_mib mib;
};

struct reader {
    yaml_parser_t parser;
    yaml_event_t event; /* the current one */
    const struct pgk_source *src;
    struct pgk_err *err;
    struct pgk_record_builder records;
    struct pgk_heap_yaml_info info;
    /* of the record being read: its GUID may come last */
    PGK_VEC(struct alloc_site) allocs;
    PGK_VEC(struct call_site) calls;
    PGK_VEC(uint64_t) callees;
    PGK_VEC(uint32_t) frames; /* of the stack being read */
    PGK_VEC(struct pgk_data_place) places; /* of the data access entry being read */
    const char *record;       /* names the surroundings in messages */
};

static int reject(const struct reader *r, int status, const yaml_mark_t *at, const char *field,
                  const char *found, const char *expected)
{
    return pgk_fail(r->err, status, .file = r->src->file, .format = r->src->format,
                    .offset = &(uint64_t){r->src->base_off + at->index},
                    .record = PGK_F("line %zu, %s", at->line + 1, r->record), .field = field,
                    .found = found, .expected = expected,
                    .hint = "see docs/formats/indexed-heap.md section 11 for what is read");
}

static int next(struct reader *r)
{
    yaml_event_delete(&r->event);
    if (yaml_parser_parse(&r->parser, &r->event))
        return 0;
    yaml_mark_t at = r->parser.problem_mark;
    at.index = r->parser.problem_offset ? r->parser.problem_offset : at.index;
    if (r->parser.error == YAML_MEMORY_ERROR)
        return pgk_fail_nomem(r->err);
    return reject(r, PGK_E_CORRUPT, &at, "syntax",
                  r->parser.problem ? r->parser.problem : "broken text", "YAML");
}

static const char *event_name(const yaml_event_t *e)
{
    switch (e->type) {
    case YAML_SCALAR_EVENT:
        return "a value";
    case YAML_SEQUENCE_START_EVENT:
        return "a list";
    case YAML_MAPPING_START_EVENT:
        return "a map";
    case YAML_ALIAS_EVENT:
        return "an alias";
    default:
        return "an end";
    }
}

static int expect(struct reader *r, yaml_event_type_t type, const char *field, const char *what)
{
    PGK_TRY(next(r));
    if (r->event.type == type)
        return 0;
    return reject(r, PGK_E_CORRUPT, &r->event.start_mark, field, event_name(&r->event), what);
}

/* The next key of a map, or NULL after the last one; lives until the next event. */
static int next_key(struct reader *r, const char **key)
{
    PGK_TRY(next(r));
    *key = NULL;
    if (r->event.type == YAML_MAPPING_END_EVENT)
        return 0;
    if (r->event.type != YAML_SCALAR_EVENT)
        return reject(r, PGK_E_CORRUPT, &r->event.start_mark, "key", event_name(&r->event),
                      "a key");
    *key = (const char *)r->event.data.scalar.value;
    return 0;
}

/* True if the list has a further element, which is then the current event. */
static int next_element(struct reader *r, bool *more)
{
    PGK_TRY(next(r));
    *more = r->event.type != YAML_SEQUENCE_END_EVENT;
    return 0;
}

static int unknown_key(const struct reader *r, const char *key, const char *expected)
{
    return reject(r, PGK_E_CORRUPT, &r->event.start_mark, "key", PGK_F("'%.60s'", key), expected);
}

static int missing_key(const struct reader *r, const char *key)
{
    return reject(r, PGK_E_CORRUPT, &r->event.start_mark, "key", PGK_F("no %s", key),
                  "all required keys");
}

/* The current event as a number. */
static int current_number(struct reader *r, const char *field, uint64_t max, uint64_t *value)
{
    if (r->event.type != YAML_SCALAR_EVENT)
        return reject(r, PGK_E_CORRUPT, &r->event.start_mark, field, event_name(&r->event),
                      "a number");
    const char *text = (const char *)r->event.data.scalar.value;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    char *end = NULL;
    errno = 0;
    uint64_t v = *text >= '0' && *text <= '9' ? strtoull(text, &end, hex ? 16 : 10) : 0;
    if (!end || *end || errno || v > max)
        return reject(r, PGK_E_CORRUPT, &r->event.start_mark, field, PGK_F("'%.60s'", text),
                      PGK_F("a number up to %" PRIu64, max));
    *value = v;
    return 0;
}

static int read_number(struct reader *r, const char *field, uint64_t max, uint64_t *value)
{
    PGK_TRY(next(r));
    return current_number(r, field, max, value);
}

/* A function: a hexadecimal GUID, or a name. */
static int read_function(struct reader *r, const char *field, uint64_t *guid)
{
    PGK_TRY(expect(r, YAML_SCALAR_EVENT, field, "a GUID or a function name"));
    const char *text = (const char *)r->event.data.scalar.value;
    size_t len = r->event.data.scalar.length;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        char *end;
        errno = 0;
        *guid = strtoull(text, &end, 16);
        if (!*end && !errno)
            return 0;
    } else if (len && strspn(text, "0123456789") != len) {
        *guid = pgk_heap_guid(text, len);
        return 0;
    }
    return reject(r, PGK_E_CORRUPT, &r->event.start_mark, field, PGK_F("'%.60s'", text),
                  "0x and up to 16 hexadecimal digits, or a function name");
}

static int read_bool(struct reader *r, const char *field, bool *value)
{
    PGK_TRY(expect(r, YAML_SCALAR_EVENT, field, "true or false"));
    const char *text = (const char *)r->event.data.scalar.value;
    *value = !strcmp(text, "true");
    if (*value || !strcmp(text, "false"))
        return 0;
    return reject(r, PGK_E_CORRUPT, &r->event.start_mark, field, PGK_F("'%.60s'", text),
                  "true or false");
}

/* The current event starts the map of a frame. */
static int read_frame(struct reader *r)
{
    uint64_t guid = 0, line = 0, column = 0;
    bool inlined = false;
    unsigned seen = 0;
    if (r->event.type != YAML_MAPPING_START_EVENT)
        return reject(r, PGK_E_CORRUPT, &r->event.start_mark, "frame", event_name(&r->event),
                      "a map");
    for (const char *key;;) {
        PGK_TRY(next_key(r, &key));
        if (!key)
            break;
        if (!strcmp(key, "Function")) {
            PGK_TRY(read_function(r, "Function", &guid));
            seen |= 1;
        } else if (!strcmp(key, "LineOffset")) {
            PGK_TRY(read_number(r, "LineOffset", UINT32_MAX, &line));
            seen |= 2;
        } else if (!strcmp(key, "Column")) {
            PGK_TRY(read_number(r, "Column", UINT32_MAX, &column));
            seen |= 4;
        } else if (!strcmp(key, "IsInlineFrame")) {
            PGK_TRY(read_bool(r, "IsInlineFrame", &inlined));
            seen |= 8;
        } else {
            return unknown_key(r, key, "Function, LineOffset, Column or IsInlineFrame");
        }
    }
    if (seen != 15)
        return missing_key(r, "Function, LineOffset, Column or IsInlineFrame");
    uint32_t func = pgk_heap_func(r->records.heap, guid, 0, 0, 0);
    uint32_t frame = func == PGK_INDEX_NONE
                         ? func
                         : pgk_heap_frame(r->records.heap,
                                          inlined ? PGK_FRAME_INLINED : PGK_FRAME_CALLER, func,
                                          pgk_frame_place((uint32_t)line, (uint32_t)column));
    return frame != PGK_INDEX_NONE && pgk_vec_push(&r->frames, frame) ? 0 : pgk_fail_nomem(r->err);
}

static int read_stack(struct reader *r, const char *field, uint32_t *stack)
{
    r->frames.n = 0;
    PGK_TRY(expect(r, YAML_SEQUENCE_START_EVENT, field, "a list of frames"));
    for (bool more;;) {
        PGK_TRY(next_element(r, &more));
        if (!more)
            break;
        PGK_TRY(read_frame(r));
    }
    if (!r->frames.n)
        return reject(r, PGK_E_CORRUPT, &r->event.start_mark, field, "no frame", "at least one");
    *stack = pgk_stack_add(&r->records.heap->stacks, r->frames.v, r->frames.n);
    return *stack == PGK_NODE_NONE ? pgk_fail_nomem(r->err) : 0;
}

static int read_mib(struct reader *r, struct pgk_mib *m)
{
    *m = (struct pgk_mib){0};
    PGK_TRY(expect(r, YAML_MAPPING_START_EVENT, "MemInfoBlock", "a map"));
    for (const char *key;;) {
        PGK_TRY(next_key(r, &key));
        if (!key)
            break;
        enum pgk_mib_id id;
        if (!pgk_mib_find(key, &id) || pgk_mib_is_own(id))
            return unknown_key(r, key, "a field of the memory info block");
        PGK_TRY(read_number(r, pgk_mib_fields[id].name,
                            pgk_mib_fields[id].bytes == 4 ? UINT32_MAX : UINT64_MAX, &m->v[id]));
        if (pgk_mib_fields[id].across != PGK_RULE_NONE)
            m->known |= UINT64_C(1) << id;
    }
    m->v[PGK_MIB_AccessHistogram] = 0;
    return 0;
}

static int read_alloc_site(struct reader *r)
{
    struct alloc_site a = {0};
    unsigned seen = 0;
    for (const char *key;;) {
        PGK_TRY(next_key(r, &key));
        if (!key)
            break;
        if (!strcmp(key, "Callstack")) {
            PGK_TRY(read_stack(r, "Callstack", &a.stack));
            seen |= 1;
        } else if (!strcmp(key, "MemInfoBlock")) {
            PGK_TRY(read_mib(r, &a.mib));
            seen |= 2;
        } else {
            return unknown_key(r, key, "Callstack or MemInfoBlock");
        }
    }
    if (seen != 3)
        return missing_key(r, "Callstack or MemInfoBlock");
    return pgk_vec_push(&r->allocs, a) ? 0 : pgk_fail_nomem(r->err);
}

static int read_callees(struct reader *r, struct call_site *c)
{
    c->first_callee = r->callees.n;
    PGK_TRY(expect(r, YAML_SEQUENCE_START_EVENT, "CalleeGuids", "a list of GUIDs"));
    for (;;) {
        uint64_t guid;
        yaml_event_t *peek = &r->event;
        PGK_TRY(next(r));
        if (peek->type == YAML_SEQUENCE_END_EVENT)
            break;
        if (peek->type != YAML_SCALAR_EVENT)
            return reject(r, PGK_E_CORRUPT, &peek->start_mark, "CalleeGuids", event_name(peek),
                          "a GUID");
        const char *text = (const char *)peek->data.scalar.value;
        char *end;
        errno = 0;
        guid = strtoull(text, &end, 0);
        if (*end || errno || *text < '0' || *text > '9') {
            if (*text >= '0' && *text <= '9')
                return reject(r, PGK_E_CORRUPT, &peek->start_mark, "CalleeGuids",
                              PGK_F("'%.60s'", text), "a GUID");
            guid = pgk_heap_guid(text, peek->data.scalar.length);
        }
        if (!pgk_vec_push(&r->callees, guid))
            return pgk_fail_nomem(r->err);
    }
    c->n_callees = r->callees.n - c->first_callee;
    return 0;
}

static int read_call_site(struct reader *r)
{
    struct call_site c = {0};
    for (const char *key;;) {
        PGK_TRY(next_key(r, &key));
        if (!key)
            break;
        if (!strcmp(key, "Frames"))
            PGK_TRY(read_stack(r, "Frames", &c.stack));
        else if (!strcmp(key, "CalleeGuids"))
            PGK_TRY(read_callees(r, &c));
        else
            return unknown_key(r, key, "Frames or CalleeGuids");
    }
    if (!c.stack)
        return missing_key(r, "Frames");
    return pgk_vec_push(&r->calls, c) ? 0 : pgk_fail_nomem(r->err);
}

static int read_sites(struct reader *r, const char *field, int (*read_site)(struct reader *))
{
    PGK_TRY(expect(r, YAML_SEQUENCE_START_EVENT, field, "a list"));
    for (bool more;;) {
        PGK_TRY(next_element(r, &more));
        if (!more)
            return 0;
        if (r->event.type != YAML_MAPPING_START_EVENT)
            return reject(r, PGK_E_CORRUPT, &r->event.start_mark, field, event_name(&r->event),
                          "a map");
        PGK_TRY(read_site(r));
    }
}

static int read_record(struct reader *r)
{
    uint64_t guid = 0;
    bool has_guid = false;
    r->allocs.n = r->calls.n = r->callees.n = 0;
    for (const char *key;;) {
        PGK_TRY(next_key(r, &key));
        if (!key)
            break;
        if (!strcmp(key, "GUID")) {
            PGK_TRY(read_function(r, "GUID", &guid));
            has_guid = true;
        } else if (!strcmp(key, "AllocSites")) {
            PGK_TRY(read_sites(r, "AllocSites", read_alloc_site));
        } else if (!strcmp(key, "CallSites")) {
            PGK_TRY(read_sites(r, "CallSites", read_call_site));
        } else {
            return unknown_key(r, key, "GUID, AllocSites or CallSites");
        }
    }
    if (!has_guid)
        return missing_key(r, "GUID");
    PGK_TRY(pgk_record_begin(&r->records, guid, r->err));
    for (size_t i = 0; i < r->allocs.n; i++)
        PGK_TRY(pgk_record_add_alloc(&r->records, r->allocs.v[i].stack, &r->allocs.v[i].mib,
                                     r->err));
    for (size_t i = 0; i < r->calls.n; i++) {
        const struct call_site *c = &r->calls.v[i];
        PGK_TRY(pgk_record_add_call(&r->records, c->stack, r->callees.v + c->first_callee,
                                    c->n_callees, r->err));
    }
    return 0;
}

/* Data access profiles. */

/* The current event as a name; symbols without suffixes of compilers. */
static int current_text(struct reader *r, const char *field, bool symbol, uint32_t *id)
{
    struct pgk_intern *strings = &r->records.heap->strings;
    if (r->event.type != YAML_SCALAR_EVENT)
        return reject(r, PGK_E_CORRUPT, &r->event.start_mark, field, event_name(&r->event),
                      "a name");
    const char *text = (const char *)r->event.data.scalar.value;
    size_t len = r->event.data.scalar.length;
    if (!len || memchr(text, 0, len) || memchr(text, 1, len))
        return reject(r, PGK_E_CORRUPT, &r->event.start_mark, field,
                      len ? "a control character" : "an empty name", "a name");
    *id = symbol ? pgk_data_access_symbol(strings, text, len) : pgk_intern(strings, text, len);
    if (!*id)
        return reject(r, PGK_E_CORRUPT, &r->event.start_mark, field,
                      "a name of which nothing is left without the suffixes of compilers",
                      "a name");
    return *id == PGK_INDEX_NONE ? pgk_fail_nomem(r->err) : 0;
}

static int read_text(struct reader *r, const char *field, bool symbol, uint32_t *id)
{
    PGK_TRY(next(r));
    return current_text(r, field, symbol, id);
}

static int read_place(struct reader *r)
{
    struct pgk_data_place p = {0};
    uint64_t line = 0;
    unsigned seen = 0;
    for (const char *key;;) {
        PGK_TRY(next_key(r, &key));
        if (!key)
            break;
        if (!strcmp(key, "FileName")) {
            PGK_TRY(read_text(r, "FileName", false, &p.file));
            seen |= 1;
        } else if (!strcmp(key, "Line")) {
            PGK_TRY(read_number(r, "Line", UINT32_MAX, &line));
            seen |= 2;
        } else {
            return unknown_key(r, key, "FileName or Line");
        }
    }
    if (seen != 3)
        return missing_key(r, "FileName or Line");
    p.line = (uint32_t)line;
    return pgk_vec_push(&r->places, p) ? 0 : pgk_fail_nomem(r->err);
}

static int read_data_entry(struct reader *r)
{
    uint32_t symbol = 0;
    uint64_t hash = 0, count = 0;
    bool has_hash = false, has_count = false;
    r->places.n = 0;
    for (const char *key;;) {
        PGK_TRY(next_key(r, &key));
        if (!key)
            break;
        if (!strcmp(key, "Symbol")) {
            PGK_TRY(read_text(r, "Symbol", true, &symbol));
        } else if (!strcmp(key, "Hash")) {
            PGK_TRY(read_number(r, "Hash", UINT64_MAX, &hash));
            has_hash = true;
        } else if (!strcmp(key, "AccessCount")) {
            PGK_TRY(read_number(r, "AccessCount", UINT64_MAX, &count));
            has_count = true;
        } else if (!strcmp(key, "Locations")) {
            PGK_TRY(read_sites(r, "Locations", read_place));
        } else {
            return unknown_key(r, key, "Symbol, Hash, AccessCount or Locations");
        }
    }
    if (!has_count || !symbol == !has_hash)
        return missing_key(r, has_count ? "Symbol or Hash, of which there is one" : "AccessCount");
    struct pgk_data_store to = pgk_heap_data_store(r->records.heap);
    return pgk_data_access_add(&to, symbol, hash, count, r->places.v, r->places.n)
               ? 0
               : pgk_fail_nomem(r->err);
}

static int read_cold_symbols(struct reader *r)
{
    struct pgk_data_store to = pgk_heap_data_store(r->records.heap);
    PGK_TRY(expect(r, YAML_SEQUENCE_START_EVENT, "KnownColdSymbols", "a list"));
    for (bool more;;) {
        uint32_t symbol;
        PGK_TRY(next_element(r, &more));
        if (!more)
            return 0;
        PGK_TRY(current_text(r, "KnownColdSymbols", true, &symbol));
        if (!pgk_data_access_add_cold_symbol(&to, symbol))
            return pgk_fail_nomem(r->err);
    }
}

static int read_cold_hashes(struct reader *r)
{
    struct pgk_data_store to = pgk_heap_data_store(r->records.heap);
    PGK_TRY(expect(r, YAML_SEQUENCE_START_EVENT, "KnownColdStrHashes", "a list"));
    for (bool more;;) {
        uint64_t hash;
        PGK_TRY(next_element(r, &more));
        if (!more)
            return 0;
        PGK_TRY(current_number(r, "KnownColdStrHashes", UINT64_MAX, &hash));
        if (!pgk_data_access_add_cold_hash(&to, hash))
            return pgk_fail_nomem(r->err);
    }
}

static int read_data_access(struct reader *r)
{
    PGK_TRY(expect(r, YAML_MAPPING_START_EVENT, "DataAccessProfiles", "a map"));
    for (const char *key;;) {
        PGK_TRY(next_key(r, &key));
        if (!key)
            return 0;
        if (!strcmp(key, "SampledRecords"))
            PGK_TRY(read_sites(r, "SampledRecords", read_data_entry));
        else if (!strcmp(key, "KnownColdSymbols"))
            PGK_TRY(read_cold_symbols(r));
        else if (!strcmp(key, "KnownColdStrHashes"))
            PGK_TRY(read_cold_hashes(r));
        else
            return unknown_key(r, key, "SampledRecords, KnownColdSymbols or KnownColdStrHashes");
    }
}

static int read_top(struct reader *r)
{
    for (const char *key;;) {
        PGK_TRY(next_key(r, &key));
        if (!key)
            return 0;
        r->record = "record";
        if (!strcmp(key, "HeapProfileRecords")) {
            PGK_TRY(read_sites(r, "HeapProfileRecords", read_record));
        } else if (!strcmp(key, "DataAccessProfiles")) {
            r->info.has_data_access = true;
            PGK_TRY(read_data_access(r));
        } else {
            return unknown_key(r, key, "HeapProfileRecords or DataAccessProfiles");
        }
        r->record = "profile";
    }
}

/* Documents up to the end; one that holds comments only is an empty scalar. */
static int read_stream(struct reader *r)
{
    bool any = false;
    do {
        PGK_TRY(next(r));
        if (r->event.type == YAML_MAPPING_START_EVENT) {
            any = true;
            PGK_TRY(read_top(r));
        } else if (r->event.type == YAML_SEQUENCE_START_EVENT ||
                   (r->event.type == YAML_SCALAR_EVENT && r->event.data.scalar.length)) {
            return reject(r, PGK_E_CORRUPT, &r->event.start_mark, "document",
                          event_name(&r->event), "a map with HeapProfileRecords");
        }
    } while (r->event.type != YAML_STREAM_END_EVENT);
    if (!any)
        return reject(r, PGK_E_CORRUPT, &r->event.start_mark, "document", "no document",
                      "a map with HeapProfileRecords");
    return 0;
}

int pgk_heap_yaml_read(struct pgk_heap *h, const uint8_t *bytes, size_t size,
                       const struct pgk_source *src, struct pgk_heap_yaml_info *info,
                       struct pgk_err *err)
{
    struct reader r = {.src = src, .err = err, .record = "profile"};
    if (!yaml_parser_initialize(&r.parser))
        return pgk_fail_nomem(err);
    yaml_parser_set_input_string(&r.parser, bytes, size);
    /* Into a model of its own, see pgk_record_builder. */
    int status = pgk_heap_new(&r.records.heap, err);
    if (!status)
        status = read_stream(&r);
    if (!status)
        status = pgk_record_end(&r.records, err);
    if (!status) {
        struct pgk_data_store data = pgk_heap_data_store(r.records.heap);
        pgk_data_access_sort(&data);
        status = pgk_heap_merge(h, r.records.heap, err);
    }
    if (!status && info)
        *info = r.info;
    yaml_event_delete(&r.event);
    yaml_parser_delete(&r.parser);
    pgk_heap_close(&r.records.heap);
    pgk_record_builder_free(&r.records);
    pgk_vec_free(&r.allocs);
    pgk_vec_free(&r.calls);
    pgk_vec_free(&r.callees);
    pgk_vec_free(&r.frames);
    pgk_vec_free(&r.places);
    return status;
}

/* ---- among the formats ---- */

/* LLVM's rule; a text of another kind is recognised by its keys when it is read. */
static bool sniff(const uint8_t *bytes, size_t size)
{
    return size >= 3 && !memcmp(bytes, "---", 3);
}

static int read(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_heap_yaml_info yaml;
    PGK_TRY(pgk_heap_yaml_read(heap, file->bytes, file->size, file->src, &yaml, err));
    info->facts[PGK_FACT_DATA_ACCESS] = yaml.has_data_access;
    return 0;
}

static int write(const struct pgk_heap *heap, const char *path,
                 const struct pgk_heap_target *target, struct pgk_err *err)
{
    (void)target;
    return pgk_heap_write_yaml(heap, path, err);
}

static void readers(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    (void)info;
    pgk_info_add_releases(text, 22, PGK_LLVM_NOW);
}

const struct pgk_format_row pgk_format_heap_yaml = {
    .format = {.name = "YAML heap profile",
               .kind = PGK_KIND_HEAP,
               .reads = "of LLVM 22 to " PGK_LLVM_NOW_TEXT,
               .writes = "of LLVM 22 to " PGK_LLVM_NOW_TEXT,
               .made_by = "llvm-profdata 22 to " PGK_LLVM_NOW_TEXT ", pgokit",
               .page = "indexed-heap.md"},
    .sniff = sniff,
    .read_heap = read,
    .write_heap = write,
    .form = PGK_HEAP_YAML,
    .readers = readers,
};
