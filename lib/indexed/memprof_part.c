/* Contexts of a MemProf section that concern some functions. Stacks share their callers in the
 * radix array, so that going from each stack's leaf up to what was visited before looks at each
 * element once. */
#include "memprof_part.h"

#include "u64_set.h"

#include <inttypes.h>

/* One bit is enough to reject most functions of a large profile. */
enum { FILTER_BITS = 1 << 14, WORD_BITS = 64 };

static uint64_t filter_bit(uint64_t guid)
{
    return guid % FILTER_BITS;
}

static bool has_columns(const uint8_t *frames, uint64_t n)
{
    enum { COLUMN = 12 };
    for (; n; n--, frames += PGK_MEMPROF_FRAME_SIZE) {
        uint32_t column;
        memcpy(&column, frames + COLUMN, sizeof column);
        if (column)
            return true;
    }
    return false;
}

int pgk_part_open(struct pgk_memprof_part *part, const struct pgk_cursor *stacks,
                  const uint8_t *frames, uint64_t n_frames, const uint8_t *radix,
                  uint64_t n_radix, struct pgk_err *err)
{
    part->stacks = *stacks;
    part->frames = frames;
    part->n_frames = n_frames;
    part->radix = radix;
    part->n_radix = n_radix;
    part->whole.columns = has_columns(frames, n_frames);
    part->filter = pgk_mem_zalloc(FILTER_BITS / WORD_BITS, sizeof *part->filter);
    part->visited = pgk_mem_zalloc(n_radix / 8 + 1, 1);
    part->met = pgk_mem_zalloc(n_radix + 1, sizeof *part->met);
    if (!part->filter || !part->visited || !part->met)
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < part->n_functions; i++) {
        uint64_t bit = filter_bit(part->functions[i]);
        part->filter[bit / WORD_BITS] |= UINT64_C(1) << bit % WORD_BITS;
    }
    return 0;
}

void pgk_part_close(struct pgk_memprof_part *part)
{
    pgk_mem_free(part->filter);
    pgk_mem_free(part->visited);
    pgk_mem_free(part->met);
    pgk_vec_free(&part->contexts);
}

static bool is_wanted(const struct pgk_memprof_part *part, uint32_t frame)
{
    uint64_t guid;
    memcpy(&guid, part->frames + (size_t)frame * PGK_MEMPROF_FRAME_SIZE, sizeof guid);
    uint64_t bit = filter_bit(guid);
    return part->filter[bit / WORD_BITS] >> bit % WORD_BITS & 1 &&
           pgk_u64_find(part->functions, part->n_functions, guid) < part->n_functions;
}

static uint32_t element(const struct pgk_memprof_part *part, uint64_t at)
{
    uint32_t v;
    memcpy(&v, part->radix + at * sizeof v, sizeof v);
    return v;
}

static int reject(const struct pgk_memprof_part *part, uint64_t at, const char *found,
                  const char *expected, struct pgk_err *err)
{
    return pgk_cur_reject(&part->stacks, err, PGK_E_CORRUPT,
                          part->stacks.src.base_off + at * sizeof(uint32_t),
                          .record = "call stacks", .field = "element", .found = found,
                          .expected = expected, .hint = "write the profile again");
}

static bool visit(const struct pgk_memprof_part *part, uint64_t at)
{
    uint8_t bit = (uint8_t)(1u << at % 8);
    bool before = part->visited[at / 8] & bit;
    part->visited[at / 8] |= bit;
    return before;
}

/* Goes up to what was visited before: whoever came there first is wanted for what is above. */
static int look_at(const struct pgk_memprof_part *part, uint32_t start, bool *wanted,
                   struct pgk_err *err)
{
    uint32_t n = element(part, start);
    if (!n)
        return reject(part, start, "a stack without frames", "at least one", err);
    for (uint64_t at = (uint64_t)start + 1, i = 0; i < n; i++, at++) {
        if (at < part->n_radix && element(part, at) >> 31) /* a jump to a shared caller */
            at += (uint32_t)-element(part, at);
        if (at >= part->n_radix)
            return reject(part, start, "a stack that runs past the end", "all its frames", err);
        uint32_t frame = element(part, at);
        if (frame >= part->n_frames)
            return reject(part, at, PGK_F("frame %u", frame),
                          PGK_F("below %" PRIu64, part->n_frames), err);
        if (i && visit(part, at)) /* the leaf allocates, which is another thing than to call */
            return 0;
        *wanted |= is_wanted(part, frame);
    }
    return 0;
}

int pgk_part_begin_record(struct pgk_memprof_part *part, struct pgk_err *err)
{
    part->contexts.n = 0;
    part->record++;
    return pgk_vec_reserve(&part->contexts, 1) ? 0 : pgk_fail_nomem(err);
}

int pgk_part_count(struct pgk_memprof_part *part, uint32_t start, const struct pgk_mib *mib,
                   bool *wanted, struct pgk_err *err)
{
    if (start >= part->n_radix)
        return reject(part, start, PGK_F("call stack %u", start),
                      PGK_F("below %" PRIu64, part->n_radix), err);
    struct pgk_part_stack *met = &part->met[start];
    *wanted = false;
    if (met->record && met->record != part->record)
        return 0;
    if (met->record) {
        struct pgk_part_context *context = &part->contexts.v[met->slot];
        *wanted = context->wanted;
        return pgk_mib_add(&context->mib, mib, NULL) ? 0 : pgk_fail_nomem(err);
    }
    PGK_TRY(look_at(part, start, wanted, err));
    *met = (struct pgk_part_stack){part->record, (uint32_t)part->contexts.n};
    struct pgk_part_context context = {*mib, *wanted};
    return pgk_vec_push(&part->contexts, context) ? 0 : pgk_fail_nomem(err);
}

void pgk_part_end_record(struct pgk_memprof_part *part)
{
    for (size_t i = 0; i < part->contexts.n; i++)
        pgk_heap_whole_add(&part->whole, &part->contexts.v[i].mib);
}
