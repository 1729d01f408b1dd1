/* Writing sample profiles: options, and what is said of what a file cannot hold. */
#include "output_sample.h"

#include "sample_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sample_output_to(const struct option_given *given)
{
    struct sample_output *o = given->into;
    struct pgk_err err = {0};
    if (pgk_sample_write_for(&o->write, given->value, &err))
        option_refuse(given, "--to accepts %s for sample profiles", err.expected);
}

const char *sample_output_word(size_t i)
{
    static const char *const encodings[] = {"extbinary", "text", "binary", "gcc"};
    enum { ENCODINGS = sizeof encodings / sizeof *encodings, FIRST_LLVM = 14, FIRST_GCC = 11 };
    static char word[16];
    struct pgk_sample_write_opts opts = {.struct_size = sizeof opts};
    if (i < ENCODINGS)
        return encodings[i];
    i -= ENCODINGS;
    snprintf(word, sizeof word, "llvm%zu", FIRST_LLVM + i);
    if (!pgk_sample_write_for(&opts, word, NULL))
        return word;
    for (size_t release = FIRST_LLVM; i > 0; i--, release++) { /* past those of LLVM */
        snprintf(word, sizeof word, "llvm%zu", release);
        if (pgk_sample_write_for(&opts, word, NULL))
            break;
    }
    snprintf(word, sizeof word, "gcc%zu", FIRST_GCC + i);
    return pgk_sample_write_for(&opts, word, NULL) ? NULL : word;
}

static void take_version(const struct option_given *given)
{
    *(uint32_t *)given->into = (uint32_t)cli_version(
        "--format-version", given->value, "extensible sample profile", PGK_KIND_SAMPLE);
}

static const struct option_row file_rows[] = {
    {"to", 0, "NAME",
     "extbinary (default), text, binary, llvm14 to llvm24 (extbinary with what it reads: types "
     "since 22, --indexed-tables and --symbol-guids since 24), or for -fauto-profile of gcc gcc11 "
     "(for 5 to 11) to gcc16 (gcc: gcc15)",
     OPTION_CALL(sample_output_to), OPTION_WORDS(sample_output_word),
     .page = "each release of gcc gets what [that compiler needs]"
             "(../formats/sample-gcc.md#what-compilers-make-of-it)"},
    {"format-version", 0, "N",
     "of extbinary: 103 (default), 104 for LLVM 23 and later, or 105 for LLVM 24",
     OPTION_CALL_FOR(struct sample_output, write.version, take_version)},
    {"vtables", 0, NULL, "write types of objects, which LLVM before 22 misreads",
     OPTION_FLAG(struct sample_output, write.vtables)},
    {"no-vtables", 0, NULL, "leave types of objects out without a warning",
     OPTION_FLAG(struct sample_output, drop_vtables)},
    {"md5", 0, NULL, "names as GUIDs", OPTION_FLAG(struct sample_output, write.md5),
     .page = "names that are known by GUID only are written so in any case"},
    {"indexed-tables", 0, NULL, "names as GUIDs, in tables that need not be read, for LLVM 24",
     OPTION_FLAG(struct sample_output, write.indexed),
     .page = "a profile with contexts keeps the usual tables"},
    {"symbol-guids", 0, NULL, "the symbol list as GUIDs, for LLVM 24",
     OPTION_FLAG(struct sample_output, write.symbol_guids)},
    {"composite", 0, NULL, "records of blocks with a type, in version 105, for LLVM 24",
     OPTION_FLAG(struct sample_output, write.composite)},
    {"compress", 0, NULL, "sections with zlib", OPTION_FLAG(struct sample_output, write.compress)},
    {"by-name", 0, NULL, "in a text functions by name",
     OPTION_FLAG(struct sample_output, write.by_name),
     .page = "two versions of such a text can be compared and merged line by line"},
    {0},
};
const struct option_table sample_file_options = {"sample file", NULL, file_rows};

static const struct option_choice layouts[] = {
    {"flat", PGK_SAMPLE_FLAT}, {"nested", PGK_SAMPLE_NESTED},
    {"nested-base", PGK_SAMPLE_NESTED_AND_BASE}, {0}};
const struct option_choice sample_flow_passes[] = {
    {"base", PGK_SAMPLE_FLOW_BASE},   {"pass1", PGK_SAMPLE_FLOW_PASS1},
    {"pass2", PGK_SAMPLE_FLOW_PASS2}, {"pass3", PGK_SAMPLE_FLOW_PASS3}, {0}};

