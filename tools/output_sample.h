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

enum {
    OPT_SAMPLE_TO = 512, OPT_MD5, OPT_COMPRESS, OPT_VTABLES, OPT_NO_VTABLES, OPT_SPLIT,
    OPT_PARTIAL, OPT_SYMBOLS, OPT_DROP_SYMBOLS, OPT_SIZE_LIMIT, OPT_FUNCTION, OPT_NO_FUNCTION,
    OPT_REMAP, OPT_NAMES, OPT_LAYOUT, OPT_CANONICAL, OPT_TRIM_COLD, OPT_MERGE_COLD, OPT_COLD_DEPTH,
    OPT_COLD_BELOW, OPT_FS, OPT_FS_PASS, OPT_SAMPLE_VERSION,
};
#define SAMPLE_FILE_LONG                                       \
    {"output", required_argument, NULL, 'o'},                  \
    {"to", required_argument, NULL, OPT_SAMPLE_TO},            \
    {"format-version", required_argument, NULL, OPT_SAMPLE_VERSION}, \
    {"md5", no_argument, NULL, OPT_MD5},                       \
    {"compress", no_argument, NULL, OPT_COMPRESS},             \
    {"vtables", no_argument, NULL, OPT_VTABLES},               \
    {"no-vtables", no_argument, NULL, OPT_NO_VTABLES}
#define SAMPLE_OUTPUT_LONG                                     \
    SAMPLE_FILE_LONG,                                          \
    {"split-layout", no_argument, NULL, OPT_SPLIT},            \
    {"gen-partial", no_argument, NULL, OPT_PARTIAL},           \
    {"symbols", required_argument, NULL, OPT_SYMBOLS},         \
    {"drop-symbols", no_argument, NULL, OPT_DROP_SYMBOLS},     \
    {"size-limit", required_argument, NULL, OPT_SIZE_LIMIT},   \
    {"function", required_argument, NULL, OPT_FUNCTION},       \
    {"no-function", required_argument, NULL, OPT_NO_FUNCTION}, \
    {"remap", required_argument, NULL, OPT_REMAP},             \
    {"names", required_argument, NULL, OPT_NAMES},             \
    {"layout", required_argument, NULL, OPT_LAYOUT},           \
    {"canonical", optional_argument, NULL, OPT_CANONICAL},     \
    {"trim-cold", no_argument, NULL, OPT_TRIM_COLD},           \
    {"merge-cold", no_argument, NULL, OPT_MERGE_COLD},         \
    {"cold-depth", required_argument, NULL, OPT_COLD_DEPTH},   \
    {"cold-below", required_argument, NULL, OPT_COLD_BELOW},   \
    {"fs", no_argument, NULL, OPT_FS},                         \
    {"fs-pass", required_argument, NULL, OPT_FS_PASS}
#define SAMPLE_FILE_HELP                                                                        \
    "      --to NAME            extbinary (default), text, binary, or for -fauto-profile of gcc\n" \
    "                           gcc11 (for 5 to 11) to gcc16 (gcc: gcc15)\n"                   \
    "      --format-version N   of extbinary: 103 (default), or 104 for LLVM 23 and later\n"    \
    "      --vtables            write types of objects, which LLVM before 22 misreads\n"        \
    "      --no-vtables         leave them out without a warning\n"                             \
    "      --md5                names as GUIDs\n"                                               \
    "      --compress           sections with zlib\n"
#define SAMPLE_OUTPUT_HELP                                                                      \
    SAMPLE_FILE_HELP                                                                            \
    "      --split-layout       functions without inlinees apart, for ThinLTO\n"                \
    "      --gen-partial        mark as the profile of shared code\n"                           \
    "      --symbols FILE       add the program's symbols, one per line\n"                      \
    "      --drop-symbols       write no symbols\n"                                             \
    "      --size-limit BYTES   leave out the coldest functions to fit\n"                       \
    "      --function REGEX     only functions or contexts that match; extended syntax\n"       \
    "      --no-function REGEX  none that match\n"                                              \
    "      --remap FILE         rename functions: lines 'OLD NEW'\n"                            \
    "      --names FILE         names to find GUIDs among, one per line; -b does so, too\n"     \
    "      --layout NAME        flat: no inlinees, no contexts; nested: contexts as inlinees\n" \
    "      --canonical[=POLICY]  drop suffixes of names: selected (default) or all\n"           \
    "      --merge-cold         cold contexts become those of their last frames\n"              \
    "      --trim-cold          leave cold contexts out\n"                                      \
    "      --cold-depth N       frames that --merge-cold keeps (default 1)\n"                   \
    "      --cold-below N       samples under which a context is cold (default: LLVM's rule)\n" \
    "      --fs                 discriminators are flow-sensitive, which texts do not record\n" \
    "      --fs-pass NAME       what a pass sees of them: base, pass1, pass2 or pass3\n"

/* True if the option was one of SAMPLE_FILE_LONG, or of those that say how much is written. */
bool sample_file_option(struct sample_output *o, const struct cli_verb *verb, int c,
                        const char *value);
/* True if the option was one of all these. */
bool sample_output_option(struct sample_output *o, const struct cli_verb *verb, int c,
                          const char *value);
/* Does what was asked for to the profile, and finishes it. */
int sample_output_change(struct sample_output *o, struct pgk_sample **profile,
                         const struct cli_common *common, struct pgk_err *err);
/* Writes a finished profile and says what had to be left out: an EXIT_... */
int sample_file_write(struct sample_output *o, const struct pgk_sample *profile, bool quiet);
/* Both: an EXIT_... */
int sample_output_write(struct sample_output *o, struct pgk_sample **profile,
                        const struct cli_common *common);

#endif
