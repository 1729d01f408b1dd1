/* Accesses of windows, for a library that asks for them: after each block, as all of its
 * instructions have run by then. */
#include "recorder_access.h"

#include "recorder_take.h"
#include "recorder_writer.h"

enum { BYTES_OF_AN_ACCESS = 8 }; /* of what a string instruction reads or writes */

struct pgbr_accesses pgbr_accesses;

static void take(const struct pgbr_engine *x, u64 addr, u32 bytes, u32 accesses, u32 does)
{
    if (addr - pgbr_accesses.from >= pgbr_accesses.bytes)
        return;
    if (does & PGBR_READS)
        pgbr_accesses.take(x->number, addr, bytes, accesses, false);
    if (does & PGBR_WRITES)
        pgbr_accesses.take(x->number, addr, bytes, accesses, true);
}

/* The register moved by what was accessed, up or down. */
static void take_string(const struct pgbr_engine *x, u64 before, u64 after, u32 does)
{
    const bool up = after >= before;
    const u64 bytes = up ? after - before : before - after;
    if (!bytes || !does)
        return;
    take(x, up ? before : after, bytes < UINT32_MAX ? (u32)bytes : UINT32_MAX,
         (u32)((bytes + BYTES_OF_AN_ACCESS - 1) / BYTES_OF_AN_ACCESS), does);
}

void pgbr_take_load(const struct pgbr_engine *x, u64 addr)
{
    if (pgbr_accesses.take && !x->counts)
        take(x, addr, sizeof(u64), 1, PGBR_READS);
}

void pgbr_take_block(const struct pgbr_engine *x, const struct pgbr_block *b)
{
    for (u32 i = 0; i < b->insns; i++)
        if (b->length[i].does)
            take(x, x->addresses[i], b->length[i].accessed, 1, b->length[i].does);
    const uint8_t string = b->branch.kind == PGBR_COPY ? b->branch.string : 0;
    if (string) {
        take_string(x, x->string_si, x->regs[PGBR_RSI], string & PGBR_READS_SI ? PGBR_READS : 0);
        take_string(x, x->string_di, x->regs[PGBR_RDI],
                    (string & PGBR_READS_DI ? PGBR_READS : 0) |
                        (string & PGBR_WRITES_DI ? PGBR_WRITES : 0));
    }
}
