/* Types of the objects of contexts: from the program's rows about its calls, and from the names of
 * the C++ library's allocating functions. docs/formats/heap-types.md */
#include "binary_set.h"
#include "demangle.h"
#include "function_name.h"
#include "type_names.h"
#include "type_rows.h"

#include <string.h>

struct find {
    struct pgk_heap *heap;
    bool by_names;
    struct pgk_type_rows rows;
    PGK_VEC(uint32_t) allocator_of; /* by function: NOT_ASKED, NONE, or string id of the type */
};
#define NONE 0
#define NOT_ASKED (UINT32_MAX - 1)

/* The first argument of a template, of which `open` is the "<"; NULL if it does not end. *close is
 * its ">". */
static const char *first_argument(const char *open, size_t *len, const char **close)
{
    const char *comma = NULL, *at = open;
    for (int depth = 0; *at; at++) {
        depth += *at == '<';
        if (*at == ',' && depth == 1 && !comma)
            comma = at;
        if (*at == '>' && !--depth)
            break;
    }
    *close = at;
    *len = (size_t)((comma ? comma : at) - open - 1);
    return *at ? open + 1 : NULL;
}

static bool ends_with(const char *text, size_t len, const char *end)
{
    size_t n = strlen(end);
    return len >= n && !memcmp(text + len - n, end, n);
}

/* The type that a member function of the C++ library allocates, from the name of its class: "T" for
 * "std::allocator<T>::allocate" and the like, and for all of "std::basic_string<T, ...>". */
static uint32_t type_of_member(struct pgk_heap *h, const char *name)
{
    static const char allocate[] = "::allocate";
    const char *open = strchr(name, '<'), *close;
    size_t len;
    const char *type = open ? first_argument(open, &len, &close) : NULL;
    if (!type)
        return NONE;
    bool is_string = ends_with(name, (size_t)(open - name), "basic_string") && close[1] == ':';
    bool is_allocator = ends_with(name, (size_t)(open - name), "allocator") &&
                        !strncmp(close + 1, allocate, sizeof allocate - 1);
    return is_string || is_allocator ? pgk_type_name_intern(&h->strings, type, len) : NONE;
}

static uint32_t allocator_type(struct pgk_heap *h, const char *linkage_name)
{
    bool may_be = strstr(linkage_name, "allocator") || strstr(linkage_name, "basic_string");
    char *name = may_be ? pgk_demangle(linkage_name) : NULL;
    uint32_t type = name ? type_of_member(h, name) : NONE;
    pgk_mem_free(name);
    return type;
}

static uint32_t type_by_name(struct find *f, uint32_t func)
{
    uint32_t *type = &f->allocator_of.v[func];
    if (*type == NOT_ASKED)
        *type = allocator_type(f->heap, pgk_intern_str(&f->heap->strings,
                                                       f->heap->funcs.v[func].name));
    return *type;
}

static bool is_of_library(const char *linkage_name)
{
    static const char *const spaces[] = {"_ZNSt", "_ZNKSt", "_ZSt", "_ZN9__gnu_cxx"};
    for (size_t i = 0; i < PGK_COUNTOF(spaces); i++)
        if (!strncmp(linkage_name, spaces[i], strlen(spaces[i])))
            return true;
    return false;
}

/* Goes up the stack as long as functions return the pointer that they got; skips frames without a
 * record, and functions of the C++ library without rows, unless their name shows the type. A string
 * id; 0: unknown. */
static uint32_t type_of(struct find *f, uint32_t stack)
{
    struct pgk_heap *h = f->heap;
    bool leaf = true, is_returned = true;
    for (uint32_t node = stack; node; node = h->stacks.nodes.v[node].parent) {
        const struct pgk_frame *frame = &h->frames.v[h->stacks.nodes.v[node].frame];
        if (!pgk_frame_has_record(frame))
            continue;
        const struct pgk_heap_func *func = &h->funcs.v[frame->ref];
        const struct pgk_type_row *row =
            is_returned ? pgk_type_rows_find(&f->rows, func->guid, frame->where, leaf) : NULL;
        leaf = false;
        is_returned = row && !row->contradictory;
        if (is_returned && row->type)
            return pgk_intern_cstr(&h->strings, pgk_intern_str(&f->rows.names, row->type));
        if (is_returned)
            continue;
        if (!f->by_names)
            return 0;
        uint32_t type = type_by_name(f, frame->ref);
        if (type || !is_of_library(pgk_intern_str(&h->strings, func->name)))
            return type;
    }
    return 0;
}

static int find_all(struct find *f, struct pgk_err *err)
{
    struct pgk_heap *h = f->heap;
    while (f->allocator_of.n < h->funcs.n)
        if (!pgk_vec_push(&f->allocator_of, NOT_ASKED))
            return pgk_fail_nomem(err);
    for (size_t i = 0; i < h->contexts.n; i++) {
        struct pgk_heap_context *c = &h->contexts.v[i];
        /* Types that a program gave earlier take precedence over names of functions. */
        if (!f->rows.list.n && pgk_context_value(h, c, PGK_MIB_DataTypeId))
            continue;
        uint32_t type = type_of(f, c->stack);
        struct pgk_mib m;
        if (!type)
            continue;
        if (type == PGK_INDEX_NONE)
            return pgk_fail_nomem(err);
        pgk_context_get(h, c, &m);
        pgk_mib_set(&m, PGK_MIB_DataTypeId, pgk_heap_type_id(h, type));
        if (!pgk_heap_note_type(h, type) || !pgk_context_set(h, c, &m))
            return pgk_fail_nomem(err);
    }
    return 0;
}

int pgk_heap_find_types(struct pgk_heap *heap, struct pgk_binaries *binaries, bool by_names,
                        struct pgk_err *err)
{
    struct find f = {.heap = heap, .by_names = by_names};
    int status = 0;
    for (uint32_t b = 0; b < pgk_binaries_count(binaries) && !status; b++) {
        const struct pgk_elf *elf = pgk_binaries_elf(binaries, b);
        const struct pgk_elf *with = pgk_elf_with(elf, PGK_TYPES_SECTION);
        size_t size;
        const uint8_t *bytes = with ? pgk_elf_section(with, PGK_TYPES_SECTION, &size) : NULL;
        if (bytes && !pgk_type_rows_read(&f.rows, bytes, size, pgk_elf_path(with)))
            status = pgk_fail_nomem(err);
    }
    if (!status)
        status = find_all(&f, err);
    pgk_type_rows_free(&f.rows);
    pgk_vec_free(&f.allocator_of);
    return status;
}
