/* profile.proto of pprof, from totals: addresses and where their modules are mapped, so that pprof
 * finds the names in the files. A location's number is its address. Nothing is kept of what is
 * written but the addresses that were: each is described once, in front of its first sample. */
#include "runtime_pprof.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_modules.h"
#include "guest_sys.h"
#include "runtime_depot.h"
#include "runtime_options.h"

#include <fcntl.h>

enum {
#define PGK_PPROF_FIELD(name, number) name = (number),
#include "pprof.def"
#undef PGK_PPROF_FIELD
};

/* The table of strings begins with these; two for each module follow. */
enum {
    TEXT_NONE,
    TEXT_count,
    TEXT_bytes,
    TEXT_space,
#define PGK_PPROF_VALUE(type, unit) TEXT_##type,
#include "pprof.def"
#undef PGK_PPROF_VALUE
    TEXTS
};
static const char *const texts[] = {
    "", "count", "bytes", "space",
#define PGK_PPROF_VALUE(type, unit) #type,
#include "pprof.def"
#undef PGK_PPROF_VALUE
};

enum { MAPS_BYTES = 1 << 20, VARINT = 10, PATH_BYTES = 1024 };

struct pgrt_pprof {
    const struct pgrt_totals *totals;
    const struct pgg_segment *segments;
    u32 n_segments;
    bool allocs; /* pprof shows allocated, not live bytes by default */
    u64 time_ns;
    char *maps; /* of the process, from the kernel; NULL: unknown */
    u64 *seen;  /* addresses: a table of a power of two, half full at most */
    u64 seen_capacity, seen_n;
    bool (*put)(void *arg, const void *bytes, size_t n);
    void *arg;
    bool failed;
};

/* A message that is put together before it is written. */
struct message {
    u32 n;
    uint8_t bytes[(PGG_DEPTH_MAX + 16) * VARINT + PATH_BYTES];
};

static void add_varint(struct message *m, u64 v)
{
    for (; v >= 0x80; v >>= 7)
        m->bytes[m->n++] = (uint8_t)(v | 0x80);
    m->bytes[m->n++] = (uint8_t)v;
}

static void add_number(struct message *m, u32 field, u64 v)
{
    if (!v)
        return;
    add_varint(m, field << 3);
    add_varint(m, v);
}

static void add_bytes(struct message *m, u32 field, const void *bytes, u32 n)
{
    add_varint(m, field << 3 | 2);
    add_varint(m, n);
    pgg_copy(m->bytes + m->n, bytes, n);
    m->n += n;
}

static void put_message(struct pgrt_pprof *p, u32 field, const struct message *m)
{
    struct message head;
    head.n = 0;
    add_varint(&head, field << 3 | 2);
    add_varint(&head, m->n);
    p->failed = p->failed || !p->put(p->arg, head.bytes, head.n) || !p->put(p->arg, m->bytes, m->n);
}

static void put_number(struct pgrt_pprof *p, u32 field, u64 v)
{
    struct message m;
    m.n = 0;
    add_number(&m, field, v);
    p->failed = p->failed || !p->put(p->arg, m.bytes, m.n);
}

static void put_text(struct pgrt_pprof *p, const char *text)
{
    struct message m;
    m.n = 0;
    const size_t n = pgg_strlen(text);
    pgg_copy(m.bytes, text, n < PATH_BYTES ? n : PATH_BYTES);
    m.n = (u32)(n < PATH_BYTES ? n : PATH_BYTES);
    put_message(p, PROFILE_STRING_TABLE, &m);
}

static void put_type(struct pgrt_pprof *p, u32 field, u32 type, u32 unit)
{
    struct message m;
    m.n = 0;
    add_number(&m, VALUE_TYPE_TYPE, type);
    add_number(&m, VALUE_TYPE_UNIT, unit);
    put_message(p, field, &m);
}

