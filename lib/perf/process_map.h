/* Which file lay at an address of a process at a time.
 *
 * Mappings and tasks are taken in in any order; pgk_process_map_ready then works out the lifetime
 * of every piece of every address space: a mapping ends where a later one covers it, and with the
 * exec or the end of its process; a fork begins with what its parent has. Samples of processes
 * whose mappings were not recorded, and those of a text without processes, see the mappings of all
 * processes together. */
#ifndef PGK_PROCESS_MAP_H
#define PGK_PROCESS_MAP_H

#include "perf_event.h"

struct pgk_process_map;

/* A mapping that was taken in. `path` is NUL-terminated and lives as long as the map. */
struct pgk_process_mapping {
    int32_t pid;
    uint32_t file; /* position among the files: path and build id */
    uint64_t start, size, file_offset;
    uint32_t prot;
    bool linked, from_base;
};

struct pgk_process_file {
    const char *path;
    uint8_t build_id[PGK_BUILD_ID_MAX];
    uint32_t build_id_size;
};

int pgk_process_map_new(struct pgk_process_map **map, struct pgk_err *err);
void pgk_process_map_close(struct pgk_process_map **map);

int pgk_process_map_add(struct pgk_process_map *map, const struct pgk_perf_mapping *mapping,
                        struct pgk_err *err);
int pgk_process_map_task(struct pgk_process_map *map, const struct pgk_perf_task *task,
                         struct pgk_err *err);

/* Works in what was added since the last call; cheap if that is nothing. */
int pgk_process_map_ready(struct pgk_process_map *map, struct pgk_err *err);

/* A stretch of addresses that shows one mapping for some time. */
struct pgk_process_place {
    uint64_t start, end;
    uint64_t from, until;
    const struct pgk_process_mapping *mapping; /* NULL: nothing was mapped there */
};
/* The place of `addr` in process `pid` (PGK_PID_UNKNOWN: in any) at `time`. PGK_PID_KERNEL's
 * mappings belong to every process. The map must be ready; then any number of threads may ask. */
struct pgk_process_place pgk_process_map_find(const struct pgk_process_map *map, int32_t pid,
                                              uint64_t time, uint64_t addr);

/* All distinct files that were mapped. */
const struct pgk_process_file *pgk_process_map_files(const struct pgk_process_map *map, size_t *n);
/* Name that a process had last; "" unknown. */
const char *pgk_process_map_name(const struct pgk_process_map *map, int32_t pid);

#endif
