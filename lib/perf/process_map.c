/* Which file lay at an address of a process at a time. */
#include "process_map.h"

#include "hash.h"
#include "index.h"
#include "intern.h"
#include "mem.h"
#include "search.h"
#include "vec.h"

#include <stdlib.h>

/* A stretch of addresses that showed one mapping from a time until another. */
struct piece {
    uint64_t start, end, from, until;
    uint64_t reach; /* highest end of this piece and all before it; once sorted */
    uint32_t mapping;
};

#define ALIVE UINT64_MAX

typedef PGK_VEC(struct piece) piece_vec;

struct space {
    int32_t pid;
    bool sorted;
    uint32_t name;
    piece_vec past;  /* all pieces, once sorted; else those whose time is over */
    piece_vec alive; /* by start; they do not overlap */
};

enum event_kind { EVENT_MAP, EVENT_FORK, EVENT_EXEC, EVENT_NAME };

struct event {
    uint64_t time;
    uint32_t order; /* in which it was added, if times are equal */
    enum event_kind kind;
    int32_t pid, parent;
    uint32_t what; /* mapping or name */
};

struct pgk_process_map {
    struct pgk_intern texts;
    PGK_VEC(struct pgk_process_file) files;
    struct pgk_index file_index;
    PGK_VEC(struct pgk_process_mapping) mappings;
    PGK_VEC(struct event) events;
    size_t worked_in; /* of the events */
    uint64_t last_time;
    PGK_VEC(struct space) spaces;
    struct pgk_index space_index;
};

int pgk_process_map_new(struct pgk_process_map **map, struct pgk_err *err)
{
    struct pgk_process_map *m = pgk_mem_zalloc(1, sizeof *m);
    if (!m)
        return pgk_fail_nomem(err);
    *map = m;
    return 0;
}

static void forget_spaces(struct pgk_process_map *m)
{
    for (size_t i = 0; i < m->spaces.n; i++) {
        pgk_vec_free(&m->spaces.v[i].past);
        pgk_vec_free(&m->spaces.v[i].alive);
    }
    pgk_vec_free(&m->spaces);
    pgk_index_free(&m->space_index);
    m->worked_in = 0;
    m->last_time = 0;
}

void pgk_process_map_close(struct pgk_process_map **map)
{
    struct pgk_process_map *m = *map;
    if (!m)
        return;
    forget_spaces(m);
    pgk_intern_free(&m->texts);
    pgk_vec_free(&m->files);
    pgk_index_free(&m->file_index);
    pgk_vec_free(&m->mappings);
    pgk_vec_free(&m->events);
    pgk_mem_free(m);
    *map = NULL;
}

static int add_event(struct pgk_process_map *m, struct event e, struct pgk_err *err)
{
    e.order = (uint32_t)m->events.n;
    return pgk_vec_push(&m->events, e) ? 0 : pgk_fail_nomem(err);
}

/* Files are the same if path and build id are. */
static int find_file(struct pgk_process_map *m, const struct pgk_perf_mapping *from, uint32_t *file,
                     struct pgk_err *err)
{
    uint32_t path = pgk_intern(&m->texts, from->path, from->path_len);
    if (path == PGK_INDEX_NONE)
        return pgk_fail_nomem(err);
    struct pgk_process_file f = {.path = pgk_intern_str(&m->texts, path),
                                 .build_id_size = from->build_id_size};
    memcpy(f.build_id, from->build_id, sizeof f.build_id);
    uint64_t hash = pgk_hash_pair(path, pgk_hash_bytes(f.build_id, f.build_id_size));
    PGK_INDEX_FOR (&m->file_index, hash, i) {
        const struct pgk_process_file *known = &m->files.v[i];
        if (known->path == f.path && known->build_id_size == f.build_id_size &&
            !memcmp(known->build_id, f.build_id, f.build_id_size)) {
            *file = i;
            return 0;
        }
    }
    *file = (uint32_t)m->files.n;
    return pgk_vec_push(&m->files, f) && pgk_index_add(&m->file_index, hash, *file)
               ? 0
               : pgk_fail_nomem(err);
}

/* The kernel has the upper half of all addresses, of every processor that we know. perf before 3.13
 * maps it from 0 on and gives the address of its first symbol as the offset, which is 0, too, where
 * users may not see such addresses. */
static void keep_to_kernel(struct pgk_process_mapping *m)
{
    const uint64_t lowest = UINT64_C(1) << 63, end = m->start + m->size;
    if (m->start >= lowest || end <= lowest)
        return;
    m->start = m->file_offset >= lowest && m->file_offset < end ? m->file_offset : lowest;
    m->size = end - m->start;
}

