/* The functions of each machine that insn.c dispatches to. */
#ifndef PGK_INSN_PRIV_H
#define PGK_INSN_PRIV_H

#include "insn_effect.h"

/* One row for each machine; what the functions do is said in insn.h and insn_effect.h. */
struct pgk_insn_machine {
    uint16_t number; /* EM_..., which has a row in machines.def */
    int (*open)(struct pgk_insn_decoder *d, struct pgk_err *err);
    void (*close)(struct pgk_insn_decoder *d);
    void (*decode)(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n, uint64_t addr,
                   struct pgk_insn *insn);
    size_t (*text)(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n, uint64_t addr,
                   struct pgk_insn *insn, char text[PGK_INSN_TEXT_SIZE]);
    bool (*table)(const uint8_t *bytes, size_t n, struct pgk_insn_table *table);
    uint64_t (*stub_slot)(const struct pgk_insn *insn, const uint8_t *bytes, size_t n);
    void (*effect)(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n, uint64_t addr,
                   struct pgk_insn_effect *effect);
    bool (*may_name)(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                     uint64_t addr, uint64_t low, uint64_t high);
};

int pgk_x86_open(struct pgk_insn_decoder *d, struct pgk_err *err);
void pgk_x86_close(struct pgk_insn_decoder *d);
void pgk_x86_decode(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n, uint64_t addr,
                    struct pgk_insn *insn);
size_t pgk_x86_text(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n, uint64_t addr,
                    struct pgk_insn *insn, char text[PGK_INSN_TEXT_SIZE]);
bool pgk_x86_table(const uint8_t *bytes, size_t n, struct pgk_insn_table *table);
uint64_t pgk_x86_stub_slot(const struct pgk_insn *insn, const uint8_t *bytes, size_t n);
void pgk_x86_effect(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n, uint64_t addr,
                    struct pgk_insn_effect *effect);
bool pgk_x86_may_name(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                      uint64_t addr, uint64_t low, uint64_t high);

int pgk_arm64_open(struct pgk_insn_decoder *d, struct pgk_err *err);
void pgk_arm64_close(struct pgk_insn_decoder *d);
void pgk_arm64_decode(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                      uint64_t addr, struct pgk_insn *insn);
size_t pgk_arm64_text(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                      uint64_t addr, struct pgk_insn *insn, char text[PGK_INSN_TEXT_SIZE]);
bool pgk_arm64_table(const uint8_t *bytes, size_t n, struct pgk_insn_table *table);
uint64_t pgk_arm64_stub_slot(const struct pgk_insn *insn, const uint8_t *bytes, size_t n);
void pgk_arm64_effect(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                      uint64_t addr, struct pgk_insn_effect *effect);
bool pgk_arm64_may_name(const struct pgk_insn_decoder *d, const uint8_t *bytes, size_t n,
                        uint64_t addr, uint64_t low, uint64_t high);

/* The text of a system instruction; false for any other. */
bool pgk_arm64_system(uint32_t word, char *text, size_t size);

#endif
