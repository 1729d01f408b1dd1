/* What a heap profile tells of its processes. docs/formats/partial-heap.md */
#include "heap_origin_part.h"

#include <inttypes.h>
#include <string.h>

bool pgk_heap_origin_is_known(const struct pgk_heap_origin *o)
{
    return memcmp(o, &(struct pgk_heap_origin){0}, sizeof *o) != 0;
}

void pgk_heap_origin_write(const struct pgk_heap_origin *o, struct pgk_sink *out)
{
#define PGK_ORIGIN(name, rule, meaning) pgk_sink_uleb(out, o->name);
#define PGK_ORIGIN_SAMPLED(name, rule, meaning)
#include "heap_origin.def"
#undef PGK_ORIGIN
}

void pgk_heap_origin_write_sampled(const struct pgk_heap_origin *o, struct pgk_sink *out)
{
#define PGK_ORIGIN(name, rule, meaning)
#define PGK_ORIGIN_SAMPLED(name, rule, meaning) pgk_sink_uleb(out, o->name);
#include "heap_origin.def"
#undef PGK_ORIGIN
}

/* A number of processes; `all`: how many there are. */
static int read_part(struct pgk_cursor *c, const char *record, const char *hint, const char *field,
                     uint64_t all, uint64_t *v, struct pgk_err *err)
{
    const uint64_t off = pgk_cur_off(c);
    *v = pgk_cur_uleb(c, field);
    PGK_TRY(pgk_cur_check(c, err, record));
    return *v <= all ? 0
                     : pgk_cur_reject(c, err, PGK_E_CORRUPT, off, .record = record, .field = field,
                                      .found = PGK_F("%" PRIu64, *v),
                                      .expected = PGK_F("at most the %" PRIu64 " process%s", all,
                                                        all == 1 ? "" : "es"),
                                      .hint = hint);
}

int pgk_heap_origin_read(struct pgk_cursor *c, const char *record, const char *hint,
                         struct pgk_heap_origin *o, struct pgk_err *err)
{
#define PGK_ORIGIN(name, rule, meaning) o->name = pgk_cur_uleb(c, #name);
#define PGK_ORIGIN_PART(name, rule, meaning) \
    PGK_TRY(read_part(c, record, hint, #name, o->processes, &o->name, err));
#define PGK_ORIGIN_SAMPLED(name, rule, meaning)
#include "heap_origin.def"
#undef PGK_ORIGIN
    return pgk_cur_check(c, err, record);
}

int pgk_heap_origin_read_sampled(struct pgk_cursor *c, const char *record, const char *hint,
                                 struct pgk_heap_origin *o, struct pgk_err *err)
{
#define PGK_ORIGIN(name, rule, meaning)
#define PGK_ORIGIN_SAMPLED(name, rule, meaning) o->name = pgk_cur_uleb(c, #name);
#define PGK_ORIGIN_SAMPLED_PART(name, rule, meaning) \
    PGK_TRY(read_part(c, record, hint, #name, o->processes, &o->name, err));
#include "heap_origin.def"
#undef PGK_ORIGIN
    return pgk_cur_check(c, err, record);
}

/* Is it so of all processes, as far as anybody knows? */
static bool all_are(const struct pgk_heap_origin *o, uint64_t processes)
{
    return processes && processes == o->processes && !o->others;
}

void pgk_heap_origin_note(const struct pgk_heap_read_info *read, struct pgk_file_info *info)
{
    const struct pgk_heap_origin *o = &read->origin;
    info->version = read->version;
    info->facts[PGK_FACT_PROCESSES] = o->processes;
    info->facts[PGK_FACT_OTHER_PROFILES] = o->others;
    info->facts[PGK_FACT_DUMPS] = o->dumps;
    info->facts[PGK_FACT_INTERRUPTED] = o->interrupted;
    info->facts[PGK_FACT_OBJECTS_ALIVE] = o->alive;
    info->facts[PGK_FACT_RECORDING_NS] = o->own_ns;
    info->facts[PGK_FACT_RECORDING_BYTES] = o->own_bytes;
    info->facts[PGK_FACT_SAMPLED] = o->sampled;
    info->facts[PGK_FACT_SAMPLE_BYTES] = o->sample_bytes;
    info->facts[PGK_FACT_LIBRARY_ACCESSES] = all_are(o, o->library_accesses);
    info->facts[PGK_FACT_ONE_THREAD] = all_are(o, o->one_thread);
}

void pgk_heap_origin_describe(const struct pgk_file_info *info, struct pgk_info_text *text)
{
    const unsigned long long processes = info->facts[PGK_FACT_PROCESSES],
                             others = processes ? info->facts[PGK_FACT_OTHER_PROFILES] : 0,
                             interrupted = info->facts[PGK_FACT_INTERRUPTED],
                             alive = info->facts[PGK_FACT_OBJECTS_ALIVE],
                             sampled = info->facts[PGK_FACT_SAMPLED];
    if (processes > 1 || others)
        pgk_info_add(text, ", of %llu process%s", processes, processes == 1 ? "" : "es");
    if (others)
        pgk_info_add(text, " and %llu other profile%s", others, pgk_plural(others));
    if (interrupted && (processes > 1 || others))
        pgk_info_add(text, ", %llu interrupted", interrupted);
    else if (interrupted)
        pgk_info_add(text, info->facts[PGK_FACT_RUNNING] ? ", still running" : ", interrupted");
    if (alive)
        pgk_info_add(text, " with %llu object%s alive", alive, pgk_plural(alive));
    if (sampled && sampled < processes + others)
        pgk_info_add(text, ", %llu sampled", sampled);
    else if (sampled)
        pgk_info_add(text, ", sampled");
    if (info->facts[PGK_FACT_LIBRARY_ACCESSES])
        pgk_info_add(text, ", accesses of library functions only");
}
