/* pgokit pgo --record and --use: the profile is recorded once and kept with the source, and every
 * build uses it, for whatever compiler and machine. What is kept is LLVM's form with nothing of
 * the recorded build in it but names, lines and counts; a compiler of another form gets a copy. */
#include "pgo_committed.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

/* Below this the user is advised to record anew. */
enum { FITS_WELL = 90 };

static void take_size(const struct option_given *given)
{
    static const char units[] = "kKmM";
    char *end;
    errno = 0;
    unsigned long long n = strtoull(given->value, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = !unit ? 0 : unit < units + 2 ? 10 : 20;
    if (end == given->value || *given->value == '-' || errno || !n || (*end && !unit) ||
        (unit && end[1]) || n > UINT64_MAX >> shift)
        option_refuse(given, "--max-size takes a number of bytes, as 65536 or 64K");
    *(uint64_t *)given->into = (uint64_t)n << shift;
}

static const struct option_row rows[] = {
    {"record", 0, NULL, "record a profile to keep with the source, and build no second time",
     OPTION_FLAG(struct pgo_committed, record),
     .page = "see [A profile that is kept](pgokit-pgo.md#a-profile-that-is-kept)"},
    {"use", 0, "FILE", "build with this profile, which was recorded before; may be repeated",
     OPTION_LIST(struct pgo_committed, use), .page = "several are added up"},
    {"min-match", 0, "PERCENT",
     "with --use: exit status 3 if less of the profile's samples matches the source",
     OPTION_PERCENT(struct pgo_committed, least_match, 0, 100),
     OPTION_GIVEN(struct pgo_committed, has_least)},
    {"rebase", 0, NULL, "with --use: move the profile to where the source has its lines now",
     OPTION_FLAG(struct pgo_committed, rebase),
     .page = "where any have moved, the profile is written anew (to `-o`, or in place) and the "
             "program built again"},
    {"flags", 0, NULL,
     "with --use: write the profile for the compiler to -o and print the flags, without a build",
     OPTION_FLAG(struct pgo_committed, flags)},
    {"text", 0, NULL, "write the profile as text, functions by name, which can be reviewed and "
     "merged", OPTION_FLAG(struct pgo_committed, text)},
    {"max-size", 0, "BYTES", "leave out the coldest functions, so that the profile fits",
     OPTION_CALL_FOR(struct pgo_committed, max_bytes, take_size),
     .page = "`64K` and `1M` are understood; a note says what share of the samples is kept"},
    {0},
};
const struct option_table pgo_committed_options = {"pgo kept", NULL, rows};

void pgo_committed_check(const struct pgo_committed *c, const char *run, const char *output,
                         const char *others)
{
    const bool use = c->use.n > 0;
    if (c->record && use)
        cli_usage(&cmd_pgo, "--record makes the profile and --use uses it: one at a time");
    if (use && run)
        cli_usage(&cmd_pgo, "--use runs nothing, so --run does not go with it");
    if (!use && (c->has_least || c->rebase || c->flags))
        cli_usage(&cmd_pgo, "--%s is about the profile of --use",
                  c->flags ? "flags" : c->rebase ? "rebase" : "min-match");
    if (!c->record && !c->rebase && (c->text || c->max_bytes))
        cli_usage(&cmd_pgo, "--%s is about the profile that --record or --rebase writes",
                  c->text ? "text" : "max-size");
    if (c->rebase && c->use.n > 1 && !output)
        cli_usage(&cmd_pgo, "--rebase of several profiles writes one: name it with -o");
    if (c->flags && (!output || c->rebase || c->has_least))
        cli_usage(&cmd_pgo, "--flags builds nothing: it takes --use, --cc and -o, the profile that "
                            "the flags name");
    if (others && (use || c->record))
        cli_usage(&cmd_pgo, "--%s is about measuring, which neither --record nor --use does",
                  others);
}

static _Noreturn void fail(const struct pgk_err *err)
{
    exit(cli_fail(err));
}

static struct pgk_sample_info info_of(const struct pgk_sample *profile)
{
    struct pgk_sample_info info = {.struct_size = sizeof info};
    pgk_sample_info(profile, &info);
    return info;
}

static struct pgk_sample *read_all(const char *const *paths, size_t n)
{
    struct pgk_sample *profile = NULL;
    struct pgk_err err = {0};
    char safe[256];
    int status = pgk_sample_new(&profile, &err);
    for (size_t i = 0; i < n && !status; i++) {
        status = pgk_sample_read(profile, paths[i], 1, &err);
        if (!status)
            status = pgk_sample_finish(profile, &err);
        if (!status && !info_of(profile).functions)
            pgo_stop("%s holds no function", pgk_human_text(safe, sizeof safe, paths[i]));
    }
    if (status)
        fail(&err);
    return profile;
}

/* ---- the file that is kept ---- */

/* Per cent of the samples that the first `n` functions have, which are the hottest. */
static double share_of_first(const struct pgk_sample *profile, size_t n)
{
    double all = 0, kept = 0;
    for (size_t i = 0; i < pgk_sample_functions(profile); i++) {
        struct pgk_sample_function f = {.struct_size = sizeof f};
        if (!pgk_sample_get(profile, pgk_sample_function_at(profile, i), &f))
            continue;
        all += (double)f.total;
        if (i < n)
            kept += (double)f.total;
    }
    return all > 0 ? 100 * kept / all : 0;
}

static void say_written(const char *path, const struct pgk_sample *profile, size_t dropped)
{
    struct stat s;
    char safe[256], bytes[PGK_HUMAN_SIZE], count[PGK_HUMAN_SIZE], out[PGK_HUMAN_SIZE];
    const size_t n = pgk_sample_functions(profile);
    fprintf(stderr, "pgokit: %s: %s function%s, %s\n", pgk_human_text(safe, sizeof safe, path),
            pgk_human_count(count, n - dropped), n - dropped == 1 ? "" : "s",
            stat(path, &s) ? "" : pgk_human_bytes(bytes, (double)s.st_size));
    if (dropped)
        fprintf(stderr,
                "pgokit: note: %s cold function%s left out for --max-size; %.2f %% of the samples "
                "are kept\n",
                pgk_human_count(out, dropped), dropped == 1 ? " is" : "s are",
                share_of_first(profile, n - dropped));
}

/* The folder of its own that a repository has for it may be new. */
static void make_folder_of(const char *path)
{
    const char *end = strrchr(path, '/');
    char folder[PATH_MAX];
    if (!end || end == path)
        return;
    snprintf(folder, sizeof folder, "%.*s", (int)(end - path), path);
    if (mkdir(folder, 0777) && errno != EEXIST)
        pgo_stop("cannot make the folder %s: %s", folder, strerror(errno));
}

static void write_kept(const struct pgo_committed *c, const struct pgk_sample *profile,
                       const char *path, bool quiet)
{
    const struct pgk_sample_write_opts opts = {
        .struct_size = sizeof opts,
        .encoding = c->text ? PGK_SAMPLE_TEXT : PGK_SAMPLE_EXT_BINARY,
        .compress = !c->text,
        .by_name = c->text,
        .size_limit = c->max_bytes,
    };
    struct pgk_sample_written written = {.struct_size = sizeof written};
    struct pgk_err err = {0};
    make_folder_of(path);
    if (pgk_sample_write(profile, path, &opts, &written, &err))
        fail(&err);
    if (!quiet)
        say_written(path, profile, written.functions_dropped);
}

void pgo_commit(const struct pgo_committed *c, const char *recorded, const char *output,
                bool quiet)
{
    struct pgk_sample *profile = read_all(&recorded, 1);
    struct pgk_err err = {0};
    /* What is a clone to one compiler is whole to another. */
    int status = pgk_sample_canonicalise(&profile, PGK_SAMPLE_SUFFIXES_GCC, &err);
    if (!status)
        status = pgk_sample_finish(profile, &err);
    if (status)
        fail(&err);
    write_kept(c, profile, output, quiet);
    pgk_sample_close(&profile);
}

static struct pgk_sample *read_used(const struct pgo_committed *c)
{
    return read_all((const char *const *)c->use.v, c->use.n);
}

/* ---- the copy for a compiler ---- */

static int watch = -1; /* for compilers that open it; -1: the system has no watch for us */

static void watch_file(const char *path)
{
    if (watch >= 0)
        close(watch);
    watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (watch >= 0 && inotify_add_watch(watch, path, IN_OPEN) < 0) {
        close(watch);
        watch = -1;
    }
}

static bool was_read(void)
{
    char events[sizeof(struct inotify_event) + NAME_MAX + 1];
    return watch < 0 || read(watch, events, sizeof events) > 0;
}

static void write_for(const struct pgk_sample *profile, const struct pgo_compiler *compiler,
                      const char *path, bool quiet)
{
    struct pgk_sample_write_opts opts = {.struct_size = sizeof opts};
    struct pgk_sample_written written = {.struct_size = sizeof written};
    struct pgk_err err = {0};
    char form[PGO_FORM], count[PGK_HUMAN_SIZE];
    pgo_form_of(compiler, form);
    int status = pgk_sample_write_for(&opts, form, &err);
    if (!status)
        status = pgk_sample_write(profile, path, &opts, &written, &err);
    if (status)
        fail(&err);
    if (written.discriminators_dropped && !quiet)
        fprintf(stderr,
                "pgokit: note: gcc %lu knows one count for a line, so %s blocks and calls have "
                "that of their lines\n",
                compiler->release, pgk_human_count(count, written.discriminators_dropped));
    watch_file(path);
}

void pgo_print_flags(const struct pgo_committed *c, const struct pgo_compiler *compiler,
                     const char *path)
{
    struct pgk_sample *profile = read_used(c);
    write_for(profile, compiler, path, true);
    pgk_sample_close(&profile);
    char *flags = pgo_flags(compiler, path);
    puts(flags);
    free(flags);
}

/* ---- does it fit the source? ---- */

/* How much of the profile fits the source by what a build made. */
struct fit {
    bool known;
    double as_it_is, moved; /* per cent of the samples */
};

static double share(const struct pgk_function_match *match, enum pgk_match_level first,
                    enum pgk_match_level last)
{
    struct pgk_function_totals t = {.struct_size = sizeof t};
    double some = 0;
    for (int level = (int)first; level <= (int)last; level++) {
        pgk_function_totals(match, (enum pgk_match_level)level, &t);
        some += (double)t.samples;
    }
    pgk_function_totals(match, PGK_MATCH_LEVELS, &t);
    return t.samples ? 100 * some / (double)t.samples : 0;
}

/* What a build leaves may also be a file that was compiled elsewhere, without debug information. */
static bool has_lines(const struct pgk_sample *profile, const char *path)
{
    struct pgk_binaries *one = NULL;
    struct pgk_function_match *match = NULL;
    struct pgk_err err = {0};
    int status = pgk_binaries_new(&one, NULL, &err);
    if (!status)
        status = pgk_binaries_add(one, path, &err);
    if (!status)
        status = pgk_match_sample(&match, profile, one, NULL, &err);
    pgk_function_match_close(&match);
    pgk_binaries_close(&one);
    return !status || status == PGK_E_MISMATCH;
}

/* Those of `files` that can be read, or `of_profile` that can be matched with it; NULL: none. */
static struct pgk_binaries *open_files(const struct pgo_files *files,
                                       const struct pgk_sample *of_profile)
{
    struct pgk_binaries *set = NULL;
    struct pgk_err err = {0};
    bool any = false;
    if (pgk_binaries_new(&set, NULL, &err))
        fail(&err);
    for (size_t i = 0; i < files->n; i++)
        if (!of_profile || has_lines(of_profile, files->v[i].path))
            any |= !pgk_binaries_add(set, files->v[i].path, NULL);
    if (!any)
        pgk_binaries_close(&set);
    return set;
}

/* Of all programs and libraries at once, and if that fails, of those with debug information. */
static int rebase_on(struct pgk_sample **rebased, struct pgk_function_match **match,
                     const struct pgk_sample *profile, const struct pgo_files *files, bool *known)
{
    struct pgk_err err = {0};
    struct pgk_binaries *set = open_files(files, NULL);
    int status = set ? pgk_sample_rebase(rebased, match, profile, set, NULL, &err) : 0;
    if (status == PGK_E_NODEBUG) {
        pgk_binaries_close(&set);
        set = open_files(files, profile);
        if (!set)
            fail(&err);
        err = (struct pgk_err){0};
        status = pgk_sample_rebase(rebased, match, profile, set, NULL, &err);
    }
    *known = set != NULL;
    pgk_binaries_close(&set);
    if (status && status != PGK_E_MISMATCH)
        fail(&err);
    return status;
}

/* By their texts: moves may lead back to the same place. */
static bool are_same(const struct pgk_sample *a, const struct pgk_sample *b, const char *scratch)
{
    const struct pgk_sample_write_opts opts = {
        .struct_size = sizeof opts, .encoding = PGK_SAMPLE_TEXT, .by_name = true};
    const struct pgk_sample *const both[] = {a, b};
    char paths[2][PATH_MAX];
    struct pgk_err err = {0};
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s.%d", scratch, i);
        if (pgk_sample_write(both[i], paths[i], &opts, NULL, &err))
            fail(&err);
    }
    return pgo_same_bytes(paths[0], paths[1]);
}