int pgk_process_map_add(struct pgk_process_map *m, const struct pgk_perf_mapping *from,
                        struct pgk_err *err)
{
    struct pgk_process_mapping mapping = {.pid = from->pid,
                                          .start = from->start,
                                          .size = from->size,
                                          .file_offset = from->file_offset,
                                          .prot = from->prot,
                                          .linked = from->linked,
                                          .from_base = from->from_base};
    if (mapping.pid == PGK_PID_KERNEL)
        keep_to_kernel(&mapping);
    PGK_TRY(find_file(m, from, &mapping.file, err));
    if (!pgk_vec_push(&m->mappings, mapping))
        return pgk_fail_nomem(err);
    return add_event(m,
                     (struct event){.time = from->time,
                                    .kind = EVENT_MAP,
                                    .pid = from->pid,
                                    .what = (uint32_t)m->mappings.n - 1},
                     err);
}

int pgk_process_map_task(struct pgk_process_map *m, const struct pgk_perf_task *task,
                         struct pgk_err *err)
{
    struct event e = {.time = task->time, .pid = task->pid, .parent = task->parent};
    switch (task->kind) {
    case PGK_PERF_FORK:
        if (task->pid == task->parent) /* a thread */
            return 0;
        e.kind = EVENT_FORK;
        return add_event(m, e, err);
    case PGK_PERF_EXEC:
    case PGK_PERF_NAME:
        e.kind = task->kind == PGK_PERF_EXEC ? EVENT_EXEC : EVENT_NAME;
        if (e.kind == EVENT_NAME && task->pid != task->tid) /* of a thread */
            return 0;
        e.what = pgk_intern(&m->texts, task->name, task->name_len);
        return e.what == PGK_INDEX_NONE ? pgk_fail_nomem(err) : add_event(m, e, err);
    case PGK_PERF_EXIT: /* of a thread, mostly; a process that ended has no more samples */
        break;
    }
    return 0;
}

static struct space *find_space(const struct pgk_process_map *m, int32_t pid)
{
    PGK_INDEX_FOR (&m->space_index, (uint32_t)pid, i)
        if (m->spaces.v[i].pid == pid)
            return &m->spaces.v[i];
    return NULL;
}

static struct space *make_space(struct pgk_process_map *m, int32_t pid)
{
    struct space *s = find_space(m, pid);
    if (s)
        return s;
    bool added = pgk_vec_push(&m->spaces, (struct space){.pid = pid}) &&
                 pgk_index_add(&m->space_index, (uint32_t)pid, (uint32_t)m->spaces.n - 1);
    return added ? &m->spaces.v[m->spaces.n - 1] : NULL;
}

/* Position of the first piece that ends after `addr`, of pieces that do not overlap. */
static size_t first_behind(const piece_vec *pieces, uint64_t addr)
{
    PGK_SEARCH(low, pieces->n, mid, pieces->v[mid].end <= addr)
    return low;
}

/* Ends the live pieces that begin before `end` and end after `start`; their parts outside continue
 * under the same mapping. */
static bool cut(struct space *s, uint64_t start, uint64_t end, uint64_t time)
{
    struct piece rest[2];
    size_t n_rest = 0, first = first_behind(&s->alive, start), last = first;
    for (; last < s->alive.n && s->alive.v[last].start < end; last++) {
        struct piece p = s->alive.v[last];
        if (p.start < start)
            rest[n_rest++] = (struct piece){p.start, start, time, ALIVE, 0, p.mapping};
        if (p.end > end)
            rest[n_rest++] = (struct piece){end, p.end, time, ALIVE, 0, p.mapping};
        p.until = time;
        if (!pgk_vec_push(&s->past, p))
            return false;
    }
    if (first == last)
        return true; /* nothing was mapped there */
    if (!pgk_vec_reserve(&s->alive, n_rest))
        return false;
    memmove(s->alive.v + first + n_rest, s->alive.v + last,
            (s->alive.n - last) * sizeof *s->alive.v);
    memcpy(s->alive.v + first, rest, n_rest * sizeof *rest);
    s->alive.n += n_rest - (last - first);
    return true;
}

static bool map_into(struct space *s, const struct pgk_process_mapping *m, uint32_t number,
                     uint64_t time)
{
    uint64_t end = m->start + m->size;
    if (end <= m->start) /* empty, or past the end of all addresses */
        return true;
    if (!cut(s, m->start, end, time) || !pgk_vec_reserve(&s->alive, 1))
        return false;
    size_t at = first_behind(&s->alive, m->start);
    memmove(s->alive.v + at + 1, s->alive.v + at, (s->alive.n - at) * sizeof *s->alive.v);
    s->alive.v[at] = (struct piece){m->start, end, time, ALIVE, 0, number};
    s->alive.n++;
    return true;
}

/* Takes back the copies of living pieces that were sorted among the past ones. */
static void unsort(struct space *s)
{
    size_t n = 0;
    if (!s->sorted)
        return;
    s->sorted = false;
    for (size_t i = 0; i < s->past.n; i++)
        if (s->past.v[i].until != ALIVE)
            s->past.v[n++] = s->past.v[i];
    s->past.n = n;
}

