/* Threads on a heap report page: those that contexts on it are of. */
#include "heap_page.h"

#include "heap_threads.h"

static const struct pgk_mib *mib_of(const struct pgk_heap_page *p, size_t row)
{
    const struct pgk_mib *now = pgk_heap_page_now(p, row, PGK_MIB_SPACE);
    return now ? now : pgk_heap_page_before(p, row, PGK_MIB_SPACE);
}

static bool is_cut(const struct pgk_mib *m)
{
    return (m->known >> PGK_MIB_CutSize & 1) && m->v[PGK_MIB_CutSize];
}

static uint32_t thread_of(const struct pgk_heap_page *p, size_t row, const char *program)
{
    if (is_cut(mib_of(p, row)))
        return PGK_THREAD_UNKNOWN;
    return pgk_frames_thread(&p->align.frames, p->rows[row].pair.node, program);
}

int pgk_heap_page_threads(struct pgk_heap_page *p, struct pgk_err *err)
{
    struct pgk_heap_recording r = {.struct_size = sizeof r, .program = ""};
    pgk_heap_recording(p->now, &r);
    p->thread_of = pgk_mem_alloc(p->n_shown + 1, sizeof *p->thread_of);
    if (!p->thread_of ||
        !pgk_page_table_init(&p->threads, PGK_THREAD_FUNC + p->align.frames.funcs.n))
        return pgk_fail_nomem(err);
    for (size_t i = 0; i < p->n_shown; i++) {
        const uint32_t thread = thread_of(p, i, r.program);
        if (!pgk_page_table_add(&p->threads, thread))
            return pgk_fail_nomem(err);
        p->thread_of[i] = p->threads.number_of[thread] - 1;
        p->knows_threads |= thread >= PGK_THREAD_FUNC;
    }
    return 0;
}

void pgk_heap_page_threads_free(struct pgk_heap_page *p)
{
    pgk_page_table_free(&p->threads);
    pgk_mem_free(p->thread_of);
}