/* Replaces the profile by one in terms of this source if --rebase was given and that is another. */
static struct fit find_fit(const struct pgo_committed *c, struct pgk_sample **profile,
                           const struct pgo_files *files, const char *scratch, bool quiet)
{
    struct fit fit = {0};
    struct pgk_sample *rebased = NULL;
    struct pgk_function_match *match = NULL;
    if (rebase_on(&rebased, &match, *profile, files, &fit.known))
        pgo_stop("no function of %s is in what the build made. Is it the profile of another "
                 "program?", c->use.v[0]);
    if (!fit.known)
        return fit;
    fit = (struct fit){true, share(match, PGK_MATCH_EXACT, PGK_MATCH_LINE_ZERO),
                           share(match, PGK_MATCH_MOVED, PGK_MATCH_AMBIGUOUS)};
    pgk_function_match_close(&match);
    if (c->rebase && !are_same(*profile, rebased, scratch)) {
        if (!quiet)
            fprintf(stderr, "pgokit: %.1f %% of the samples go to where the source has their "
                    "lines now\n", fit.moved);
        pgk_sample_close(profile);
        *profile = rebased;
    } else {
        pgk_sample_close(&rebased);
    }
    return fit;
}

static void say_fit(const struct pgo_committed *c, const struct fit *fit, double fits)
{
    const double lost = 100 - fit->as_it_is - fit->moved;
    fprintf(stderr, "pgokit: %.1f %% of the samples of %s match the source", fits, c->use.v[0]);
    if (!c->rebase && fit->moved >= 0.05)
        fprintf(stderr, "; %.1f %% are at other lines now", fit->moved);
    if (lost >= 0.05)
        fprintf(stderr, "; %.1f %% are of code that is not there any more", lost);
    fputc('\n', stderr);
}

