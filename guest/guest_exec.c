/* Which file an exec runs, and with what environment. */
#include "guest_exec.h"

#include "guest_bytes.h"
#include "guest_env.h"
#include "guest_sys.h"
#include "guest_text.h"

#include <fcntl.h>
#include <link.h>

static bool begins(const char *text, const char *with)
{
    while (*with && *text == *with)
        text++, with++;
    return !*with;
}

static const char *name_of(const char *path)
{
    const char *name = path;
    for (; *path; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

/* The text at `off` of a file, which ends with a zero byte in the buffer. */
static bool read_text(int fd, void *to, size_t size, u64 off)
{
    const long n = pgg_sys_pread(fd, to, size - 1, (off_t)off);
    ((char *)to)[n > 0 ? n : 0] = 0;
    return n > 0;
}

/* The word after #!. */
static const char *interpreter_of(char *line)
{
    char *word = line + 2, *end;
    while (*word == ' ' || *word == '\t')
        word++;
    for (end = word; *end && *end != ' ' && *end != '\t' && *end != '\n'; end++)
        continue;
    *end = 0;
    return word;
}

/* The path of the dynamic linker is in the file; false: there is none. */
static bool find_linker(int fd, const ElfW(Ehdr) *h, char *path, size_t size)
{
    for (u32 i = 0; i < h->e_phnum; i++) {
        ElfW(Phdr) p;
        if (pgg_sys_pread(fd, &p, sizeof p, (off_t)(h->e_phoff + i * sizeof p)) != sizeof p)
            return false;
        if (p.p_type == PT_INTERP)
            return read_text(fd, path, p.p_filesz < size ? p.p_filesz + 1 : size, p.p_offset);
    }
    return false;
}

/* Whether the program is of another C library. What cannot be read is not known to be. */
static bool is_of_other_library(int dir, const char *path, bool script)
{
    union {
        ElfW(Ehdr) elf;
        char text[256];
    } first;
    char linker[256];
    bool other = false;
    const long fd = *path ? pgg_sys_open_at(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                          : pgg_sys_copy_descriptor(dir, 3);
    if (fd < 0)
        return false;
    const bool any = read_text((int)fd, first.text, sizeof first.text, 0);
    if (any && begins(first.text, ELFMAG) && first.text[EI_CLASS] == ELFCLASS64)
        other = find_linker((int)fd, &first.elf, linker, sizeof linker) &&
                !begins(name_of(linker), "ld-linux");
    pgg_sys_close((int)fd);
    return any && !script && begins(first.text, "#!")
               ? is_of_other_library(AT_FDCWD, interpreter_of(first.text), true)
               : other;
}

/* LD_PRELOAD without ours, or NULL if nothing is left. */
static char *without_ours(char *to, size_t size, const char *preload)
{
    static const char name[] = "LD_PRELOAD=";
    struct pgg_text t;
    bool any = false;
    pgg_text_init(&t, to, size);
    pgg_text_str(&t, name);
    for (const char *at = preload + sizeof name - 1; *at;) {
        char entry[1024];
        size_t n = 0;
        while (*at == ':' || *at == ' ')
            at++;
        while (*at && *at != ':' && *at != ' ' && n < sizeof entry - 1)
            entry[n++] = *at++;
        entry[n] = 0;
        if (!n || begins(name_of(entry), "libpgokit_"))
            continue;
        pgg_text_str(&t, any ? ":" : "");
        pgg_text_str(&t, entry);
        any = true;
    }
    return any ? to : NULL;
}

static bool is_ours(const char *variable)
{
    if (!begins(variable, "LD_PRELOAD="))
        return false;
    for (const char *at = variable; *at; at++)
        if (begins(at, "libpgokit_"))
            return true;
    return false;
}

char *const *pgg_exec_environment(struct pgg_exec_buffer *b, int dir, const char *path,
                                  char *const *environment)
{
    size_t n = 0, at = 0;
    bool any = false;
    for (; environment && environment[n]; n++)
        any |= is_ours(environment[n]);
    if (!any || n >= sizeof b->list / sizeof *b->list || !is_of_other_library(dir, path, false))
        return environment;
    for (size_t i = 0; i < n; i++) {
        char *kept = is_ours(environment[i])
                         ? without_ours(b->preload, sizeof b->preload, environment[i])
                         : environment[i];
        if (kept)
            b->list[at++] = kept;
    }
    b->list[at] = NULL;
    return b->list;
}

static bool has_slash(const char *file)
{
    while (*file && *file != '/')
        file++;
    return *file;
}

void pgg_exec_search_begin(struct pgg_exec_search *s, const char *file)
{
    const char *path = pgg_getenv("PATH");
    s->file = file;
    s->folders = !*file ? NULL : has_slash(file) ? "" : path ? path : "/bin:/usr/bin";
}

/* A file with a slash is looked for in one empty folder, which adds nothing to it. */
bool pgg_exec_search_next(struct pgg_exec_search *s)
{
    const size_t length = pgg_strlen(s->file) + 1;
    while (s->folders) {
        const char *folder = s->folders, *end = folder;
        while (*end && *end != ':')
            end++;
        size_t n = (size_t)(end - folder);
        s->folders = *end ? end + 1 : NULL;
        if (n + 1 + length > sizeof s->path)
            continue;
        pgg_copy(s->path, folder, n);
        if (n)
            s->path[n++] = '/';
        pgg_copy(s->path + n, s->file, length);
        return true;
    }
    return false;
}
