/* Executable segments of the process, from the dynamic linker. */
#include "guest_modules.h"

#include "guest_bytes.h"
#include "guest_memory.h"
#include "guest_sys.h"
#include "guest_text.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/auxv.h>

enum { SEGMENTS_MAX = 4096, NAMES_BYTES = 32 << 10 };

bool pgg_modules_ready;

static struct pgg_segment *segments;
static u32 count;
static volatile u32 adding; /* one thread at a time */
/* Paths of the segments, each with a zero byte, and where they are; 0 is the empty one. */
static char names[NAMES_BYTES];
static u32 names_used = 1, name_at[SEGMENTS_MAX];

/* Modules as they were when an address of theirs was last looked up. */
static struct module {
    const char *start, *end;
    const void *tables;
} modules[SEGMENTS_MAX];
static u32 module_count;

u32 pgg_modules(const struct pgg_segment **list)
{
    *list = segments;
    return __atomic_load_n(&count, __ATOMIC_ACQUIRE);
}

const char *pgg_module_path(u32 segment)
{
    return names + name_at[segment];
}

static bool has_slash(const char *name)
{
    while (*name && *name != '/')
        name++;
    return *name;
}

/* The program has no name in the list of the dynamic linker, and a library that was opened by a
 * relative path has that one. */
static void put_path(struct pgg_text *t, const char *name)
{
    long n = 0;
    if (*name == '/') {
        pgg_text_str(t, name);
    } else if (pgg_confined) {
        return;
    } else if (!*name) {
        n = pgg_sys_read_link("/proc/self/exe", t->at, (size_t)(t->end - t->at));
        t->at += n > 0 ? n : 0;
    } else if (has_slash(name)) {
        n = pgg_sys_directory(t->at, (size_t)(t->end - t->at));
        if (n <= 0 || *t->at != '/')
            return;
        t->at += pgg_strlen(t->at);
        pgg_text_str(t, "/");
        pgg_text_str(t, name);
    }
}

/* Where the path of a module is kept; 0: it is not known, or there is no space. */
static u32 keep_path(const char *name)
{
    struct pgg_text t;
    char *at = names + names_used;
    pgg_text_init(&t, at, NAMES_BYTES - names_used);
    put_path(&t, name ? name : "");
    if (t.at == at || t.at == t.end) {
        *at = 0;
        return 0;
    }
    *t.at = 0;
    const u32 kept = names_used;
    names_used += (u32)(t.at - at) + 1;
    return kept;
}

/* The GNU build id among the notes of a module. */
static void find_build_id(const struct dl_phdr_info *info, struct pgg_segment *s)
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
                pgg_copy(s->id, desc, s->id_size);
                return;
            }
            at = desc + size;
        }
    }
}

static void add_module(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X) || !p->p_memsz)
            continue;
        struct pgg_segment s = {.bias = info->dlpi_addr, .start = info->dlpi_addr + p->p_vaddr};
        s.end = s.start + p->p_memsz;
        u32 known = 0;
        while (known < count && (segments[known].start != s.start || segments[known].end != s.end))
            known++;
        if (known < count || count == SEGMENTS_MAX)
            continue;
        find_build_id(info, &s);
        segments[count] = s;
        name_at[count] = keep_path(info->dlpi_name);
        __atomic_store_n(&count, count + 1, __ATOMIC_RELEASE);
    }
}

static int add_listed(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    pgg_lock(&adding);
    add_module(info);
    pgg_unlock(&adding);
    return 0;
}

static bool have_list(void)
{
    if (!segments)
        segments = pgg_map(SEGMENTS_MAX * sizeof *segments);
    return segments;
}

void pgg_modules_refresh(void)
{
    if (have_list())
        dl_iterate_phdr(add_listed, NULL);
}

void pgg_modules_after_fork(void)
{
    adding = 0;
}

/* For a statically linked program, of which the C library only has the code. */
static bool headers_of_program(const struct dl_find_object *module, struct dl_phdr_info *info)
{
    const void *headers = (const void *)getauxval(AT_PHDR);
    *info = (struct dl_phdr_info){
        .dlpi_addr = module->dlfo_link_map->l_addr,
        .dlpi_name = module->dlfo_link_map->l_name,
        .dlpi_phdr = headers,
        .dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM),
    };
    return headers && !*module->dlfo_link_map->l_name;
}