/* The value may be left out. */
static const struct option_choice suffixes[] = {
    {"selected", PGK_SAMPLE_SUFFIXES_SELECTED}, {"all", PGK_SAMPLE_SUFFIXES_ALL},
    {"gcc", PGK_SAMPLE_SUFFIXES_GCC}, {0}};

static void take_suffixes(const struct option_given *given)
{
    *(enum pgk_sample_suffixes *)given->into =
        given->value ? (enum pgk_sample_suffixes)option_choice(given)
                     : PGK_SAMPLE_SUFFIXES_SELECTED;
}

static const struct option_row output_rows[] = {
    {"split-layout", 0, NULL, "functions without inlinees apart, for ThinLTO",
     OPTION_FLAG(struct sample_output, write.split_layout)},
    {"gen-partial", 0, NULL, "mark as the profile of shared code",
     OPTION_FLAG(struct sample_output, write.partial)},
    {"symbols", 0, "FILE", "add the program's symbols, one per line",
     OPTION_TEXT(struct sample_output, symbols)},
    {"drop-symbols", 0, NULL, "write no symbols",
     OPTION_FLAG(struct sample_output, write.drop_symbols)},
    {"size-limit", 0, "BYTES", "leave out the coldest functions to fit",
     OPTION_NUMBER(struct sample_output, write.size_limit, 1, UINT64_MAX)},
    {"function", 0, "REGEX", "only functions or contexts that match; extended syntax",
     OPTION_TEXT(struct sample_output, function)},
    {"no-function", 0, "REGEX", "none that match", OPTION_TEXT(struct sample_output, no_function)},
    {"remap", 0, "FILE", "rename functions: lines 'OLD NEW'",
     OPTION_TEXT(struct sample_output, remap), .page = "functions that get one name are added up"},
    {"names", 0, "FILE", "names to find GUIDs among, one per line; -b does so, too",
     OPTION_TEXT(struct sample_output, names)},
    {"layout", 0, "NAME", "flat: no inlinees, no contexts; nested: contexts as inlinees; "
     "nested-base: also in the profiles of their functions",
     OPTION_CHOICE(struct sample_output, layout, layouts),
     OPTION_GIVEN(struct sample_output, relayout),
     .page = "a flat profile has no attributes of contexts, which a note reports"},
    {"canonical", 0, "[POLICY]", "drop suffixes of names: selected (default), all or gcc",
     OPTION_CALL_FOR(struct sample_output, suffixes, take_suffixes), .choices = suffixes,
     OPTION_GIVEN(struct sample_output, canonical),
     .page = "`selected` drops `.llvm.N` and `.part.N`, `gcc` what gcc appends to clones and "
             "parts"},
    {"merge-cold", 0, NULL, "cold contexts become those of their last frames",
     OPTION_FLAG(struct sample_output, trim.merge)},
    {"trim-cold", 0, NULL, "leave cold contexts out", OPTION_FLAG(struct sample_output, trim.trim)},
    {"cold-depth", 0, "N", "frames that --merge-cold keeps (default 1)",
     OPTION_NUMBER(struct sample_output, trim.depth, 1, 1000)},
    {"cold-below", 0, "N", "samples under which a context is cold (default: LLVM's rule)",
     OPTION_NUMBER(struct sample_output, trim.cold_below, 1, UINT64_MAX)},
    {"cold-share", 0, "N",
     "else: millionths of all samples that the hottest lines have, the last being cold (999999)",
     OPTION_NUMBER(struct sample_output, trim.cold_share, 1, 999999)},
    {"fs", 0, NULL, "discriminators are flow-sensitive, which texts do not record",
     OPTION_FLAG(struct sample_output, flow)},
    {"fs-pass", 0, "NAME", "what a pass sees of them: base, pass1, pass2 or pass3",
     OPTION_CHOICE(struct sample_output, flow_pass, sample_flow_passes)},
    {0},
};
const struct option_table sample_output_options = {"sample output", NULL, output_rows};

/* Attributes speak of contexts and inlinees, of which a flat profile has none. */
static int relayout(struct sample_output *o, struct pgk_sample **profile, bool quiet,
                    struct pgk_err *err)
{
    struct pgk_sample_info info = {.struct_size = sizeof info};
    char count[PGK_HUMAN_SIZE];
    int status = pgk_sample_finish(*profile, err);
    pgk_sample_info(*profile, &info);
    if (!status)
        status = pgk_sample_relayout(profile, o->layout, err);
    if (!status && info.attributed && o->layout == PGK_SAMPLE_FLAT && !quiet)
        fprintf(stderr,
                "pgokit: note: the attributes of %s function%s are not in the output, because they "
                "describe contexts and inlinees, which --layout=flat removes\n",
                pgk_human_count(count, info.attributed), info.attributed == 1 ? "" : "s");
    return status;
}

