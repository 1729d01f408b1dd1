/* From an address of a running process to one of a binary. */
#include "address_space.h"

#include <stdio.h>
#include <string.h>

int pgk_address_space_open(struct pgk_address_space *space, const struct pgk_binaries *binaries,
                           struct pgk_err *err)
{
    *space = (struct pgk_address_space){.binaries = binaries};
    return pgk_process_map_new(&space->map, err);
}

void pgk_address_space_close(struct pgk_address_space *space)
{
    pgk_process_map_close(&space->map);
    pgk_vec_free(&space->binary_of_file);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void note_foreign(struct pgk_address_space *space, const struct pgk_process_file *file,
                         const struct pgk_elf *elf, const uint8_t *id, size_t id_size)
{
    char recorded[PGK_BUILD_ID_TEXT], given[PGK_BUILD_ID_TEXT];
    if (!space->foreign++)
        snprintf(space->foreign_text, sizeof space->foreign_text,
                 "%s ran with build id %s, %s has %s", file->path,
                 pgk_build_id_text(recorded, file->build_id, file->build_id_size),
                 pgk_elf_path(elf), pgk_build_id_text(given, id, id_size));
}

static uint32_t match_file(struct pgk_address_space *space, const struct pgk_process_file *file)
{
    uint32_t found = pgk_binaries_find(space->binaries, file->build_id, file->build_id_size);
    if (found != PGK_INDEX_NONE)
        return found;
    for (uint32_t i = 0; i < pgk_binaries_count(space->binaries); i++) {
        const struct pgk_elf *elf = pgk_binaries_elf(space->binaries, i);
        size_t id_size;
        const uint8_t *id = pgk_elf_build_id(elf, &id_size);
        if (strcmp(base_name(file->path), base_name(pgk_elf_path(elf))) != 0)
            continue;
        if (!id_size || !file->build_id_size)
            return i;
        note_foreign(space, file, elf, id, id_size);
    }
    return PGK_NO_BINARY;
}

int pgk_address_space_add(struct pgk_address_space *space, const struct pgk_perf_mapping *mapping,
                          struct pgk_err *err)
{
    size_t n;
    PGK_TRY(pgk_process_map_add(space->map, mapping, err));
    const struct pgk_process_file *files = pgk_process_map_files(space->map, &n);
    while (space->binary_of_file.n < n) {
        uint32_t binary = match_file(space, &files[space->binary_of_file.n]);
        space->any_matched |= binary != PGK_NO_BINARY;
        if (!pgk_vec_push(&space->binary_of_file, binary))
            return pgk_fail_nomem(err);
    }
    return 0;
}

/* Whether a mapping from that offset on shows the segment. */
static bool shows(const struct pgk_segment *s, uint64_t file_offset)
{
    enum { PAGE = 4096 };
    uint64_t low = s->offset & ~(uint64_t)(PAGE - 1);
    uint64_t high = (s->offset + s->filesz + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    return file_offset >= low && file_offset < high;
}

/* Where the first byte of a mapping lies in its binary. Segments share pages of the file: the one
 * with the mapping's protection comes first. */
static bool link_address(const struct pgk_elf *elf, const struct pgk_process_mapping *m,
                         uint64_t *addr)
{
    size_t n;
    const struct pgk_segment *s = pgk_elf_segments(elf, &n), *found = NULL;
    for (size_t i = 0; i < n; i++) {
        bool same = s[i].executable == !!(m->prot & PGK_PROT_EXEC);
        if (shows(&s[i], m->file_offset) && (!found || same)) {
            found = &s[i];
            if (same)
                break;
        }
    }
    if (found)
        *addr = found->vaddr - found->offset + m->file_offset;
    return found;
}

struct pgk_address_window pgk_address_window(const struct pgk_address_space *space, int32_t pid,
                                             uint64_t time, uint64_t addr)
{
    struct pgk_process_place place = pgk_process_map_find(space->map, pid, time, addr);
    struct pgk_address_window w = {place.start, place.end, place.from,   place.until,
                                   pid,         0,         PGK_NO_BINARY};
    uint64_t first;
    if (!place.mapping)
        return w;
    uint32_t binary = space->binary_of_file.v[place.mapping->file];
    if (binary == PGK_NO_BINARY ||
        !link_address(pgk_binaries_elf(space->binaries, binary), place.mapping, &first))
        return w;
    w.binary = binary;
    w.bias = place.mapping->start - first;
    return w;
}