/* Rounded down, so that a share just below a limit of 90 % is not printed as 90.0 %. */
static double rounded(double percent)
{
    return (double)(int64_t)(percent * 10) / 10;
}

static bool fits_enough(const struct pgo_committed *c, const struct fit *fit, bool quiet)
{
    if (!fit->known) {
        if (c->has_least || c->rebase)
            pgo_stop("the build made no program or library that pgokit reads below the current "
                     "folder, so there is nothing to match the profile with; name one with -b");
        if (!quiet)
            fputs("pgokit: note: whether the profile matches the source is not known: the build "
                  "made no program or library that pgokit reads below the current folder\n",
                  stderr);
        return true;
    }
    const double fits = rounded(fit->as_it_is + (c->rebase ? fit->moved : 0));
    const char *const remedy = !c->rebase && fit->moved >= 0.05 ? ", or give --rebase" : "";
    if (!quiet)
        say_fit(c, fit, fits);
    if (c->has_least && fits < c->least_match) {
        fprintf(stderr, "pgokit: limit reached: %.1f %% of the samples match the source, and "
                "--min-match %g was given; record anew%s\n", fits, c->least_match, remedy);
        return false;
    }
    if (fits < FITS_WELL && !quiet)
        fprintf(stderr, "pgokit: note: record anew%s: compilers take no samples of code that has "
                "changed\n", remedy);
    return true;
}

