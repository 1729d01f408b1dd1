/* Sample profiles of gcc: the rows of records/gcc_profile.def, and what reader and writer share.
 * docs/formats/sample-gcc.md */
#ifndef PGK_SAMPLE_GCC_H
#define PGK_SAMPLE_GCC_H

#include "gcc_profile.def"
#include "sample_binary.h"

enum {
    PGK_GCC_TAG_SUMMARY = (int)0xa8000000,
    PGK_GCC_TAG_NAMES = (int)0xaa000000,
    PGK_GCC_TAG_FUNCTIONS = (int)0xac000000,
    PGK_GCC_TAG_MODULES = (int)0xae000000,
    PGK_GCC_INDIRECT_CALLS = 7, /* the kind of histogram of call targets */
};
#define PGK_GCC_NO_FILE UINT32_MAX

enum pgk_gcc_layout { PGK_GCC_PLAIN, PGK_GCC_SUMMARY };
enum pgk_gcc_strings { PGK_GCC_BYTES, PGK_GCC_WORDS };

struct pgk_gcc_profile_row {
    uint32_t number;  /* in the header */
    uint32_t version; /* for people: 0 for "*704" */
    enum pgk_gcc_layout layout;
    enum pgk_gcc_strings strings;
    const char *readers;
};
/* NULL if there is no such version. */
const struct pgk_gcc_profile_row *pgk_gcc_profile_row(uint32_t number);
const struct pgk_gcc_profile_row *pgk_gcc_profile_of_version(uint32_t version);

enum pgk_gcc_lines { PGK_GCC_BY_DISCRIMINATOR, PGK_GCC_BY_LINE };
enum pgk_gcc_heads { PGK_GCC_AS_SAMPLED, PGK_GCC_SCALING };
enum pgk_gcc_clones { PGK_GCC_FIRST_DOT, PGK_GCC_OWN_SUFFIXES };

struct pgk_gcc_compiler {
    unsigned release;
    const struct pgk_gcc_profile_row *profile; /* what it reads */
    enum pgk_gcc_lines lines;
    enum pgk_gcc_heads heads;
    enum pgk_gcc_clones clones;
};
/* Fills in the row of a release; false if there is none. */
bool pgk_gcc_compiler(unsigned release, struct pgk_gcc_compiler *compiler);

/* Facts that the reader saw besides the profile. */
struct pgk_sample_gcc_info {
    const struct pgk_gcc_profile_row *row;
    bool no_compiler; /* names of another version than the number says, as create_gcov 0.19 writes
                         them: no gcc takes such a file */
    bool has_summary;
    struct pgk_sample_summary summary;
};

/* The changes to a profile that was adapted to a compiler. */
struct pgk_gcc_changes {
    bool contexts;       /* left out: functions have the samples of all of them */
    size_t clones_joined; /* functions that have the name of the function they were made of */
    size_t heads_raised; /* functions whose head samples were fewer than their entries */
    size_t lines_merged; /* lines and inlined calls that differed in discriminators alone */
};
/* A finished copy that the compiler makes of what was meant by the profile, which is finished. */
PGK_MUST_USE int pgk_gcc_adapt(struct pgk_sample **adapted, const struct pgk_sample *p,
                               const struct pgk_gcc_compiler *compiler,
                               struct pgk_gcc_changes *changes, struct pgk_err *err);

/* The same for the release that the options name; what is left out is added to a struct of zeros,
 * or NULL. */
PGK_MUST_USE int pgk_sample_gcc_adapt(struct pgk_sample **adapted, const struct pgk_sample *p,
                                      const struct pgk_sample_write_opts *opts,
                                      struct pgk_sample_written *left_out, struct pgk_err *err);
/* Writes an adapted profile for the release that the options name. */
PGK_MUST_USE int pgk_sample_gcc_write_for(const struct pgk_sample *p, size_t n,
                                          const struct pgk_sample_write_opts *opts,
                                          struct pgk_sink *out, struct pgk_err *err);

#endif