static bool end_all(struct space *s, uint64_t time)
{
    return cut(s, 0, UINT64_MAX, time);
}

static bool fork_from(struct pgk_process_map *m, int32_t child, int32_t parent, uint64_t time)
{
    struct space *s = make_space(m, child), *p = find_space(m, parent);
    if (!s)
        return false;
    unsort(s);
    if (!end_all(s, time))
        return false;
    if (!p)
        return true;
    s->name = p->name;
    if (!pgk_vec_reserve(&s->alive, p->alive.n))
        return false;
    for (size_t i = 0; i < p->alive.n; i++) {
        s->alive.v[s->alive.n++] = p->alive.v[i];
        s->alive.v[i].from = time;
    }
    return true;
}

static bool work_in(struct pgk_process_map *m, const struct event *e)
{
    struct space *s;
    if (e->kind == EVENT_FORK)
        return fork_from(m, e->pid, e->parent, e->time);
    if (!(s = make_space(m, e->pid)))
        return false;
    unsort(s);
    if (e->kind != EVENT_MAP) {
        s->name = e->what;
        return e->kind == EVENT_NAME || end_all(s, e->time);
    }
    const struct pgk_process_mapping *mapping = &m->mappings.v[e->what];
    if (!map_into(s, mapping, e->what, e->time))
        return false;
    if (e->pid == PGK_PID_KERNEL)
        return true;
    if (!(s = make_space(m, PGK_PID_UNKNOWN)))
        return false;
    unsort(s);
    return map_into(s, mapping, e->what, e->time);
}

static int by_time(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static int by_start(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static bool sort_space(struct space *s)
{
    if (s->sorted)
        return true;
    if (!pgk_vec_reserve(&s->past, s->alive.n))
        return false;
    if (s->alive.n)
        memcpy(s->past.v + s->past.n, s->alive.v, s->alive.n * sizeof *s->alive.v);
    s->past.n += s->alive.n;
    if (s->past.n)
        qsort(s->past.v, s->past.n, sizeof *s->past.v, by_start);
    uint64_t reach = 0;
    for (size_t i = 0; i < s->past.n; i++) {
        reach = s->past.v[i].end > reach ? s->past.v[i].end : reach;
        s->past.v[i].reach = reach;
    }
    s->sorted = true;
    return true;
}

int pgk_process_map_ready(struct pgk_process_map *m, struct pgk_err *err)
{
    if (m->worked_in == m->events.n)
        return 0;
    size_t more = m->events.n - m->worked_in;
    qsort(m->events.v + m->worked_in, more, sizeof *m->events.v, by_time);
    if (m->events.v[m->worked_in].time < m->last_time) { /* begin anew */
        forget_spaces(m);
        qsort(m->events.v, m->events.n, sizeof *m->events.v, by_time);
    }
    for (; m->worked_in < m->events.n; m->worked_in++) {
        m->last_time = m->events.v[m->worked_in].time;
        if (!work_in(m, &m->events.v[m->worked_in]))
            return pgk_fail_nomem(err);
    }
    for (size_t i = 0; i < m->spaces.n; i++)
        if (!sort_space(&m->spaces.v[i]))
            return pgk_fail_nomem(err);
    return 0;
}

static const struct piece *find_piece(const struct space *s, uint64_t time, uint64_t addr)
{
    /* the first piece that starts after `addr` */
    PGK_SEARCH(low, s ? s->past.n : 0, mid, s->past.v[mid].start <= addr)
    while (low-- > 0 && s->past.v[low].reach > addr) {
        const struct piece *p = &s->past.v[low];
        if (addr < p->end && p->from <= time && time < p->until)
            return p;
    }
    return NULL;
}

struct pgk_process_place pgk_process_map_find(const struct pgk_process_map *m, int32_t pid,
                                              uint64_t time, uint64_t addr)
{
    const struct space *s = find_space(m, pid);
    const struct piece *p = find_piece(s ? s : find_space(m, PGK_PID_UNKNOWN), time, addr);
    if (!p)
        p = find_piece(find_space(m, PGK_PID_KERNEL), time, addr);
    if (!p)
        return (struct pgk_process_place){addr, addr, time, time, NULL};
    return (struct pgk_process_place){p->start, p->end, p->from, p->until,
                                      &m->mappings.v[p->mapping]};
}

const struct pgk_process_file *pgk_process_map_files(const struct pgk_process_map *m, size_t *n)
{
    *n = m->files.n;
    return m->files.v;
}

const char *pgk_process_map_name(const struct pgk_process_map *m, int32_t pid)
{
    const struct space *s = find_space(m, pid);
    return s ? pgk_intern_str(&m->texts, s->name) : "";
}
