/* When code was first seen to run. */
#include "first_runs.h"

#include "hash.h"
#include "sample_origin.h"

bool pgk_first_runs_see(struct pgk_first_runs *runs, uint64_t addr, uint64_t time)
{
    const uint64_t hash = pgk_hash_u64(addr);
    PGK_INDEX_FOR (&runs->index, hash, i) {
        struct pgk_first_run *r = &runs->v.v[i];
        if (r->addr == addr) {
            r->time = time < r->time ? time : r->time;
            return true;
        }
    }
    return pgk_vec_push(&runs->v, (struct pgk_first_run){addr, time}) &&
           pgk_index_add(&runs->index, hash, (uint32_t)runs->v.n - 1);
}

bool pgk_first_runs_move(struct pgk_first_runs *into, struct pgk_first_runs *from, uint64_t start)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->v.n; i++)
        ok = pgk_first_runs_see(into, from->v.v[i].addr, from->v.v[i].time - start + 1);
    pgk_first_runs_free(from);
    return ok;
}

bool pgk_first_runs_tell(const struct pgk_first_runs *runs, const struct pgk_functions *functions,
                         struct pgk_frame_names *names, struct pgk_sample *profile)
{
    for (size_t i = 0; i < runs->v.n; i++) {
        const struct pgk_function_range *r = pgk_functions_at(functions, runs->v.v[i].addr);
        if (!r)
            continue;
        uint32_t name = pgk_frame_name(names, functions->functions.v[r->function].name);
        if (!name || !pgk_sample_add_origin(profile, name, NULL, 0, runs->v.v[i].time))
            return false;
    }
    return true;
}

void pgk_first_runs_free(struct pgk_first_runs *runs)
{
    pgk_index_free(&runs->index);
    pgk_vec_free(&runs->v);
}
