/* Fuzz target: an ELF image in memory, all its functions and calls, and the frames of some
 * addresses. */
#include "dwarf_priv.h"
#include "elf_priv.h"
#include "mem.h"
#include "pgokit/log.h"
#include "symboliser.h"

#include <string.h>

enum { ADDRESSES = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore_message(void *ctx, enum pgk_log_level level, const char *text)
{
    (void)ctx, (void)level, (void)text;
}

/* Reads every string, so that a sanitizer sees those that do not end. */
static size_t length(const char *s)
{
    return s ? strlen(s) : 0;
}

static int use_function(void *ctx, const struct pgk_sym_function *f)
{
    *(size_t *)ctx += length(f->name) + length(f->decl_file);
    return 0;
}

static size_t use_chain(const struct pgk_sym_chain *c)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < c->count; i++)
        sum += length(c->frames[i].function) + length(c->frames[i].file) +
               length(c->frames[i].decl_file);
    return sum;
}

static size_t use_calls(struct pgk_symboliser *sym, struct pgk_arena *arena)
{
    struct pgk_sym_call *calls;
    size_t n = 0, sum = 0;
    if (pgk_symboliser_calls(sym, 1, arena, &calls, &n, NULL) == 0)
        for (size_t i = 0; i < n; i++)
            sum += length(calls[i].callee) + length(calls[i].callee_file);
    return sum;
}

/* Addresses all over the first executable segment, and some outside. */
static void choose(const struct pgk_elf *elf, uint64_t addrs[ADDRESSES])
{
    size_t n;
    const struct pgk_segment *s = pgk_elf_segments(elf, &n);
    uint64_t base = 0x1000, step = 16;
    for (size_t i = 0; i < n; i++)
        if (s[i].executable && s[i].vaddr < UINT64_MAX / 2 && s[i].memsz < UINT64_MAX / 4) {
            base = s[i].vaddr;
            step = s[i].memsz / ADDRESSES + 1;
            break;
        }
    for (uint64_t i = 0; i < ADDRESSES; i++)
        addrs[i] = base + i * step;
}

/* As a .dwo or .dwp, which otherwise only a program leads to. */
static void use_split(const struct pgk_elf *elf)
{
    struct pgk_dw_file *file = NULL;
    if (pgk_dw_file_open(&file, elf, NULL, true, NULL) == 0)
        for (size_t i = 0; i < file->units.n; i++)
            if (file->units.v[i].usable)
                (void)pgk_dw_unit_index(&file->units.v[i]);
    pgk_dw_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pgk_elf *elf;
    struct pgk_symboliser *sym;
    pgk_log_set(ignore_message, NULL);
    if (pgk_elf_open_memory(&elf, data, size, "/nowhere/image", PGK_ELF_DEBUG, NULL) < 0)
        return 0;
    if (pgk_symboliser_open(&sym, elf, NULL) == 0) {
        static uint64_t addrs[ADDRESSES];
        static struct pgk_sym_chain chains[ADDRESSES];
        struct pgk_arena arena = {0};
        volatile size_t sum = 0;
        size_t names = 0;
        choose(elf, addrs);
        if (pgk_symbolise(sym, addrs, ADDRESSES, 1, &arena, chains, NULL) == 0)
            for (size_t i = 0; i < ADDRESSES; i++)
                sum += use_chain(&chains[i]);
        sum += use_calls(sym, &arena);
        (void)sum;
        (void)pgk_symboliser_functions(sym, use_function, &names, NULL);
        pgk_arena_free(&arena);
        pgk_symboliser_close(&sym);
    }
    use_split(elf);
    pgk_elf_close(&elf);
    return 0;
}
