/* Raw instrumentation profiles (.profraw), versions 8 to 11. docs/formats/instr-raw.md */
#ifndef PGK_INSTR_RAW_H
#define PGK_INSTR_RAW_H

#include "instr_model.h"
#include "pgokit/format.h"
#include "sink.h"

/* As read from a little-endian file; of a big-endian one in the other order. */
#define PGK_INSTR_RAW_MAGIC_64 UINT64_C(0xff6c70726f667281)
#define PGK_INSTR_RAW_MAGIC_32 UINT64_C(0xff6c70726f665281)

#include "instr_raw.def"

struct pgk_instr_raw_info {
    uint32_t version, images; /* of the last image; how many follow each other */
};

bool pgk_instr_raw_sniff(const uint8_t *bytes, size_t size);

/* Adds all images of a file. Nothing points into `bytes` afterwards. `info` may be NULL. */
PGK_MUST_USE int pgk_instr_raw_read(struct pgk_instr_adder *a, const uint8_t *bytes, size_t size,
                                    const struct pgk_source *src,
                                    struct pgk_instr_raw_info *info, struct pgk_err *err);

/* The build ids of the first image, as pgk_file_build_ids gives them. */
PGK_MUST_USE int pgk_instr_raw_build_ids(const uint8_t *bytes, size_t size,
                                         const struct pgk_source *src, pgk_build_id_fn *fn,
                                         void *ctx, struct pgk_err *err);

/* Refuses what a raw profile of the version cannot hold at all. */
PGK_MUST_USE int pgk_instr_raw_check(const struct pgk_instr *p, const char *path,
                                     uint32_t version, struct pgk_err *err);
/* Of a profile that can be written and has been checked. */
PGK_MUST_USE int pgk_instr_raw_write(const struct pgk_instr *p, uint32_t version,
                                     struct pgk_sink *out, struct pgk_err *err);
/* Fills in what the version cannot hold, in a struct of zeros. PGK_E_NOMEM. */
PGK_MUST_USE int pgk_instr_raw_loss(const struct pgk_instr *p, uint32_t version,
                                    struct pgk_instr_loss *loss, struct pgk_err *err);

#endif
