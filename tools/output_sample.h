/* Writing sample profiles: the options that merge and convert share, and of these the ones about
 * what is in the file, which gen has, too. */
#ifndef PGK_OUTPUT_SAMPLE_H
#define PGK_OUTPUT_SAMPLE_H

#include "cli.h"

struct sample_output {
    const char *path;
    struct pgk_sample_write_opts write;
    bool drop_vtables; /* without a word */
    bool keep_partial; /* the mark of the input stays */
    bool generated;    /* no input had a mark of flow-sensitive discriminators to lose */
    const char *function, *no_function; /* patterns */
    const char *symbols;                /* file with symbols to add */
    const char *remap;                  /* file with pairs of names */
    const char *names;                  /* file with names that GUIDs may stand for */
    enum pgk_sample_layout layout;
    bool relayout;                      /* a layout was asked for */
    bool canonical;                     /* a policy was asked for */
    enum pgk_sample_suffixes suffixes;
    struct pgk_sample_trim_opts trim;
    bool flow;                          /* discriminators are flow-sensitive */
    int flow_pass;                      /* of which so much is kept; -1: all */
};
#define SAMPLE_OUTPUT_INIT .flow_pass = -1

/* Passes of the compiler, by words. */
extern const struct option_choice sample_flow_passes[];

/* Of the file, for a struct sample_output, and what else merge and convert do. Which come first. */
extern const struct option_table sample_file_options, sample_output_options;
/* Takes --to, whose field is the struct sample_output; for verbs whose own --to takes more. */
void sample_output_to(const struct option_given *given);
/* Word `i` of those that it takes; NULL past the last. Valid until the next call. */
const char *sample_output_word(size_t i);

/* Does what was asked for to the profile, and finishes it. */
int sample_output_change(struct sample_output *o, struct pgk_sample **profile,
                         const struct cli_common *common, struct pgk_err *err);
/* Writes a finished profile and says what had to be left out: an EXIT_... */
int sample_file_write(struct sample_output *o, const struct pgk_sample *profile, bool quiet);
/* Both: an EXIT_... */
int sample_output_write(struct sample_output *o, struct pgk_sample **profile,
                        const struct cli_common *common);

#endif
