/* The error for a requested function that is missing: it may be inlined everywhere. */
#include "demangle.h"
#include "mem.h"
#include "disasm_priv.h"
#include "pgokit/human.h"
#include "probes.h"

#include <inttypes.h>

bool pgk_disasm_is_named(const char *plain, const char *name)
{
    for (; *plain; plain++) {
        const char *end = strncmp(plain, "[abi:", 5) ? NULL : strchr(plain, ']');
        if (*plain == *name)
            name++;
        else if (end)
            plain = end;
        else
            return false;
    }
    return !*name;
}

static bool is_called(const char *linkage, const char *name)
{
    if (!strcmp(linkage, name))
        return true;
    char *plain = pgk_demangle(linkage);
    bool same = plain && pgk_disasm_is_named(plain, name);
    pgk_mem_free(plain);
    return same;
}

static bool is_listed(const struct pgk_disasm *d, const char *name)
{
    for (size_t i = 0; i < d->functions.n; i++) {
        const struct pgk_disasm_function *f = &d->functions.v[i];
        if (is_called(f->symbol->name, name))
            return true;
        for (size_t a = 0; a < f->n_aliases; a++)
            if (is_called(f->aliases[a].name, name))
                return true;
    }
    return false;
}

struct inlined {
    size_t copies;
    char into[512]; /* the function of the first copy, as a programmer says it */
};

static void copy_name(const struct pgk_disasm *d, uint32_t desc, char *to, size_t size)
{
    struct pgk_probe_desc p = pgk_probe_desc_at(d->probes, desc);
    snprintf(to, size, "%.*s", (int)p.name_len, p.name);
}

/* Counts the copies of all functions with the name, in the index of everything. */
static struct inlined find_inlined(const struct pgk_disasm *d, const char *name)
{
    struct inlined found = {0};
    char linkage[512];
    for (uint32_t i = 0; i < pgk_probe_descs(d->probes); i++) {
        copy_name(d, i, linkage, sizeof linkage);
        if (!is_called(linkage, name))
            continue;
        uint64_t guid = pgk_probe_desc_at(d->probes, i).guid;
        if (pgk_probe_desc_by_guid(d->probes, guid) != i)
            continue;
        for (uint32_t n = PGK_PROBE_NONE;
             (n = pgk_probe_next_copy(d->index, guid, n)) != PGK_PROBE_NONE; found.copies++) {
            uint32_t root = n;
            while (pgk_probe_parent(d->index, root) != PGK_PROBE_NONE)
                root = pgk_probe_parent(d->index, root);
            if (found.copies)
                continue;
            copy_name(d, pgk_probe_function(d->index, root), linkage, sizeof linkage);
            char *plain = pgk_demangle(linkage);
            pgk_human_text(found.into, sizeof found.into, plain ? plain : linkage);
            pgk_mem_free(plain);
        }
    }
    return found;
}

static int explain(struct pgk_disasm *d, const char *name, struct pgk_err *err)
{
    struct inlined inlined = {0};
    if (!pgk_probes_open_elf(&d->probes, d->elf, NULL) &&
        !pgk_probe_index_all(&d->index, d->probes, NULL))
        inlined = find_inlined(d, name);
    if (inlined.copies)
        return pgk_fail(err, PGK_E_EMPTY, .file = d->path, .format = "ELF", .field = "function",
                        .found = PGK_F("%s has no code of its own: it is inlined, %zu time%s", name,
                                       inlined.copies, pgk_plural(inlined.copies)),
                        .expected = "a function with code",
                        .hint = PGK_F("list what it is inlined into, such as %s", inlined.into));
    return pgk_fail(err, PGK_E_EMPTY, .file = d->path, .format = "ELF", .field = "function",
                    .found = PGK_F("no symbol %s", name),
                    .expected = "the name of a function of this program",
                    .hint = "names are linkage names, or demangled without parameters; see nm");
}

int pgk_disasm_check_names(struct pgk_disasm *d, struct pgk_err *err)
{
    for (size_t i = 0; i < d->opts->n_functions; i++)
        if (!is_listed(d, d->opts->functions[i]))
            return explain(d, d->opts->functions[i], err);
    return 0;
}
