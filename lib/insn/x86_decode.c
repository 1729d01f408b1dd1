/* x86-64 without text. */
#include "x86_priv.h"

#include "mem.h"

int pgk_x86_open(struct pgk_insn_decoder *d, struct pgk_err *err)
{
    ZydisDecoder *z = d->zydis = pgk_mem_zalloc(1, sizeof *z);
    d->memo = pgk_x86_memo_new();
    if (!z || !d->memo) {
        pgk_x86_close(d);
        return pgk_fail_nomem(err);
    }
    if (!ZYAN_SUCCESS(ZydisDecoderInit(z, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))) {
        pgk_x86_close(d);
        return pgk_fail(err, PGK_E_ARG, .field = "decoder", .found = "Zydis refuses 64-bit mode");
    }
    pgk_x86_names_init();
    return 0;
}

void pgk_x86_close(struct pgk_insn_decoder *d)
{
    pgk_mem_free(d->zydis);
    pgk_mem_free(d->memo);
    d->zydis = d->memo = NULL;
}

static enum pgk_insn_kind kind_of(const ZydisDecodedInstruction *in)
{
    switch (in->meta.category) {
    case ZYDIS_CATEGORY_CALL:
        return PGK_INSN_CALL;
    case ZYDIS_CATEGORY_RET:
        return PGK_INSN_RET;
    case ZYDIS_CATEGORY_COND_BR:
        return PGK_INSN_COND;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return PGK_INSN_JUMP;
    default:
        break;
    }
    if (in->mnemonic == ZYDIS_MNEMONIC_UD2 || in->mnemonic == ZYDIS_MNEMONIC_HLT)
        return PGK_INSN_STOP;
    return PGK_INSN_OTHER;
}

void pgk_x86_classify(const ZydisDecodedInstruction *in, uint64_t addr, struct pgk_insn *insn)
{
    uint64_t next = addr + in->length;
    *insn = (struct pgk_insn){
        .addr = addr, .length = in->length, .valid = true, .kind = (uint8_t)kind_of(in)};
    if (insn->kind == PGK_INSN_COND || insn->kind == PGK_INSN_JUMP || insn->kind == PGK_INSN_CALL) {
        if (in->raw.imm[0].is_relative)
            insn->target = next + (uint64_t)in->raw.imm[0].value.s;
        else
            insn->indirect = true;
    }
    if (pgk_x86_has_data(in))
        insn->data = next + (uint64_t)in->raw.disp.value;
}

void pgk_x86_decode(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n, uint64_t addr,
                    struct pgk_insn *insn)
{
    ZydisDecodedInstruction in;
    if (pgk_x86_is_split(d, bytes, n)) {
        *insn = (struct pgk_insn){.addr = addr, .length = 1, .valid = true};
    } else if (!pgk_x86_memo_find(d->memo, bytes, n, addr, insn)) {
        if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(d->zydis, NULL, bytes, n, &in)))
            pgk_x86_classify(&in, addr, insn);
        else
            *insn = (struct pgk_insn){.addr = addr, .length = 1};
        pgk_x86_memo_keep(d->memo, bytes, n, &in, insn);
    }
}