/* Names first, because filters and renaming go by them. */
int sample_output_change(struct sample_output *o, struct pgk_sample **profile,
                         const struct cli_common *common, struct pgk_err *err)
{
    int status = sample_spell(*profile, o->names, common, err);
    if (o->flow)
        pgk_sample_mark_flow(*profile);
    if (!status && o->flow_pass >= 0)
        status = pgk_sample_reduce_flow(profile, (enum pgk_sample_flow_pass)o->flow_pass, err);
    if (!status && o->symbols)
        status = pgk_sample_add_symbols(*profile, o->symbols, err);
    if (!status && o->remap)
        status = pgk_sample_remap(profile, o->remap, err);
    if (!status && o->canonical)
        status = pgk_sample_canonicalise(profile, o->suffixes, err);
    if (!status && (o->function || o->no_function))
        status = pgk_sample_filter(*profile, o->function, o->no_function, err);
    o->trim.struct_size = sizeof o->trim;
    if (!status)
        status = pgk_sample_trim(profile, &o->trim, err);
    if (!status && o->relayout)
        status = relayout(o, profile, common->quiet, err);
    return status ? status : pgk_sample_finish(*profile, err);
}

/* A text with vtables is not refused by LLVM 14 to 19, but misread. */
static bool would_be_misread(const struct sample_output *o, const struct pgk_sample_info *info)
{
    return o->write.encoding == PGK_SAMPLE_TEXT && info->vtables && !o->write.vtables &&
           !o->drop_vtables;
}

static int lost(bool *any, const char *what, size_t n, const char *why)
{
    char count[PGK_HUMAN_SIZE];
    *any = true;
    return n ? fprintf(stderr, "pgokit: warning: %s %s are not in the output: %s\n",
                       pgk_human_count(count, n), what, why)
             : fprintf(stderr, "pgokit: warning: %s are not in the output: %s\n", what, why);
}

/* Reports what changes for the requested release. A profile that gen makes for it loses nothing by
 * that. */
static bool of_release(const struct sample_output *o, bool quiet, const char *text)
{
    char release[16] = "gcc";
    if (o->write.gcc_release)
        snprintf(release, sizeof release, "gcc %u", o->write.gcc_release);
    if (!o->generated || !quiet)
        fprintf(stderr, "pgokit: %s: %s %s\n", o->generated ? "note" : "warning", release, text);
    return !o->generated;
}

static bool report_for_release(const struct sample_output *o, const struct pgk_sample_written *w,
                               bool quiet)
{
    char text[300], count[PGK_HUMAN_SIZE], merged[PGK_HUMAN_SIZE];
    bool any = false;
    if (w->discriminators_dropped) {
        snprintf(text, sizeof text,
                 "knows no discriminators: those of %s lines and inlined calls are not in the "
                 "output; lines and calls that differ only in them were merged (%s), and a line "
                 "has the largest count",
                 pgk_human_count(count, w->discriminators_dropped),
                 pgk_human_count(merged, w->lines_merged));
        any |= of_release(o, quiet, text);
    }
    if (w->clones_joined) {
        snprintf(text, sizeof text,
                 "looks clones and parts of functions up by the function's own name: the samples "
                 "of %s stand under it",
                 pgk_human_count(count, w->clones_joined));
        any |= of_release(o, quiet, text);
    }
    if (w->totals_dropped) {
        snprintf(text, sizeof text,
                 "takes the sum of a function's lines for its total: those of %s are another "
                 "number, and not in the output",
                 pgk_human_count(count, w->totals_dropped));
        any |= of_release(o, quiet, text);
    }
    if (w->heads_raised && !quiet)
        fprintf(stderr,
                "pgokit: note: gcc %u scales counts by head samples: those of %s function%s are "
                "raised to the count of entries\n",
                o->write.gcc_release, pgk_human_count(count, w->heads_raised),
                w->heads_raised == 1 ? "" : "s");
    return any;
}

