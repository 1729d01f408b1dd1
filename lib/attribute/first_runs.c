/* When code was first seen to run. */
#include "first_runs.h"

#include "hash.h"
#include "sample_origin.h"

bool pgk_first_runs_see(struct pgk_first_runs *runs, uint64_t addr, uint64_t time)
{
    const uint64_t hash = pgk_hash_u64(addr);
    PGK_INDEX_FOR (&runs->index, hash, i) {
        struct pgk_first_run *r = &runs->list.v[i];
        if (r->addr == addr) {
            r->time = time < r->time ? time : r->time;
            return true;
        }
    }
    return pgk_vec_push(&runs->list, (struct pgk_first_run){addr, time}) &&
           pgk_index_add(&runs->index, hash, (uint32_t)runs->list.n - 1);
}

bool pgk_first_runs_move(struct pgk_first_runs *into, struct pgk_first_runs *from, uint64_t start)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->list.n; i++)
        ok = pgk_first_runs_see(into, from->list.v[i].addr, from->list.v[i].time - start + 1);
    pgk_first_runs_free(from);
    return ok;
}

bool pgk_first_runs_add_to(const struct pgk_first_runs *runs, const struct pgk_functions *functions,
                           struct pgk_frame_names *names, struct pgk_sample *profile)
{
    for (size_t i = 0; i < runs->list.n; i++) {
        const struct pgk_function_range *r = pgk_functions_at(functions, runs->list.v[i].addr);
        if (!r)
            continue;
        uint32_t name = pgk_frame_name(names, functions->functions.v[r->function].name);
        if (!name || !pgk_sample_add_origin(profile, name, NULL, 0, runs->list.v[i].time))
            return false;
    }
    return true;
}

void pgk_first_runs_free(struct pgk_first_runs *runs)
{
    pgk_index_free(&runs->index);
    pgk_vec_free(&runs->list);
}
