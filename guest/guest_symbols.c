/* Which module has the function that the process calls by a name. */
#include "guest_symbols.h"

#include "guest_bytes.h"

#include <dlfcn.h>
#include <elf.h>

/* Part of a module's dynamic section, or NULL. The kernel's own module has offsets there. */
static const void *part_of(const struct link_map *module, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *d = module->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == tag)
            return (const void *)(d->d_un.d_ptr < module->l_addr ? module->l_addr + d->d_un.d_ptr
                                                                 : d->d_un.d_ptr);
    return NULL;
}

static bool is_named(const struct link_map *module, u32 symbol, const char *name)
{
    const ElfW(Sym) *s = (const ElfW(Sym) *)part_of(module, DT_SYMTAB) + symbol;
    const char *names = part_of(module, DT_STRTAB);
    return s->st_shndx != SHN_UNDEF && pgg_streq(names + s->st_name, name);
}

/* The table that linkers write today: symbols of a bucket follow one another, and the lowest bit of
 * the hash of the last one is set. */
static bool is_in_gnu_table(const struct link_map *module, const u32 *table, const char *name)
{
    const u32 buckets_n = table[0], first = table[1], filter_words = table[2];
    const u32 *buckets = table + 4 + filter_words * (sizeof(ElfW(Addr)) / sizeof *table),
              *hashes = buckets + buckets_n;
    u32 hash = 5381;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    for (u32 symbol = buckets[hash % buckets_n]; symbol >= first; symbol++) {
        const u32 of_symbol = hashes[symbol - first];
        if ((of_symbol | 1) == (hash | 1) && is_named(module, symbol, name))
            return true;
        if (of_symbol & 1)
            break;
    }
    return false;
}

static bool defines(const struct link_map *module, const char *name)
{
    const u32 *table = part_of(module, DT_GNU_HASH);
    if (table)
        return is_in_gnu_table(module, table, name);
    table = part_of(module, DT_HASH);
    for (u32 symbol = 0; table && symbol < table[1]; symbol++)
        if (is_named(module, symbol, name))
            return true;
    return false;
}

static const struct link_map *behind(const struct link_map *module, const char *name)
{
    do
        module = module->l_next;
    while (module && !defines(module, name));
    return module;
}

/* A program at a fixed address that takes a function's address has an entry of its own for it, and
 * all others take that for the function: an undefined symbol with a value. The entry leads to the
 * first function of that name in a library. (dlsym cannot be asked for a single one of those that
 * the program was started with.) */
const struct link_map *pgg_symbol_module(const char *name)
{
    Dl_info info;
    const ElfW(Sym) *symbol;
    const struct link_map *module;
    void *function = dlsym(RTLD_DEFAULT, name);
    if (!function || !dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) ||
        !dladdr1(function, &info, (void **)&module, RTLD_DL_LINKMAP))
        return NULL;
    return symbol && symbol->st_shndx == SHN_UNDEF ? behind(module, name) : module;
}

const struct link_map *pgg_own_module(void)
{
    static const char here;
    Dl_info info;
    const struct link_map *module;
    return dladdr1(&here, &info, (void **)&module, RTLD_DL_LINKMAP) ? module : NULL;
}

void *pgg_symbol_behind(const char *name)
{
    const struct link_map *own = pgg_own_module();
    return own && behind(own, name) ? dlsym(RTLD_NEXT, name) : NULL;
}

/* Two threads may look up the same, with the same result. */
void *pgg_symbol_next(const char *name, void **known)
{
    void *function = __atomic_load_n(known, __ATOMIC_ACQUIRE);
    if (PGG_LIKELY(function))
        return function;
    function = dlsym(RTLD_NEXT, name);
    __atomic_store_n(known, function, __ATOMIC_RELEASE);
    return function;
}
