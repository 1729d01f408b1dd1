/* The targets of tables that code of AArch64 jumps by, a line for each piece of code from a symbol
 * to the next that has some: addresses as hexadecimal numbers, the piece's own first.
 *
 *   jump_targets PROGRAM */
#include "jump_table.h"

#include <inttypes.h>
#include <stdio.h>

static bool is_inside(const void *ctx, uint64_t addr)
{
    const struct pgk_code_region *r = ctx;
    return addr >= r->low && addr < r->high;
}

static bool print_targets(struct pgk_code *code, const struct pgk_code_region *r)
{
    struct pgk_arm64_jumps jumps = {0};
    pgk_addr_vec targets = {0};
    bool ok = true;
    for (uint64_t at = r->low; ok && at + 4 <= r->high; at += 4)
        ok = pgk_jump_table_step(code, &jumps, at, is_inside, r, &targets);
    if (ok && targets.n) {
        printf("%" PRIx64, r->low);
        for (size_t i = 0; i < targets.n; i++)
            printf(" %" PRIx64, targets.v[i]);
        putchar('\n');
    }
    pgk_vec_free(&targets);
    return ok;
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_elf *elf = NULL;
    struct pgk_code code;
    bool ok = true;
    if (argc != 2) {
        fprintf(stderr, "usage: jump_targets PROGRAM\n");
        return 2;
    }
    if (pgk_elf_open(&elf, argv[1], &err) || pgk_code_open(&code, elf, &err)) {
        pgk_err_print(&err, stderr);
        return 2;
    }
    for (size_t i = 0; ok && i < code.regions.n; i++)
        ok = print_targets(&code, &code.regions.v[i]);
    pgk_code_close(&code);
    pgk_elf_close(&elf);
    return ok ? 0 : 2;
}