/* The program headers of a module follow the file's header at the start of its mapping. */
static bool headers_of(const struct dl_find_object *module, struct dl_phdr_info *info)
{
    const ElfW(Ehdr) *header = module->dlfo_map_start;
    size_t bytes = (size_t)((const char *)module->dlfo_map_end - (const char *)header);
    if (bytes < sizeof *header || *(const u32 *)(const void *)header->e_ident != 0x464c457f)
        return headers_of_program(module, info);
    if (header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phoff > PGG_PAGE ||
        header->e_phoff + header->e_phnum * sizeof(ElfW(Phdr)) > bytes)
        return false;
    *info = (struct dl_phdr_info){
        .dlpi_addr = module->dlfo_link_map->l_addr,
        .dlpi_name = module->dlfo_link_map->l_name,
        .dlpi_phdr = (const void *)((const char *)header + header->e_phoff),
        .dlpi_phnum = header->e_phnum,
    };
    return true;
}

static void add_mapped(const struct dl_find_object *module)
{
    struct dl_phdr_info info;
    if (headers_of(module, &info))
        add_module(&info);
}

/* All that is mapped, data too. */
static void find_extent(const struct dl_phdr_info *info, struct pgg_module *m)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        const char *start = (const char *)(info->dlpi_addr + p->p_vaddr), *end = start + p->p_memsz;
        if (p->p_type != PT_LOAD)
            continue;
        if ((const char *)m->mapped > start)
            m->mapped = start;
        if ((const char *)m->end < end)
            m->end = end;
    }
}

static struct pgg_module_mark mark_of(const struct dl_find_object *found)
{
    return (struct pgg_module_mark){found->dlfo_map_start, found->dlfo_eh_frame};
}

bool pgg_module_is_still(u64 pc, const struct pgg_module_mark *mark)
{
    struct dl_find_object found;
    if (_dl_find_object((void *)pc, &found))
        return false;
    const struct pgg_module_mark now = mark_of(&found);
    return now.start == mark->start && now.tables == mark->tables;
}

bool pgg_module_at(u64 pc, struct pgg_module *m)
{
    struct dl_find_object found;
    struct dl_phdr_info info;
    if (!pgg_modules_ready || _dl_find_object((void *)pc, &found) || !headers_of(&found, &info))
        return false;
    for (int i = 0; i < info.dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info.dlpi_phdr[i];
        const u64 start = info.dlpi_addr + p->p_vaddr;
        if (p->p_type != PT_LOAD || (p->p_flags & (PF_X | PF_W)) != PF_X ||
            pc - start >= p->p_memsz)
            continue;
        *m = (struct pgg_module){
            .segment = {.start = start, .end = start + p->p_memsz, .bias = info.dlpi_addr},
            .file_off = p->p_offset,
            .name = found.dlfo_link_map->l_name,
            .end = found.dlfo_map_end,
            .mapped = found.dlfo_map_start,
            .mark = mark_of(&found),
        };
        find_extent(&info, m);
        find_build_id(&info, &m->segment);
        return true;
    }
    return false;
}

/* Whether the module was not there before. `replaced`: something else was in its place. */
static bool is_new(const struct dl_find_object *found, bool *replaced)
{
    const struct module m = {found->dlfo_map_start, found->dlfo_map_end, found->dlfo_eh_frame};
    u32 at = 0;
    while (at < module_count && (modules[at].end <= m.start || modules[at].start >= m.end))
        at++;
    if (at < module_count) {
        if (modules[at].start == m.start && modules[at].end == m.end &&
            modules[at].tables == m.tables)
            return false;
        *replaced = true;
    } else if (module_count < SEGMENTS_MAX) {
        module_count++;
    } else {
        return true;
    }
    modules[at] = m;
    return true;
}

bool pgg_modules_learn(const u64 *pcs, u32 n)
{
    bool replaced = false;
    const void *last = NULL;
    for (u32 i = 0; i < n && pgg_modules_ready; i++) {
        struct dl_find_object module;
        if (_dl_find_object((void *)pcs[i], &module) || module.dlfo_map_start == last)
            continue;
        last = module.dlfo_map_start;
        pgg_lock(&adding);
        if (is_new(&module, &replaced) && have_list())
            add_mapped(&module);
        pgg_unlock(&adding);
    }
    return replaced;
}
