/* The section table of an extensible binary, and the bytes of its sections. */
#ifndef PGK_EXT_SECTIONS_H
#define PGK_EXT_SECTIONS_H

#include "cursor.h"
#include "sample_format.h"
#include "vec.h"

struct pgk_ext_section {
    uint64_t type, flags, off, size; /* as the table has them */
    uint64_t entry_off;              /* of its entry in the table */
    uint8_t *plain;                  /* NULL: not compressed */
    uint64_t plain_size;
};

struct pgk_ext_sections {
    struct pgk_source src;
    const uint8_t *bytes;
    PGK_VEC(struct pgk_ext_section) list;
    bool pass_unknown; /* types that are not known are passed over by pgk_ext_open */
    size_t passed;     /* number of sections of these */
};

/* Header and section table. Refuses sections outside the file, several of one type but for the two
 * halves of a split layout, and types and flags that are not known: those of the summary say how
 * the profiles are to be read, so that an unknown one may change what any byte means. */
PGK_MUST_USE int pgk_ext_open(struct pgk_ext_sections *s, const uint8_t *bytes, size_t size,
                              const struct pgk_source *src, struct pgk_err *err);
/* The same with types and flags that are not known, for showing them. */
PGK_MUST_USE int pgk_ext_open_any(struct pgk_ext_sections *s, const uint8_t *bytes, size_t size,
                                  const struct pgk_source *src, struct pgk_err *err);
void pgk_ext_close(struct pgk_ext_sections *s);
/* The `nth` section of the type that is not empty, or NULL. */
struct pgk_ext_section *pgk_ext_find(struct pgk_ext_sections *s, enum pgk_sample_section type,
                                     unsigned nth);
/* The one of the flat half of a split layout, or the other, if it is not empty; else NULL. */
struct pgk_ext_section *pgk_ext_find_half(struct pgk_ext_sections *s, enum pgk_sample_section type,
                                          bool flat);
/* The `nth` section that is not empty of profiles, composite or not, or NULL. */
struct pgk_ext_section *pgk_ext_find_profiles(struct pgk_ext_sections *s, unsigned nth);
/* A cursor over the section's bytes, which are decompressed if need be. Offsets in messages
 * are those of the file, or of the section where it is compressed. */
PGK_MUST_USE int pgk_ext_cursor(struct pgk_ext_sections *s, struct pgk_ext_section *section,
                                struct pgk_cursor *c, struct pgk_err *err);
const char *pgk_ext_section_name(uint64_t type);
struct pgk_ext_flag {
    uint64_t type, bit; /* type 0: of every section */
    const char *meaning;
};
/* The `nth` flag that a section of the type may have, or NULL. */
const struct pgk_ext_flag *pgk_ext_flag_at(uint64_t type, size_t nth);
/* The unknown flags of a section. */
uint64_t pgk_ext_unknown_flags(const struct pgk_ext_section *s);

struct pgk_sample;
struct pgk_sample_ext_info;
/* Reads the flags of the summary, and the summary as stored. */
PGK_MUST_USE int pgk_ext_read_summary(struct pgk_ext_sections *s, struct pgk_sample *p,
                                      struct pgk_sample_ext_info *info, struct pgk_err *err);
struct pgk_sample_name_table;
/* The table of names; those that are needed will be added to `p`. The table is valid as long as the
 * sections. Without the section there are none. */
PGK_MUST_USE int pgk_ext_read_names_lazily(struct pgk_ext_sections *s, struct pgk_sample *p,
                                           struct pgk_sample_name_table *names,
                                           struct pgk_err *err);
/* The counts of an indexed name table, after which the cursor then is; their sum. Refuses more
 * names than there are bytes left for. */
PGK_MUST_USE int pgk_ext_read_spans(struct pgk_cursor *c, const struct pgk_ext_section *s,
                                    struct pgk_sample_name_table *names, uint64_t *n,
                                    struct pgk_err *err);
/* A cursor over the offsets of an indexed table, one for each function of the half. */
PGK_MUST_USE int pgk_ext_offsets(struct pgk_ext_sections *s, struct pgk_ext_section *section,
                                 const struct pgk_sample_name_table *names, struct pgk_cursor *c,
                                 struct pgk_err *err);
/* What the table says of the file. */
void pgk_ext_describe(const struct pgk_ext_sections *s, struct pgk_sample_ext_info *info);

#endif
