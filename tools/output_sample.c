/* Writing sample profiles: options, and what is said of what a file cannot hold. */
#include "output_sample.h"

#include "sample_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void parse_target(const struct cli_verb *verb, const char *text,
                         struct pgk_sample_write_opts *write)
{
    struct pgk_err err = {0};
    if (pgk_sample_write_for(write, text, &err))
        cli_usage(verb, "--to accepts %s for sample profiles, not '%s'", err.expected, text);
}

static enum pgk_sample_layout parse_layout(const struct cli_verb *verb, const char *text)
{
    if (strcmp(text, "flat") && strcmp(text, "nested"))
        cli_usage(verb, "--layout takes flat or nested, not '%s'", text);
    return *text == 'f' ? PGK_SAMPLE_FLAT : PGK_SAMPLE_NESTED;
}

static enum pgk_sample_suffixes parse_suffixes(const struct cli_verb *verb, const char *text)
{
    if (text && strcmp(text, "selected") && strcmp(text, "all"))
        cli_usage(verb, "--canonical takes selected or all, not '%s'", text);
    return text && *text == 'a' ? PGK_SAMPLE_SUFFIXES_ALL : PGK_SAMPLE_SUFFIXES_SELECTED;
}

static int parse_pass(const struct cli_verb *verb, const char *text)
{
    static const char *const names[] = {
        [PGK_SAMPLE_FLOW_BASE] = "base", [PGK_SAMPLE_FLOW_PASS1] = "pass1",
        [PGK_SAMPLE_FLOW_PASS2] = "pass2", [PGK_SAMPLE_FLOW_PASS3] = "pass3"};
    for (int pass = 0; pass < 4; pass++)
        if (!strcmp(text, names[pass]))
            return pass;
    cli_usage(verb, "--fs-pass takes base, pass1, pass2 or pass3, not '%s'", text);
}

static bool trim_option(struct sample_output *o, int c, const char *value)
{
    switch (c) {
    case OPT_TRIM_COLD:
        o->trim.trim = true;
        return true;
    case OPT_MERGE_COLD:
        o->trim.merge = true;
        return true;
    case OPT_COLD_DEPTH:
        o->trim.depth = (unsigned)cli_number("--cold-depth", value, 1, 1000);
        return true;
    case OPT_COLD_BELOW:
        o->trim.cold_below = cli_number("--cold-below", value, 1, -1ul);
        return true;
    }
    return false;
}

bool sample_file_option(struct sample_output *o, const struct cli_verb *verb, int c,
                        const char *value)
{
    switch (c) {
    case 'o':
        o->path = value;
        return true;
    case OPT_SAMPLE_TO:
        parse_target(verb, value, &o->write);
        return true;
    case OPT_SAMPLE_VERSION:
        o->write.version = (uint32_t)cli_version("--format-version", value,
                                                 "extensible sample profile", PGK_KIND_SAMPLE);
        return true;
    case OPT_MD5:
        o->write.md5 = true;
        return true;
    case OPT_COMPRESS:
        o->write.compress = true;
        return true;
    case OPT_VTABLES:
        o->write.vtables = true;
        return true;
    case OPT_NO_VTABLES:
        o->drop_vtables = true;
        return true;
    case OPT_SPLIT:
        o->write.split_layout = true;
        return true;
    case OPT_PARTIAL:
        o->write.partial = true;
        return true;
    case OPT_DROP_SYMBOLS:
        o->write.drop_symbols = true;
        return true;
    case OPT_SIZE_LIMIT:
        o->write.size_limit = cli_number("--size-limit", value, 1, -1ul);
        return true;
    }
    return false;
}

bool sample_output_option(struct sample_output *o, const struct cli_verb *verb, int c,
                          const char *value)
{
    switch (c) {
    case OPT_SYMBOLS:
        o->symbols = value;
        return true;
    case OPT_FUNCTION:
        o->function = value;
        return true;
    case OPT_NO_FUNCTION:
        o->no_function = value;
        return true;
    case OPT_REMAP:
        o->remap = value;
        return true;
    case OPT_NAMES:
        o->names = value;
        return true;
    case OPT_LAYOUT:
        o->layout = parse_layout(verb, value);
        o->relayout = true;
        return true;
    case OPT_FS:
        o->flow = true;
        return true;
    case OPT_FS_PASS:
        o->flow_pass = parse_pass(verb, value);
        return true;
    case OPT_CANONICAL:
        o->suffixes = parse_suffixes(verb, value);
        o->canonical = true;
        return true;
    }
    return trim_option(o, c, value) || sample_file_option(o, verb, c, value);
}

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

/* What the asked for release makes of a profile. Of one that gen makes for it nothing is lost. */
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

/* What gcc cannot take; true if something is lost. */
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
        lost(&any, "the symbols", info->n_symbols, format);
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
              "functions. Give --vtables to write them for LLVM 22 and 23, or --no-vtables to "
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
