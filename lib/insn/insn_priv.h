/* The two machines behind insn.h. */
#ifndef PGK_INSN_PRIV_H
#define PGK_INSN_PRIV_H

#include "insn_effect.h"

int pgk_x86_open(struct pgk_insn_decoder *d, struct pgk_err *err);
void pgk_x86_close(struct pgk_insn_decoder *d);
void pgk_x86_decode(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                    uint64_t addr, struct pgk_insn *insn);
size_t pgk_x86_text(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                    uint64_t addr, struct pgk_insn *insn, char text[PGK_INSN_TEXT_SIZE]);
/* As pgk_insn_effect. */
void pgk_x86_effect(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n, uint64_t addr,
                    struct pgk_insn_effect *effect);

int pgk_arm64_open(struct pgk_insn_decoder *d, struct pgk_err *err);
void pgk_arm64_close(struct pgk_insn_decoder *d);
void pgk_arm64_decode(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                      uint64_t addr, struct pgk_insn *insn);
size_t pgk_arm64_text(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                      uint64_t addr, struct pgk_insn *insn, char text[PGK_INSN_TEXT_SIZE]);
void pgk_arm64_effect(const uint8_t *bytes, size_t n, uint64_t addr,
                      struct pgk_insn_effect *effect);
/* The text of a system instruction; false for any other. */
bool pgk_arm64_system(uint32_t word, char *text, size_t size);

#endif
