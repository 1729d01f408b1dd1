/* Which thread allocated, by where its stack ends. */
#include "heap_threads.h"

#include "path.h"

#include <string.h>

static bool is_of(const char *name, const char *const *list, size_t n, bool starts)
{
    for (size_t i = 0; i < n; i++)
        if (starts ? !strncmp(name, list[i], strlen(list[i])) : !strcmp(name, list[i]))
            return true;
    return false;
}

#define NAMED(name, ...)                                                                           \
    is_of(name, (const char *const[]){__VA_ARGS__},                                                \
          sizeof (const char *const[]){__VA_ARGS__} / sizeof(char *), false)
#define BEGINS(name, ...)                                                                          \
    is_of(name, (const char *const[]){__VA_ARGS__},                                                \
          sizeof (const char *const[]){__VA_ARGS__} / sizeof(char *), true)

static const char *name_of(const struct pgk_heap_frames *t, const struct pgk_view_func *f)
{
    return f->module ? "" : pgk_frames_text(t, f->name);
}

static const char *file_of(const struct pgk_heap_frames *t, const struct pgk_view_func *f)
{
    return pgk_base_name(pgk_frames_text(t, f->path));
}

static bool of_c_library(const char *file)
{
    return BEGINS(file, "libc.so", "libc-2.", "libpthread");
}

/* In the C library only the start of a thread, which it does not export, has no name and no
 * caller. */
static bool starts_thread(const struct pgk_heap_frames *t, const struct pgk_view_func *f)
{
    return f->module ? of_c_library(file_of(t, f))
                     : NAMED(name_of(t, f), "clone", "__clone", "clone3", "__clone3",
                             "__clone_internal", "start_thread");
}

static bool starts_process(const struct pgk_heap_frames *t, const struct pgk_view_func *f,
                           const char *program)
{
    const char *file = file_of(t, f), *name = name_of(t, f);
    if (NAMED(name, "_start", "main", "_dl_start_user") || BEGINS(name, "__libc_start") ||
        BEGINS(file, "ld-linux", "ld-musl", "ld.so"))
        return true;
    return f->module && *file && !strcmp(file, pgk_base_name(program));
}

/* What stands between the start of a thread and what the program wants it to do. */
static bool is_between(const struct pgk_heap_frames *t, const struct pgk_view_func *f)
{
    const char *file = file_of(t, f);
    return f->library || starts_thread(t, f) || of_c_library(file) ||
           BEGINS(file, "libstdc++", "libc++");
}

uint32_t pgk_frames_thread(const struct pgk_heap_frames *t, uint32_t stack, const char *program)
{
    uint32_t root = stack, own = 0;
    for (uint32_t n = stack; n; n = t->stacks.nodes.v[n].parent) {
        root = n;
        if (!is_between(t, pgk_frames_func(t, n)))
            own = n;
    }
    if (!root || starts_process(t, pgk_frames_func(t, root), program))
        return root ? PGK_THREAD_MAIN : PGK_THREAD_UNKNOWN;
    if (!own || !starts_thread(t, pgk_frames_func(t, root)))
        return PGK_THREAD_UNKNOWN;
    return PGK_THREAD_FUNC + pgk_frames_at(t, own)->func;
}
