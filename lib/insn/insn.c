/* Dispatches to the functions of a machine. */
#include "insn.h"

#include "insn_priv.h"
#include "machine.h"

#include <elf.h>
#include <string.h>

#define MACHINE(number, name)                                                                  \
    {                                                                                          \
        number, name##_open, name##_close, name##_decode, name##_text, name##_table,           \
            name##_stub_slot, name##_effect, name##_may_name                                   \
    }
static const struct pgk_insn_machine machines[] = {
    MACHINE(EM_X86_64, pgk_x86),
    MACHINE(EM_AARCH64, pgk_arm64),
};

int pgk_insn_decoder_open(struct pgk_insn_decoder *d, const struct pgk_machine *machine,
                          enum pgk_insn_style style, struct pgk_err *err)
{
    *d = (struct pgk_insn_decoder){.machine = machine, .style = style};
    for (size_t i = 0; i < PGK_COUNTOF(machines) && !d->code; i++)
        if (machines[i].number == machine->number)
            d->code = &machines[i];
    if (!d->code)
        return pgk_fail(err, PGK_E_VERSION, .field = "machine",
                        .found = PGK_F("%u", machine->number),
                        .expected = pgk_machine_names((char[200]){0}, 200));
    return d->code->open(d, err);
}

void pgk_insn_decoder_close(struct pgk_insn_decoder *d)
{
    if (d->code)
        d->code->close(d);
    memset(d, 0, sizeof *d);
}

void pgk_insn_decode(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                     uint64_t addr, struct pgk_insn *insn)
{
    d->code->decode(d, bytes, n, addr, insn);
}

size_t pgk_insn_text(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                     uint64_t addr, struct pgk_insn *insn, char text[PGK_INSN_TEXT_SIZE])
{
    return d->code->text(d, bytes, n, addr, insn, text);
}

bool pgk_insn_table(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                    struct pgk_insn_table *table)
{
    return d->code->table(bytes, n, table);
}

uint64_t pgk_insn_stub_slot(const struct pgk_insn_decoder *d, const struct pgk_insn *insn,
                            const uint8_t *bytes, size_t n)
{
    return d->code->stub_slot(insn, bytes, n);
}

void pgk_insn_effect(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                     uint64_t addr, struct pgk_insn_effect *effect)
{
    d->code->effect(d, bytes, n, addr, effect);
}

bool pgk_insn_may_name(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                       uint64_t addr, uint64_t low, uint64_t high)
{
    return d->code->may_name(d, bytes, n, addr, low, high);
}
