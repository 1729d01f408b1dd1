/* The contents of the versions of files of counters: records/indexed.def and
 * records/instr_raw.def. */
#ifndef PGK_INSTR_VERSION_H
#define PGK_INSTR_VERSION_H

#include "cursor.h"
#include "instr_model.h"

struct pgk_instr_holds {
    bool several_hashes, values, summary; /* of indexed profiles */
    bool binary_ids, traces, loop_entries, bitmaps, packed_bitmaps, vtables, uniformity;
    enum pgk_hash_age hashes; /* of the front end, that its readers look functions up by */
};
struct pgk_instr_holds pgk_index_holds(uint32_t index_version);
struct pgk_instr_holds pgk_raw_holds(uint32_t raw_version);

/* Refuses a version word, at `off`, with variant bits that are not known. */
PGK_MUST_USE int pgk_instr_check_variant(const struct pgk_cursor *c, uint64_t word, uint64_t off,
                                         const char *record, struct pgk_err *err);

/* Notes what is lost in functions, their values and their hashes. */
void pgk_instr_note_loss(const struct pgk_instr *p, const struct pgk_instr_holds *holds,
                         struct pgk_instr_loss *loss);

#endif
