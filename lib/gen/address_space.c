/* From an address of a running process to one of a binary. */
#include "address_space.h"

#include "hex.h"
#include "path.h"

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

/* Whether `path` as it was recorded is that path, or ends with that name. */
static bool is_called(const char *path, const char *name)
{
    static const char deleted[] = " (deleted)";
    size_t n = strlen(path), end = sizeof deleted - 1;
    if (!strcmp(path, name))
        return true;
    if (n > end && !strcmp(path + n - end, deleted))
        n -= end;
    const char *start = strchr(name, '/') ? path : pgk_base_name(path);
    size_t len = n - (size_t)(start - path);
    return strlen(name) == len && !memcmp(start, name, len);
}

static uint32_t known_file(const struct pgk_address_space *space, const char *path)
{
    for (size_t i = 0; space->known && i < space->known->n; i++)
        if (is_called(path, space->known->v[i].recorded))
            return space->known->v[i].binary;
    return PGK_NO_BINARY;
}

static void note_foreign(struct pgk_address_space *space, const struct pgk_process_file *file,
                         const struct pgk_elf *elf, const uint8_t *id, size_t id_size)
{
    char recorded[PGK_BUILD_ID_TEXT], given[PGK_BUILD_ID_TEXT];
    if (!space->foreign++)
        snprintf(space->foreign_text, sizeof space->foreign_text,
                 "build id %s, the given file has %s (%s)",
                 pgk_build_id_text(recorded, file->build_id, file->build_id_size),
                 pgk_build_id_text(given, id, id_size), pgk_elf_path(elf));
}

static uint32_t match_file(struct pgk_address_space *space, const struct pgk_process_file *file)
{
    static const char kernel[] = "[kernel.kallsyms]";
    if (space->kernel && !strncmp(file->path, kernel, strlen(kernel)))
        return 0;
    uint32_t found = known_file(space, file->path);
    if (found != PGK_NO_BINARY)
        return found;
    found = pgk_binaries_find(space->binaries, file->build_id, file->build_id_size);
    if (found != PGK_INDEX_NONE)
        return found;
    for (uint32_t i = 0; i < pgk_binaries_count(space->binaries); i++) {
        const struct pgk_elf *elf = pgk_binaries_elf(space->binaries, i);
        size_t id_size;
        const uint8_t *id = pgk_elf_build_id(elf, &id_size);
        if (!is_called(file->path, pgk_base_name(pgk_elf_path(elf))))
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

enum { PAGE = 4096 };

/* Whether the byte of the file belongs to the segment, or at least its page. */
static bool holds(const struct pgk_segment *s, uint64_t off, bool page)
{
    uint64_t low = s->offset, high = s->offset + s->filesz;
    if (page) {
        low &= ~(uint64_t)(PAGE - 1);
        high = (high + PAGE - 1) & ~(uint64_t)(PAGE - 1);
    }
    return off >= low && off < high;
}

/* The segment that a byte of the file was mapped for. Segments share pages of the file: the one
 * with the byte comes first, and among several the one with the mapping's protection. */
static const struct pgk_segment *segment_of(const struct pgk_elf *elf,
                                            const struct pgk_process_mapping *m, uint64_t off,
                                            bool page)
{
    size_t n;
    const struct pgk_segment *s = pgk_elf_segments(elf, &n), *found = NULL;
    for (size_t i = 0; i < n; i++) {
        bool same = s[i].executable == !!(m->prot & PGK_PROT_EXEC);
        if (!holds(&s[i], off, page) || (found && !same))
            continue;
        found = &s[i];
        if (same)
            break;
    }
    return found;
}

/* Cuts the window to the bytes of the file from `low` to `high`. */
static void cut(struct pgk_address_window *w, const struct pgk_process_mapping *m, uint64_t low,
                uint64_t high)
{
    uint64_t start = m->start + (low > m->file_offset ? low - m->file_offset : 0);
    uint64_t end = m->start + (high - m->file_offset);
    w->start = start > w->start ? start : w->start;
    w->end = end < w->end ? end : w->end;
}

/* The kernel is mapped as a whole, wherever it was put when the machine started. */
static uint64_t kernel_bias(const struct pgk_elf *elf, const struct pgk_process_mapping *m)
{
    size_t n;
    const struct pgk_segment *s = pgk_elf_segments(elf, &n);
    for (size_t i = 0; i < n; i++)
        if (s[i].executable)
            return m->start - s[i].vaddr;
    return 0;
}

/* Of the first segment, where a file that is linked at an address is loaded. */
static uint64_t first_address(const struct pgk_elf *elf)
{
    size_t n;
    const struct pgk_segment *s = pgk_elf_segments(elf, &n);
    uint64_t first = n ? s[0].vaddr - s[0].offset : 0;
    for (size_t i = 1; i < n; i++)
        if (s[i].vaddr - s[i].offset < first)
            first = s[i].vaddr - s[i].offset;
    return first;
}

struct pgk_address_window pgk_address_window(const struct pgk_address_space *space, int32_t pid,
                                             uint64_t time, uint64_t addr)
{
    struct pgk_process_place place = pgk_process_map_find(space->map, pid, time, addr);
    struct pgk_address_window w = {place.start, place.end, place.from,   place.until,
                                   pid,         0,         PGK_NO_BINARY};
    const struct pgk_process_mapping *m = place.mapping;
    if (!m)
        return w;
    uint32_t binary = space->binary_of_file.v[m->file];
    if (binary == PGK_NO_BINARY)
        return w;
    const struct pgk_elf *elf = pgk_binaries_elf(space->binaries, binary);
    if (m->pid == PGK_PID_KERNEL) {
        w.binary = binary;
        w.bias = kernel_bias(elf, m);
        return w;
    }
    if (m->linked || m->from_base) {
        w.binary = binary;
        w.bias = m->start - m->file_offset - (m->from_base ? first_address(elf) : 0);
        return w;
    }
    uint64_t off = addr - m->start + m->file_offset, page = off & ~(uint64_t)(PAGE - 1);
    const struct pgk_segment *s = segment_of(elf, m, off, false);
    if (s)
        cut(&w, m, s->offset, s->offset + s->filesz);
    else if ((s = segment_of(elf, m, off, true)))
        cut(&w, m, page, off + 1);
    if (!s)
        return w;
    w.binary = binary;
    w.bias = m->start - m->file_offset - (s->vaddr - s->offset);
    return w;
}
