/* Tables of offsets by which the code of a switch finds where to jump. */
#include "jump_table.h"

#include <elf.h>
#include <string.h>

bool pgk_jump_table_read(struct pgk_code *code, uint64_t table, pgk_is_inside_fn *is_inside,
                         const void *ctx, pgk_addr_vec *targets)
{
    for (size_t i = 0; i < pgk_elf_section_count(code->elf); i++) {
        struct pgk_elf_section_info s = pgk_elf_section_at(code->elf, i);
        if (!s.bytes || !(s.flags & SHF_ALLOC) || s.flags & (SHF_WRITE | SHF_EXECINSTR) ||
            table < s.addr || table - s.addr >= s.size || s.type != SHT_PROGBITS)
            continue;
        int32_t offset;
        for (uint64_t at = table - s.addr; s.size - at >= sizeof offset; at += sizeof offset) {
            memcpy(&offset, s.bytes + at, sizeof offset);
            uint64_t target = table + (uint64_t)(int64_t)offset;
            if (!is_inside(ctx, target) || !pgk_code_is(code, target))
                break;
            if (!pgk_vec_push(targets, target))
                return false;
        }
    }
    return true;
}
