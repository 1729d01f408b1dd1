/* Names for the linkage table: calls of other libraries' functions lead to stubs without symbols,
 * which jump through a pointer that a relocation fills by name. */
#include "disasm_priv.h"

#include "machine.h"

#include <elf.h>
#include <stdlib.h>

struct slot { /* a pointer that the dynamic linker sets */
    uint64_t addr;
    const char *name;
};

struct table {
    struct pgk_disasm *d;
    const uint8_t *symbols;
    const char *names;
    size_t symbols_size, names_size;
    PGK_VEC(struct slot) slots; /* by address */
};

static const char *symbol_name(const struct table *t, uint64_t number)
{
    Elf64_Sym sym;
    if (!number || number >= t->symbols_size / sizeof sym)
        return NULL;
    memcpy(&sym, t->symbols + number * sizeof sym, sizeof sym);
    if (sym.st_name >= t->names_size || !t->names[sym.st_name] ||
        !memchr(t->names + sym.st_name, 0, t->names_size - sym.st_name))
        return NULL;
    return t->names + sym.st_name;
}

static bool add_slots(struct table *t, const char *section)
{
    const struct pgk_machine *machine = pgk_elf_machine(t->d->elf);
    size_t size;
    const uint8_t *bytes = pgk_elf_section(t->d->elf, section, &size);
    for (size_t at = 0; bytes && size - at >= sizeof(Elf64_Rela); at += sizeof(Elf64_Rela)) {
        Elf64_Rela rela;
        memcpy(&rela, bytes + at, sizeof rela);
        uint32_t type = (uint32_t)ELF64_R_TYPE(rela.r_info);
        const char *name = type == machine->jump_slot || type == machine->data_slot
                               ? symbol_name(t, ELF64_R_SYM(rela.r_info))
                               : NULL;
        if (name && !pgk_vec_push(&t->slots, (struct slot){rela.r_offset, name}))
            return false;
    }
    return true;
}

static int compare_slots(const void *a, const void *b)
{
    const struct slot *x = a, *y = b;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static const char *name_of(const struct table *t, uint64_t addr)
{
    struct slot wanted = {.addr = addr};
    const struct slot *s = t->slots.n ? bsearch(&wanted, t->slots.v, t->slots.n,
                                                sizeof *t->slots.v, compare_slots)
                                      : NULL;
    return s ? s->name : NULL;
}

/* Where branches may land: endbr64, bti c. */
static bool is_landing(const struct pgk_disasm *d, const uint8_t *bytes, size_t left)
{
    return pgk_insn_word(bytes, left) == pgk_elf_machine(d->elf)->landing_pad;
}

static bool name_stubs(const struct table *t, uint32_t section)
{
    struct pgk_disasm *d = t->d;
    struct pgk_elf_section_info s = pgk_elf_section_at(d->elf, section);
    struct pgk_insn insn;
    uint64_t landing = UINT64_MAX; /* just passed */
    for (uint64_t at = 0; at < s.size; at += insn.length) {
        const uint8_t *bytes = s.bytes + at;
        size_t left = (size_t)(s.size - at);
        pgk_insn_decode(&d->decoder, bytes, left, s.addr + at, &insn);
        const char *name = name_of(t, pgk_insn_stub_slot(&d->decoder, &insn, bytes, left));
        uint64_t start = landing == UINT64_MAX ? insn.addr : landing;
        struct pgk_disasm_symbol stub = {name, start, section, .code = true, .plt = true};
        if (name && !pgk_vec_push(&d->symbols, stub))
            return false;
        landing = is_landing(d, bytes, left) ? insn.addr : UINT64_MAX;
    }
    return true;
}

bool pgk_disasm_is_plt(const struct pgk_elf_section_info *s)
{
    return !strncmp(s->name, ".plt", 4);
}

int pgk_disasm_name_plt(struct pgk_disasm *d, struct pgk_err *err)
{
    struct table t = {.d = d};
    t.symbols = pgk_elf_section(d->elf, ".dynsym", &t.symbols_size);
    t.names = (const char *)pgk_elf_section(d->elf, ".dynstr", &t.names_size);
    if (!t.symbols || !t.names)
        return 0;
    bool good = add_slots(&t, ".rela.plt") && add_slots(&t, ".rela.dyn");
    if (good && t.slots.n)
        qsort(t.slots.v, t.slots.n, sizeof *t.slots.v, compare_slots);
    size_t n = pgk_elf_section_count(d->elf);
    for (size_t i = 0; i < n && good; i++) {
        struct pgk_elf_section_info s = pgk_elf_section_at(d->elf, i);
        if (pgk_disasm_is_plt(&s) && (s.flags & SHF_EXECINSTR) && s.bytes &&
            s.addr <= UINT64_MAX - s.size)
            good = name_stubs(&t, (uint32_t)i);
    }
    pgk_vec_free(&t.slots);
    return good ? 0 : pgk_fail_nomem(err);
}
