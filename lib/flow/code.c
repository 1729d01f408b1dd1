/* The instructions of a binary by address. */
#include "code.h"

#include "frame_states.h"
#include "machine.h"
#include "mem.h"
#include "search.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct starts {
    const struct pgk_code *code;
    PGK_VEC(struct start {
        uint64_t addr;
        uint32_t section;
    })
    list;
};

static int add_start(void *ctx, const struct pgk_elf_entry *e)
{
    struct starts *s = ctx;
    bool code = e->type == STT_FUNC || e->type == STT_GNU_IFUNC || e->type == STT_NOTYPE;
    if (!code || !*e->name || *e->name == '$' || e->section == SHN_UNDEF ||
        e->section >= pgk_elf_section_count(s->code->elf))
        return 0;
    return pgk_vec_push(&s->list, (struct start){e->addr, e->section}) ? 0 : PGK_E_NOMEM;
}

static int compare_starts(const void *a, const void *b)
{
    const struct start *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static int compare_regions(const void *a, const void *b)
{
    const struct pgk_code_region *x = a, *y = b;
    return x->low < y->low ? -1 : x->low > y->low;
}

static bool is_code(const struct pgk_elf_section_info *s)
{
    return (s->flags & SHF_EXECINSTR) && s->bytes && s->addr <= UINT64_MAX - s->size &&
           strcmp(s->name, ".plt") != 0;
}

static bool add_regions(struct pgk_code *code, const struct starts *starts)
{
    for (size_t i = 0; i < starts->list.n; i++) {
        const struct start *s = &starts->list.v[i], *next = s + 1;
        struct pgk_elf_section_info section = pgk_elf_section_at(code->elf, s->section);
        uint64_t high = section.addr + section.size;
        if (i + 1 < starts->list.n && next->section == s->section && next->addr < high)
            high = next->addr;
        if (!is_code(&section) || s->addr < section.addr || s->addr >= high)
            continue;
        if (!pgk_vec_push(
                &code->regions,
                (struct pgk_code_region){s->addr, high, section.bytes + (s->addr - section.addr)}))
            return false;
    }
    return true;
}

static int allocate(struct pgk_code *code, struct pgk_err *err)
{
    size_t n = code->regions.n;
    uint64_t high = 0;
    if (!n)
        return pgk_fail(err, PGK_E_NODEBUG, .file = pgk_elf_path(code->elf), .format = "ELF",
                        .field = "symbols", .found = "none of code",
                        .expected = "a program with a symbol table, in itself or in its debug file",
                        .hint = "give the program, not its debug file, with -b, and if it was "
                                "stripped the debug file with --debug-binary, or the folder of "
                                "debug files with --debug-dir");
    qsort(code->regions.v, n, sizeof *code->regions.v, compare_regions);
    for (size_t i = 0; i < n; i++)
        high = code->regions.v[i].high > high ? code->regions.v[i].high : high;
    code->base = code->regions.v[0].low & ~(uint64_t)((1 << PGK_CODE_PAGE_BITS) - 1);
    code->span = high - code->base;
    size_t n_pages = (code->span >> PGK_CODE_PAGE_BITS) + 1;
    if (code->span >= UINT32_MAX)
        return pgk_fail(err, PGK_E_LIMIT, .file = pgk_elf_path(code->elf), .format = "ELF",
                        .field = "executable sections", .found = "code all over the addresses",
                        .expected = "less than 4 GiB from the first to the last",
                        .hint = "is the file damaged?");
    code->marks = pgk_mem_zalloc(code->span, 1);
    code->pages = pgk_mem_zalloc(n_pages, 1);
    return code->marks && code->pages ? 0 : pgk_fail_nomem(err);
}

int pgk_code_open(struct pgk_code *code, const struct pgk_elf *elf, struct pgk_err *err)
{
    *code = (struct pgk_code){.elf = elf};
    struct starts starts = {.code = code};
    int status =
        pgk_insn_decoder_open(&code->decoder, pgk_elf_machine(elf), PGK_INSN_READABLE, err);
    if (!status && pgk_elf_entries(elf, add_start, &starts))
        status = pgk_fail_nomem(err);
    if (!status && starts.list.n)
        qsort(starts.list.v, starts.list.n, sizeof *starts.list.v, compare_starts);
    if (!status && !add_regions(code, &starts))
        status = pgk_fail_nomem(err);
    if (!status)
        status = allocate(code, err);
    pgk_vec_free(&starts.list);
    if (status)
        pgk_code_close(code);
    return status;
}

void pgk_code_close(struct pgk_code *code)
{
    pgk_insn_decoder_close(&code->decoder);
    pgk_vec_free(&code->regions);
    pgk_mem_free(code->marks);
    pgk_mem_free(code->pages);
    pgk_mem_free(code->frames);
    *code = (struct pgk_code){0};
}

static void decode_region(struct pgk_code *code, struct pgk_code_region *r)
{
    struct pgk_insn insn;
    if (r->decoded)
        return;
    r->decoded = true;
    for (uint64_t at = r->low; at < r->high; at += insn.length) {
        pgk_insn_decode(&code->decoder, r->bytes + (at - r->low), r->high - at, at, &insn);
        if (insn.valid)
            code->marks[at - code->base] =
                (uint8_t)(insn.length | insn.kind << PGK_CODE_KIND_SHIFT |
                          (insn.indirect ? PGK_CODE_INDIRECT : 0));
    }
}

/* Position of the first region that ends after `addr`; regions do not overlap. */
static size_t region_behind(const struct pgk_code *code, uint64_t addr)
{
    PGK_SEARCH(low, code->regions.n, mid, code->regions.v[mid].high <= addr)
    return low;
}

bool pgk_code_is_between(struct pgk_code *code, uint64_t addr)
{
    size_t i = region_behind(code, addr);
    return i < code->regions.n && code->regions.v[i].low <= addr && !pgk_code_is(code, addr);
}

const uint8_t *pgk_code_bytes(const struct pgk_code *code, uint64_t addr, size_t *n)
{
    size_t i = region_behind(code, addr);
    if (i == code->regions.n || code->regions.v[i].low > addr)
        return NULL;
    const struct pgk_code_region *r = &code->regions.v[i];
    *n = r->high - addr;
    return r->bytes + (addr - r->low);
}

bool pgk_code_insn(const struct pgk_code *code, uint64_t addr, struct pgk_insn *insn)
{
    size_t n;
    const uint8_t *bytes = pgk_code_bytes(code, addr, &n);
    if (!bytes)
        return false;
    pgk_insn_decode(&code->decoder, bytes, n, addr, insn);
    return insn->valid;
}

static bool read_table(const struct pgk_code *code, uint64_t addr, struct pgk_insn_table *table)
{
    size_t n;
    const uint8_t *bytes = pgk_code_bytes(code, addr, &n);
    return bytes && pgk_insn_table(&code->decoder, bytes, n, table);
}

int32_t pgk_code_slot(struct pgk_code *code, uint64_t branch)
{
    enum { LOOK_BACK = 16 };
    struct pgk_insn_table table, load;
    if (!read_table(code, branch, &table) || !table.branch)
        return -1;
    uint64_t at = branch;
    for (int i = 0; table.slot < 0 && i < LOOK_BACK; i++) {
        at = pgk_code_before(code, at);
        if (at == UINT64_MAX || pgk_code_kind(pgk_code_mark(code, at)) != PGK_INSN_OTHER)
            return -1;
        if (read_table(code, at, &load) && !load.branch && load.reg == table.reg)
            return load.slot;
    }
    return table.slot;
}

void pgk_code_decode_page(struct pgk_code *code, uint64_t off)
{
    uint64_t page = off >> PGK_CODE_PAGE_BITS;
    uint64_t low = code->base + (page << PGK_CODE_PAGE_BITS);
    uint64_t high = low + (1 << PGK_CODE_PAGE_BITS);
    for (size_t i = region_behind(code, low); i < code->regions.n && code->regions.v[i].low < high;
         i++)
        decode_region(code, &code->regions.v[i]);
    code->pages[page] = 1;
}

uint64_t pgk_code_first(struct pgk_code *code, uint64_t addr, uint64_t last)
{
    for (; addr <= last; addr++) {
        if (pgk_code_is(code, addr))
            return addr;
        if (addr - code->base >= code->span)
            break;
    }
    return UINT64_MAX;
}

bool pgk_code_list(struct pgk_code *code, uint64_t first, uint64_t last, pgk_addr_vec *addrs)
{
    for (uint64_t at = first; (at = pgk_code_first(code, at, last)) != UINT64_MAX;
         at += pgk_code_mark(code, at) & PGK_CODE_LENGTH)
        if (!pgk_vec_push(addrs, at))
            return false;
    return true;
}

uint64_t pgk_code_before(struct pgk_code *code, uint64_t addr)
{
    enum { LONGEST = 15 };
    for (unsigned back = 1; back <= LONGEST && back <= addr; back++)
        if (pgk_code_is(code, addr - back))
            return addr - back;
    return UINT64_MAX;
}

bool pgk_code_is_straight(struct pgk_code *code, uint64_t start, uint64_t end)
{
    if (start > end)
        return false;
    while (start < end) {
        uint8_t mark = pgk_code_mark(code, start);
        enum pgk_insn_kind kind = pgk_code_kind(mark);
        if (!mark) { /* bytes between functions, or that are no instruction */
            start++;
            continue;
        }
        if (kind == PGK_INSN_CALL || kind == PGK_INSN_RET ||
            (kind == PGK_INSN_JUMP && !(mark & PGK_CODE_INDIRECT)))
            return false;
        start += mark & PGK_CODE_LENGTH;
    }
    return true;
}

static bool starts_region(const struct pgk_code *code, uint64_t addr)
{
    size_t i = region_behind(code, addr);
    return i < code->regions.n && code->regions.v[i].low == addr;
}

bool pgk_code_is_frame_edge(struct pgk_code *code, uint64_t addr)
{
    uint8_t mark = pgk_code_mark(code, addr);
    uint8_t next = pgk_code_mark(code, addr + (mark & PGK_CODE_LENGTH));
    if (pgk_code_kind(mark) == PGK_INSN_RET || pgk_code_kind(next) == PGK_INSN_RET)
        return true;
    if (code->decoder.machine->link_register && pgk_frame_is_missing(code, addr))
        return true;
    uint64_t before = pgk_code_before(code, addr);
    return starts_region(code, addr) || (before != UINT64_MAX && starts_region(code, before));
}