/* ---- a build ---- */

static void check_read(void)
{
    if (!was_read())
        pgo_stop("no compiler read the profile. Does the build command use $CC and $CFLAGS, or a "
                 "compiler that PATH has? Does it build all anew, or need --clean?");
}

/* By the compiler that the build uses, if it does not ask for ours. */
static struct timespec build_first(const struct pgk_sample *profile, struct pgo_builder *how,
                                   const char *path)
{
    bool mixed;
    write_for(profile, how->compiler, path, how->quiet);
    struct timespec started = pgo_build_new(how, path);
    if (pgo_needs_variables(how))
        started = pgo_build_new(how, path);
    if (pgo_follow_compiler(how, &mixed)) {
        write_for(profile, how->compiler, path, how->quiet);
        started = pgo_build(how, path);
    }
    check_read();
    return started;
}

bool pgo_use(const struct pgo_committed *c, struct pgo_builder *how,
             const struct cli_list *binaries, const char *path, const char *output)
{
    struct pgk_sample *profile = read_used(c);
    const struct pgk_sample *as_it_was = profile;
    struct pgo_files files = {0};
    struct timespec started = build_first(profile, how, path);
    pgo_look_for_files(&files, binaries, started);
    const struct fit fit = find_fit(c, &profile, &files, path, how->quiet);
    if (profile != as_it_was) {
        write_kept(c, profile, output ? output : c->use.v[0], how->quiet);
        write_for(profile, how->compiler, path, true);
        pgo_build(how, path);
        check_read();
    }
    pgk_sample_close(&profile);
    pgo_files_free(&files);
    return fits_enough(c, &fit, how->quiet);
}