/* Reports data that gcc cannot take; true if something is lost. */
static bool report_for_gcc(const struct sample_output *o, const struct pgk_sample_written *w,
                           bool quiet)
{
    char count[PGK_HUMAN_SIZE];
    bool any = false;
    if (w->contexts_dropped)
        lost(&any, "calling contexts", w->contexts_dropped,
             "gcc takes none; their functions have the samples");
    if (w->discriminators_cut) {
        any = true;
        fprintf(stderr,
                "pgokit: warning: %s discriminators are cut to the 16 bits that the format has, so "
                "that lines that differ only in other bits are added up; flow-sensitive ones fit "
                "with --fs-pass=base or pass1\n",
                pgk_human_count(count, w->discriminators_cut));
    }
    any |= report_for_release(o, w, quiet);
    return any;
}

/* After the output is there: what it does not hold of the input decides the exit status. */
static int report(const struct sample_output *o, const struct pgk_sample_info *info,
                  const struct pgk_sample_written *w, bool quiet)
{
    bool any = false;
    char count[PGK_HUMAN_SIZE], samples[PGK_HUMAN_SIZE];
    const char *format = "the format cannot hold them";
    if (info->conflicts) {
        any = true;
        fprintf(stderr,
                "pgokit: warning: %s profiles with %s samples are not in the output: another "
                "checksum of the same function has more samples; merge profiles of one build\n",
                pgk_human_count(count, info->conflicts),
                pgk_human_count(samples, info->conflict_samples));
    }
    if (w->vtables_dropped && !o->drop_vtables)
        lost(&any, "counts of types (vtables)", w->vtables_dropped,
             o->write.encoding == PGK_SAMPLE_EXT_BINARY
                 ? "LLVM before 22 cannot read them; --vtables writes them"
                 : format);
    if (w->symbols_dropped)
        lost(&any, "symbols", info->n_symbols, format);
    if (w->symbols_unspelled)
        lost(&any, "symbols", w->symbols_unspelled,
             "their GUIDs alone are known, which --symbol-guids writes for LLVM 24");
    if (w->blocks_dropped)
        lost(&any, "blocks of composite profiles", w->blocks_dropped,
             "they are of types that pgokit does not know");
    if (w->checksums_dropped)
        lost(&any, "checksums of functions", 0, format);
    if (w->attributes_dropped)
        lost(&any, "attributes of functions", 0, format);
    if (w->flow_dropped && o->generated && !quiet)
        fputs("pgokit: note: the output does not record that discriminators are flow-sensitive, "
              "because the format cannot; give --fs when the file is read\n",
              stderr);
    if (w->flow_dropped && !o->generated)
        lost(&any, "marks of flow-sensitive discriminators", 0,
             "the format cannot hold them; give --fs when the file is read");
    any |= report_for_gcc(o, w, quiet);
    if (w->origins_dropped)
        lost(&any, "source files and times of functions", w->origins_dropped, format);
    if (w->functions_dropped)
        lost(&any, "functions, the coldest ones,", w->functions_dropped,
             "they would exceed --size-limit");
    if (w->partial_dropped && !quiet)
        fputs("pgokit: note: the output does not record that the profile is of shared code "
              "(partial), because the format cannot\n",
              stderr);
    if (w->md5 && !quiet)
        fprintf(stderr, "pgokit: note: %s; -b BINARY or --names FILE may give their names\n",
                o->write.encoding == PGK_SAMPLE_TEXT
                    ? "names that are known by their GUIDs alone are printed as numbers, by which "
                      "compilers find no function"
                    : "all names are written as GUIDs, because some are known by their GUIDs "
                      "alone");
    return any ? EXIT_INCOMPLETE : EXIT_DONE;
}

int sample_file_write(struct sample_output *o, const struct pgk_sample *profile, bool quiet)
{
    struct pgk_err err = {0};
    struct pgk_sample_written written = {.struct_size = sizeof written};
    struct pgk_sample_info info = {.struct_size = sizeof info};
    o->write.struct_size = sizeof o->write;
    pgk_sample_info(profile, &info);
    o->write.partial |= o->keep_partial && info.partial;
    if (would_be_misread(o, &info)) {
        fputs("pgokit: LLVM 14 to 19 would take the types (vtables) in a text for inlined "
              "functions. Give --vtables to write them for LLVM 22 and later, or --no-vtables to "
              "leave them out.\n",
              stderr);
        return EXIT_FAILED;
    }
    if (pgk_sample_write(profile, o->path, &o->write, &written, &err))
        return cli_fail(&err);
    return report(o, &info, &written, quiet);
}

int sample_output_write(struct sample_output *o, struct pgk_sample **profile,
                        const struct cli_common *common)
{
    struct pgk_err err = {0};
    return sample_output_change(o, profile, common, &err)
               ? cli_fail(&err)
               : sample_file_write(o, *profile, common->quiet);
}
