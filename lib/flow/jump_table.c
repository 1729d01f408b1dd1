/* Tables of offsets by which the code of a switch finds where to jump. */
#include "jump_table.h"

#include <elf.h>
#include <string.h>

/* The section that a table is in: constants. */
static bool find_section(const struct pgk_code *code, uint64_t table,
                         struct pgk_elf_section_info *s)
{
    for (size_t i = 0; i < pgk_elf_section_count(code->elf); i++) {
        *s = pgk_elf_section_at(code->elf, i);
        if (s->bytes && s->flags & SHF_ALLOC && !(s->flags & (SHF_WRITE | SHF_EXECINSTR)) &&
            table >= s->addr && table - s->addr < s->size && s->type == SHT_PROGBITS)
            return true;
    }
    return false;
}

/* Little-endian, as all programs here. */
static uint64_t target_of(const struct pgk_arm64_jump_table *t, const uint8_t *entry)
{
    uint64_t offset = 0;
    memcpy(&offset, entry, t->bytes);
    if (t->is_signed && entry[t->bytes - 1] & 0x80)
        offset -= UINT64_C(1) << 8 * t->bytes;
    return t->anchor + (offset << t->shift);
}

static bool read_table(struct pgk_code *code, const struct pgk_arm64_jump_table *t,
                       pgk_is_inside_fn *is_inside, const void *ctx, pgk_addr_vec *targets)
{
    struct pgk_elf_section_info s;
    const size_t before = targets->n;
    uint64_t i = 0;
    if (!find_section(code, t->table, &s))
        return true;
    const uint64_t limit = (s.size - (t->table - s.addr)) / t->bytes;
    for (; i < t->n && i < limit; i++) {
        uint64_t target = target_of(t, s.bytes + (t->table - s.addr) + i * t->bytes);
        if (!is_inside(ctx, target) || !pgk_code_is(code, target))
            break;
        if (!pgk_vec_push(targets, target))
            return false;
    }
    if (t->n != UINT64_MAX && i < t->n)
        targets->n = before;
    return true;
}

bool pgk_jump_table_read(struct pgk_code *code, uint64_t table, pgk_is_inside_fn *is_inside,
                         const void *ctx, pgk_addr_vec *targets)
{
    const struct pgk_arm64_jump_table t = {
        .table = table, .anchor = table, .n = UINT64_MAX, .bytes = 4, .is_signed = true};
    return read_table(code, &t, is_inside, ctx, targets);
}

bool pgk_jump_table_step(struct pgk_code *code, struct pgk_arm64_jumps *jumps, uint64_t addr,
                         pgk_is_inside_fn *is_inside, const void *ctx, pgk_addr_vec *targets)
{
    struct pgk_arm64_jump_table t;
    uint32_t word;
    size_t n;
    const uint8_t *bytes = pgk_code_bytes(code, addr, &n);
    if (!bytes || n < sizeof word)
        return true;
    memcpy(&word, bytes, sizeof word);
    return !pgk_arm64_jumps_step(jumps, word, addr, &t) || (t.n == UINT64_MAX && t.bytes < 4) ||
           read_table(code, &t, is_inside, ctx, targets);
}
