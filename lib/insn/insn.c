/* Dispatches to the decoder for x86-64 or AArch64. */
#include "insn_priv.h"

#include <elf.h>
#include <string.h>

int pgk_insn_decoder_open(struct pgk_insn_decoder *d, uint16_t machine, enum pgk_insn_style style,
                          struct pgk_err *err)
{
    *d = (struct pgk_insn_decoder){.machine = machine, .style = style};
    if (machine == EM_X86_64)
        return pgk_x86_open(d, err);
    if (machine == EM_AARCH64)
        return pgk_arm64_open(d, err);
    return pgk_fail(err, PGK_E_VERSION, .field = "machine", .found = PGK_F("%u", machine),
                    .expected = "x86-64 (62) or AArch64 (183)");
}

void pgk_insn_decoder_close(struct pgk_insn_decoder *d)
{
    if (d->machine == EM_AARCH64)
        pgk_arm64_close(d);
    else
        pgk_x86_close(d);
    memset(d, 0, sizeof *d);
}

void pgk_insn_decode(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                     uint64_t addr, struct pgk_insn *insn)
{
    if (d->machine == EM_X86_64)
        pgk_x86_decode(d, bytes, n, addr, insn);
    else
        pgk_arm64_decode(d, bytes, n, addr, insn);
}

size_t pgk_insn_text(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                     uint64_t addr, struct pgk_insn *insn, char text[PGK_INSN_TEXT_SIZE])
{
    if (d->machine == EM_X86_64)
        return pgk_x86_text(d, bytes, n, addr, insn, text);
    return pgk_arm64_text(d, bytes, n, addr, insn, text);
}
