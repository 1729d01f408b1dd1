/* Executable segments of the process, as the raw profile lists them. The list only grows: a
 * library that was closed stays, so that its addresses can still be named. */
#include "pgrt.h"

#include <elf.h>
#include <link.h>

enum { SEGMENTS_MAX = 4096 };

static struct pgrt_segment *segments;
static u32 count;

u32 pgrt_modules(const struct pgrt_segment **list)
{
    *list = segments;
    return __atomic_load_n(&count, __ATOMIC_ACQUIRE);
}

bool pgrt_modules_know(u64 pc)
{
    u32 n = __atomic_load_n(&count, __ATOMIC_ACQUIRE);
    for (u32 i = 0; i < n; i++)
        if (pc - segments[i].start < segments[i].end - segments[i].start)
            return true;
    return false;
}

/* The GNU build id among the notes of a module. */
static void find_build_id(const struct dl_phdr_info *info, struct pgrt_segment *s)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_NOTE)
            continue;
        size_t align = p->p_align == 8 ? 8 : 4;
        const char *at = (const char *)(info->dlpi_addr + p->p_vaddr), *end = at + p->p_memsz;
        while ((size_t)(end - at) >= sizeof(ElfW(Nhdr))) {
            const ElfW(Nhdr) *note = (const void *)at;
            size_t name = (note->n_namesz + 3) & ~(size_t)3;
            const char *desc = at + ((sizeof *note + name + align - 1) & ~(align - 1));
            size_t size = (note->n_descsz + align - 1) & ~(align - 1);
            if (desc > end || size > (size_t)(end - desc))
                break;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
                *(const u32 *)(const void *)(note + 1) == 0x00554e47) {
                s->id_size = note->n_descsz < sizeof s->id ? note->n_descsz : sizeof s->id;
                pgrt_copy(s->id, desc, s->id_size);
                return;
            }
            at = desc + size;
        }
    }
}

/* Runs under the dynamic linker's own lock, which is what keeps two threads apart here. */
static int add_module(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || !p->p_memsz)
            continue;
        struct pgrt_segment s = {.bias = info->dlpi_addr, .start = info->dlpi_addr + p->p_vaddr};
        s.end = s.start + p->p_memsz;
        u32 known = 0;
        while (known < count && (segments[known].start != s.start || segments[known].end != s.end))
            known++;
        if (known < count || count == SEGMENTS_MAX)
            continue;
        find_build_id(info, &s);
        segments[count] = s;
        __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    }
    return 0;
}

void pgrt_modules_refresh(void)
{
    if (!segments)
        segments = pgrt_map(SEGMENTS_MAX * sizeof *segments);
    if (segments)
        dl_iterate_phdr(add_module, NULL);
}