static void put_start(struct pgrt_pprof *p)
{
#define PGK_PPROF_VALUE(type, unit) put_type(p, PROFILE_SAMPLE_TYPE, TEXT_##type, TEXT_##unit);
#include "pprof.def"
#undef PGK_PPROF_VALUE
    put_type(p, PROFILE_PERIOD_TYPE, TEXT_space, TEXT_bytes);
    put_number(p, PROFILE_PERIOD, 1);
    put_number(p, PROFILE_TIME_NANOS, p->time_ns);
    put_number(p, PROFILE_DEFAULT_SAMPLE_TYPE,
               p->allocs ? TEXT_alloc_space : TEXT_inuse_space);
    for (u32 i = 0; i < TEXTS; i++)
        put_text(p, texts[i]);
}

/* ---- modules ---- */

static u64 read_hex(const char **s)
{
    u64 v = 0;
    for (;; ++*s) {
        const char c = **s;
        const u32 digit = c >= '0' && c <= '9' ? (u32)(c - '0')
                          : c >= 'a' && c <= 'f' ? (u32)(c - 'a' + 10)
                                                 : 16;
        if (digit == 16)
            return v;
        v = v << 4 | digit;
    }
}

static const char *skip_words(const char *s, u32 words)
{
    for (; words; words--) {
        while (*s && *s != ' ' && *s != '\n')
            s++;
        while (*s == ' ')
            s++;
    }
    return s;
}

/* The offset of the segment in its file, and its path. Lines are START-END RIGHTS OFFSET DEVICE
 * INODE PATH. */
static u64 find_file(const struct pgrt_pprof *p, u64 start, char path[PATH_BYTES])
{
    path[0] = 0;
    for (const char *s = p->maps; s && *s;) {
        const u64 from = read_hex(&s), to = *s++ == '-' ? read_hex(&s) : 0;
        s = skip_words(s, 2);
        const u64 off = read_hex(&s);
        s = skip_words(s, 3);
        u32 n = 0;
        const bool found = start >= from && start < to;
        for (; *s && *s != '\n'; s++)
            if (found && n < PATH_BYTES - 1)
                path[n++] = *s;
        path[n] = 0;
        if (found)
            return off + (start - from);
        s += *s == '\n';
    }
    return 0;
}

static void put_mappings(struct pgrt_pprof *p)
{
    for (u32 i = 0; i < p->n_segments; i++) {
        static const char digits[] = "0123456789abcdef";
        const struct pgg_segment *s = &p->segments[i];
        char path[PATH_BYTES], id[2 * sizeof s->id + 1] = "";
        const u64 off = find_file(p, s->start, path);
        for (u32 b = 0; b < s->id_size; b++) {
            id[2 * b] = digits[s->id[b] >> 4];
            id[2 * b + 1] = digits[s->id[b] & 15];
            id[2 * b + 2] = 0;
        }
        struct message m;
    m.n = 0;
        add_number(&m, MAPPING_ID, i + 1);
        add_number(&m, MAPPING_MEMORY_START, s->start);
        add_number(&m, MAPPING_MEMORY_LIMIT, s->end);
        add_number(&m, MAPPING_FILE_OFFSET, off);
        add_number(&m, MAPPING_FILENAME, TEXTS + 2 * i);
        add_number(&m, MAPPING_BUILD_ID, TEXTS + 2 * i + 1);
        put_message(p, PROFILE_MAPPING, &m);
        put_text(p, path);
        put_text(p, id);
    }
}

static u32 mapping_of(const struct pgrt_pprof *p, u64 address)
{
    for (u32 i = 0; i < p->n_segments; i++)
        if (address >= p->segments[i].start && address < p->segments[i].end)
            return i + 1;
    return 0;
}

/* ---- locations ---- */

static u64 *slot_of(u64 *table, u64 capacity, u64 address)
{
    u64 at = address * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    while (table[at & (capacity - 1)] && table[at & (capacity - 1)] != address)
        at++;
    return &table[at & (capacity - 1)];
}

static bool grow_seen(struct pgrt_pprof *p)
{
    const u64 capacity = p->seen_capacity ? 2 * p->seen_capacity : 8192;
    u64 *table = pgg_map(capacity * sizeof *table);
    if (!table)
        return false;
    for (u64 i = 0; i < p->seen_capacity; i++)
        if (p->seen[i])
            *slot_of(table, capacity, p->seen[i]) = p->seen[i];
    if (p->seen)
        pgg_unmap(p->seen, p->seen_capacity * sizeof *p->seen);
    p->seen = table;
    p->seen_capacity = capacity;
    return true;
}

