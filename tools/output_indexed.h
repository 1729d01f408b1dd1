/* Writing indexed profiles: the options that say for which compilers and of which versions, which
 * merge and convert share for heap profiles and for counters. */
#ifndef OUTPUT_INDEXED_H
#define OUTPUT_INDEXED_H

#include "cli.h"

struct indexed_output {
    /* What the verb does; set before the first option. */
    const struct cli_verb *verb;
    enum pgk_kind kind;        /* what is written, on which versions depend */
    const char *takes;         /* what --to takes, for a sentence that refuses a name */
    const char *const *others; /* names of forms that are not indexed; the last one is NULL */
    bool full_schema;          /* all fields of heap data, not only the compiler's */
    /* What was asked for. */
    const char *other;         /* one of `others`; NULL: an indexed profile */
    struct pgk_indexed_target target; /* of --to; without: any */
    bool has_target, has_versions, has_fields;
    long index, memprof;       /* versions instead of the target's; INDEXED_NOT_GIVEN */
};
enum { INDEXED_NOT_GIVEN = -1 };
#define INDEXED_OUTPUT_INIT .index = INDEXED_NOT_GIVEN, .memprof = INDEXED_NOT_GIVEN

/* Versions, for a struct indexed_output. */
extern const struct option_table indexed_version_options;
/* Takes --to, whose field is the struct. Each kind has its own row. */
void indexed_output_to(const struct option_given *given);
/* Word `i` of those that it takes. */
const char *indexed_output_word(enum pgk_kind kind, const char *const *others, size_t i);
/* Each verb takes one of them: merge keeps the compiler's fields, convert all. */
#define INDEXED_FULL_ROW(type, member)                                                         \
    {"full-schema", 0, NULL, "keep all fields of heap data, not only those the compiler uses", \
     OPTION_FLAG(type, member.full_schema), OPTION_GIVEN(type, member.has_fields)}
#define INDEXED_FIELDS_ROW(type, member)                                                      \
    {"compiler-fields", 0, NULL, "of heap data, only the fields that the compiler uses",      \
     OPTION_CLEAR(type, member.full_schema), OPTION_GIVEN(type, member.has_fields)}

/* The output has to be one that as many compilers as possible read. */
bool indexed_output_is_for_any(const struct indexed_output *o);
/* Exits with a sentence if a partial profile is wanted, which keeps everything, and any of these
 * options was given, or `others`. */
void indexed_output_check_partial(const struct indexed_output *o, bool partial, bool others);
/* The requested options, for pgk_indexed_write. */
struct pgk_indexed_write_opts indexed_output_opts(const struct indexed_output *o,
                                                  unsigned threads);

#endif
