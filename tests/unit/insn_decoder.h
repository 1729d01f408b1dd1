/* Decoders for tests, by the machine's number. */
#ifndef INSN_DECODER_H
#define INSN_DECODER_H

#include "insn.h"
#include "machine.h"
#include "pgk_test.h"

static inline void test_decoder_open(struct pgk_insn_decoder *d, uint16_t machine,
                                     enum pgk_insn_style style)
{
    assert_int_equal(pgk_insn_decoder_open(d, pgk_machine_find(machine), style, NULL), 0);
}

#endif