static void put_location(struct pgrt_pprof *p, u64 address)
{
    if (2 * (p->seen_n + 1) > p->seen_capacity && !grow_seen(p)) {
        p->failed = true;
        return;
    }
    u64 *slot = slot_of(p->seen, p->seen_capacity, address);
    if (*slot)
        return;
    *slot = address;
    p->seen_n++;
    struct message m;
    m.n = 0;
    add_number(&m, LOCATION_ID, address);
    add_number(&m, LOCATION_MAPPING_ID, mapping_of(p, address));
    add_number(&m, LOCATION_ADDRESS, address);
    put_message(p, PROFILE_LOCATION, &m);
}

/* ---- samples ---- */

static void put_sample(struct pgrt_pprof *p, const struct pgg_context *c,
                       const struct pgrt_total *total)
{
    struct message ids, values, sample;
    u64 pcs[PGG_DEPTH_MAX];
    ids.n = values.n = sample.n = 0;
    pgg_context_pcs(c, pcs, c->n);
    for (u32 i = 0; i < c->n; i++) {
        const u64 address = pcs[i] ? pcs[i] : 1; /* 0 is no location */
        put_location(p, address);
        add_varint(&ids, address);
    }
    add_varint(&values, total->made_objects);
    add_varint(&values, total->made_bytes);
    add_varint(&values, total->alive_objects);
    add_varint(&values, total->alive_bytes);
    add_bytes(&sample, SAMPLE_LOCATION_ID, ids.bytes, ids.n);
    add_bytes(&sample, SAMPLE_VALUE, values.bytes, values.n);
    put_message(p, PROFILE_SAMPLE, &sample);
}

/* ---- all ---- */

static void read_maps(struct pgrt_pprof *p)
{
    const int fd = (int)pgg_sys_open("/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0)
        return;
    p->maps = pgg_map(MAPS_BYTES);
    size_t used = 0;
    for (long n = 1; p->maps && used < MAPS_BYTES - 1 && n > 0; used += n > 0 ? (size_t)n : 0)
        n = pgg_sys_read(fd, p->maps + used, MAPS_BYTES - 1 - used);
    pgg_sys_close(fd);
}

struct pgrt_pprof *pgrt_pprof_new(const struct pgrt_totals *totals, bool allocs)
{
    struct timespec now = {0};
    struct pgrt_pprof *p = pgg_map(pgg_whole_pages(sizeof *p));
    if (!p)
        return NULL;
    pgg_sys_clock(CLOCK_REALTIME, &now);
    p->totals = totals;
    p->allocs = allocs;
    p->time_ns = (u64)now.tv_sec * 1000000000 + (u64)now.tv_nsec;
    p->n_segments = pgg_modules(&p->segments);
    read_maps(p);
    return p;
}

bool pgrt_pprof_write(struct pgrt_pprof *p, bool (*put)(void *arg, const void *bytes, size_t n),
                      void *arg)
{
    p->put = put;
    p->arg = arg;
    p->failed = false;
    p->seen_n = 0;
    if (p->seen)
        pgg_fill_fast(p->seen, 0, p->seen_capacity * sizeof *p->seen);
    put_start(p);
    put_mappings(p);
    for (u32 id = 1; id < p->totals->n && !p->failed; id++) {
        const struct pgrt_total *total = &p->totals->of[id];
        if (total->made_objects || total->alive_objects)
            put_sample(p, pgg_context(id), total);
    }
    return !p->failed;
}

void pgrt_pprof_free(struct pgrt_pprof *p)
{
    if (p->seen)
        pgg_unmap(p->seen, p->seen_capacity * sizeof *p->seen);
    if (p->maps)
        pgg_unmap(p->maps, MAPS_BYTES);
    pgg_unmap(p, pgg_whole_pages(sizeof *p));
}
