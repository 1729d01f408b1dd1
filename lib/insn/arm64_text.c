/* AArch64 as text: Capstone's, which comes from LLVM, with the spelling of LLVM 22. */
#include "insn_priv.h"

#include "mem.h"

#include <capstone/capstone.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct handle {
    csh cs;
    cs_insn *insn;
};

int pgk_arm64_open(struct pgk_insn_decoder *d, struct pgk_err *err)
{
    struct handle *h = pgk_mem_zalloc(1, sizeof *h);
    if (!h)
        return pgk_fail_nomem(err);
    if (cs_open(CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, &h->cs) != CS_ERR_OK) {
        pgk_mem_free(h);
        return pgk_fail_nomem(err);
    }
    h->insn = cs_malloc(h->cs);
    d->capstone = h;
    if (h->insn)
        return 0;
    pgk_arm64_close(d);
    return pgk_fail_nomem(err);
}

void pgk_arm64_close(struct pgk_insn_decoder *d)
{
    struct handle *h = d->capstone;
    if (!h)
        return;
    if (h->insn)
        cs_free(h->insn, 1);
    cs_close(&h->cs);
    pgk_mem_free(h);
    d->capstone = NULL;
}

size_t pgk_arm64_text(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                      uint64_t addr, struct pgk_insn *insn, char text[PGK_INSN_TEXT_SIZE])
{
    struct handle *h = d->capstone;
    size_t left = n;
    uint64_t at = addr;
    pgk_arm64_decode(d, bytes, n, addr, insn);
    if (!insn->valid || !cs_disasm_iter(h->cs, &bytes, &left, &at, h->insn)) {
        insn->valid = false;
        strcpy(text, "<unknown>");
        return strlen(text);
    }
    int len = snprintf(text, PGK_INSN_TEXT_SIZE, "%s%s%s", h->insn->mnemonic,
                       h->insn->op_str[0] ? "\t" : "", h->insn->op_str);
    return (size_t)len;
}
