/* The call stacks of heap profiles as one tree with names. */
#include "heap_frames.h"

#include "demangle.h"
#include "hex.h"
#include "mem.h"
#include "hash.h"
#include "heap_view.h"
#include "pgokit/human.h"

#include <inttypes.h>
#include <string.h>

int pgk_heap_frames_init(struct pgk_heap_frames *t, struct pgk_err *err)
{
    *t = (struct pgk_heap_frames){0};
    return pgk_stack_tree_init(&t->stacks) ? 0 : pgk_fail_nomem(err);
}

void pgk_heap_frames_free(struct pgk_heap_frames *t)
{
    pgk_intern_free(&t->strings);
    pgk_vec_free(&t->funcs);
    pgk_vec_free(&t->frames);
    pgk_stack_tree_free(&t->stacks);
    pgk_index_free(&t->func_index);
    pgk_index_free(&t->frame_index);
}

static bool begins(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

/* Frames that stand between the code that wants memory and the allocator. */
static bool is_library(const char *name, const char *file)
{
    static const char *const names[] = {
        "std::",         "__gnu_cxx::",    "operator new",   "malloc",  "calloc",      "realloc",
        "aligned_alloc", "posix_memalign", "__interceptor_", "__libc_", "__cxxabiv1::"};
    static const char *const folders[] = {"/include/c++/", "/lib/gcc/", "/lib/clang/",
                                          "/libstdc++",    "/libcxx/",  "/compiler-rt/"};
    for (size_t i = 0; i < PGK_COUNTOF(names); i++)
        if (begins(name, names[i]))
            return true;
    for (size_t i = 0; i < PGK_COUNTOF(folders); i++)
        if (strstr(file, folders[i]))
            return true;
    return begins(file, "/usr/include/");
}

static uint32_t add_func(struct pgk_heap_frames *t, const struct pgk_view_func *func, uint64_t hash)
{
    if (func->name == PGK_INDEX_NONE || func->linkage == PGK_INDEX_NONE ||
        func->file == PGK_INDEX_NONE || func->module == PGK_INDEX_NONE ||
        func->path == PGK_INDEX_NONE || func->near == PGK_INDEX_NONE ||
        t->funcs.n >= PGK_INDEX_NONE || !pgk_vec_push(&t->funcs, *func) ||
        !pgk_index_add(&t->func_index, hash, (uint32_t)t->funcs.n - 1))
        return PGK_INDEX_NONE;
    return (uint32_t)t->funcs.n - 1;
}

/* A function is known by its id and its file, as static functions share ids. */
static uint32_t named_func(struct pgk_heap_frames *t, const struct pgk_heap_frame *f)
{
    uint32_t file = pgk_intern_safe(&t->strings, f->file);
    uint64_t hash = pgk_hash_pair(f->guid, file);
    PGK_INDEX_FOR (&t->func_index, hash, i)
        if (t->funcs.v[i].guid == f->guid && t->funcs.v[i].file == file && !t->funcs.v[i].module)
            return i;
    char number[32];
    snprintf(number, sizeof number, "function 0x%016" PRIx64, f->guid);
    char *written = *f->function ? pgk_demangle(f->function) : NULL;
    const char *name = written ? written : *f->function ? f->function : number;
    struct pgk_view_func func = {
        .guid = f->guid,
        .name = pgk_intern_safe(&t->strings, name),
        .linkage = pgk_intern_safe(&t->strings, f->function),
        .file = file,
        .path = pgk_intern_safe(&t->strings, f->module_path),
        .decl_line = f->decl_line,
        .library = is_library(name, f->file),
    };
    pgk_mem_free(written);
    return add_func(t, &func, hash);
}

static uint32_t address_func(struct pgk_heap_frames *t, const struct pgk_heap_frame *f)
{
    char hex[PGK_BUILD_ID_TEXT], name[PGK_ADDRESS_TEXT];
    const char *module = f->build_id_size
                             ? pgk_human_hex(hex, sizeof hex, f->build_id, f->build_id_size)
                             : "no known module";
    uint32_t module_id = pgk_intern_cstr(&t->strings, module);
    uint64_t hash = pgk_hash_pair(f->address, module_id);
    PGK_INDEX_FOR (&t->func_index, hash, i)
        if (t->funcs.v[i].guid == f->address && t->funcs.v[i].module == module_id)
            return i;
    char *near = *f->near_symbol ? pgk_demangle(f->near_symbol) : NULL;
    struct pgk_view_func func = {
        .guid = f->address,
        .name = pgk_intern_safe(&t->strings, pgk_view_address(name, f)),
        .module = module_id,
        .near = pgk_intern_safe(&t->strings, near ? near : f->near_symbol),
        .path = pgk_intern_safe(&t->strings, f->module_path),
        .has_file = *f->module_path != 0};
    pgk_mem_free(near);
    return add_func(t, &func, hash);
}

static uint32_t add_frame(struct pgk_heap_frames *t, const struct pgk_heap_frame *f)
{
    uint32_t func = f->is_address ? address_func(t, f) : named_func(t, f);
    if (func == PGK_INDEX_NONE)
        return PGK_INDEX_NONE;
    struct pgk_view_frame frame = {
        .address = f->is_address ? f->address : 0,
        .func = func,
        .line_offset = f->is_address ? 0 : f->line_offset,
        .line = f->is_address ? 0 : pgk_heap_frame_line(f),
        .column = f->is_address ? 0 : f->column,
        .inlined = !f->is_address && f->inlined,
        .is_address = f->is_address,
    };
    uint64_t place = (uint64_t)frame.line_offset << 32 | frame.column;
    uint64_t hash = pgk_hash_pair((uint64_t)func << 1 | frame.inlined, place);
    PGK_INDEX_FOR (&t->frame_index, hash, i) {
        const struct pgk_view_frame *known = &t->frames.v[i];
        if (known->func == func && known->line_offset == frame.line_offset &&
            known->column == frame.column && known->inlined == frame.inlined)
            return i;
    }
    if (t->frames.n >= PGK_INDEX_NONE || !pgk_vec_push(&t->frames, frame) ||
        !pgk_index_add(&t->frame_index, hash, (uint32_t)t->frames.n - 1))
        return PGK_INDEX_NONE;
    return (uint32_t)t->frames.n - 1;
}

static int add_stack(struct pgk_heap_frames *t, const struct pgk_heap *heap, size_t context,
                     struct pgk_arena *arena, uint32_t *node, struct pgk_err *err)
{
    struct pgk_heap_frame *frames;
    size_t n;
    PGK_TRY(pgk_heap_view_stack(heap, context, arena, &frames, &n, err));
    uint32_t at = 0;
    for (size_t i = n; i-- > 0;) {
        uint32_t frame = add_frame(t, &frames[i]);
        at = frame == PGK_INDEX_NONE ? PGK_NODE_NONE : pgk_stack_push(&t->stacks, at, frame);
        if (at == PGK_NODE_NONE)
            return pgk_fail_nomem(err);
    }
    *node = at;
    return 0;
}

int pgk_heap_frames_add(struct pgk_heap_frames *t, const struct pgk_heap *heap, uint32_t *nodes,
                        struct pgk_err *err)
{
    size_t n = pgk_heap_contexts(heap);
    int status = 0;
    for (size_t c = 0; c < n && !status; c++) {
        struct pgk_arena arena = {0};
        status = add_stack(t, heap, c, &arena, &nodes[c], err);
        pgk_arena_free(&arena);
    }
    return status;
}

int pgk_heap_frames_make(struct pgk_heap_frames *t, const struct pgk_heap *heap, uint32_t **nodes,
                         struct pgk_err *err)
{
    uint32_t *of = pgk_mem_alloc(pgk_heap_contexts(heap), sizeof *of);
    int status = pgk_heap_frames_init(t, err);
    if (!status)
        status = of ? pgk_heap_frames_add(t, heap, of, err) : pgk_fail_nomem(err);
    if (!status) {
        *nodes = of;
        return 0;
    }
    pgk_heap_frames_free(t);
    pgk_mem_free(of);
    return status;
}

uint32_t pgk_frames_site(const struct pgk_heap_frames *t, uint32_t stack)
{
    for (uint32_t node = stack; node; node = t->stacks.nodes.v[node].parent)
        if (!pgk_frames_func(t, node)->library)
            return node;
    return stack;
}
