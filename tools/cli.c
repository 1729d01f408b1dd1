/* What the verbs of the command line share. */
#include "cli.h"
#include "debug_package.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cli_list_add(struct cli_list *list, const char *item)
{
    const char **grown = realloc(list->v, (list->n + 1) * sizeof *grown);
    if (!grown) {
        fputs("pgokit: out of memory\n", stderr);
        exit(EXIT_FAILED);
    }
    list->v = grown;
    list->v[list->n++] = item;
}

void cli_list_free(struct cli_list *list)
{
    free(list->v);
    *list = (struct cli_list){0};
}

void cli_common_free(struct cli_common *common)
{
    cli_list_free(&common->binaries);
    cli_list_free(&common->debug_files);
    cli_list_free(&common->packages);
    cli_list_free(&common->debug_dirs);
    cli_list_free(&common->sysroots);
}

static void be_quiet(const struct option_given *given)
{
    ((struct cli_common *)given->into)->quiet = true;
    pgk_log_level(PGK_LOG_WARNING);
    pgk_progress_enable(false);
}

static const struct option_row common_rows[] = {
    {"binary", 'b', "FILE",
     "a profiled program or library, with debug information; may be repeated",
     OPTION_LIST(struct cli_common, binaries)},
    {"debug-binary", 0, "FILE", "the debug file that a binary was stripped of; may be repeated",
     OPTION_LIST(struct cli_common, debug_files),
     .page = "it is needed if pgokit does not find it; it belongs to the binary with its build "
             "id, or to the only one"},
    {"dwp", 0, "FILE",
     "split debug information of the binaries (default: BINARY.dwp); may be repeated",
     OPTION_LIST(struct cli_common, packages)},
    {"debug-dir", 0, "DIR",
     "where to look for debug files, and for binaries that were not given, as "
     ".build-id/xx/yyyy.debug; may be repeated",
     OPTION_LIST(struct cli_common, debug_dirs),
     .page = "debug files are also found by the name in the program's `.gnu_debuglink`"},
    {"sysroot", 0, "DIR", "a copy of the target's root folder, to look for both; may be repeated",
     OPTION_LIST(struct cli_common, sysroots),
     .page = "binaries that were not given are found in it by build id: at the path that the "
             "recording has, or else, after a look at all of its files, wherever they are; and "
             "debug files under `usr/lib/debug`"},
    {"no-debuginfod", 0, NULL, "ask no server of DEBUGINFOD_URLS for debug files and binaries",
     OPTION_FLAG(struct cli_common, no_debuginfod),
     .page = "see [where they are found]"
             "(pgokit-merge.md#where-binaries-and-debug-files-are-found)"},
    {"no-cache", 0, NULL, "look all addresses up again, and keep none of the answers",
     OPTION_FLAG(struct cli_common, no_cache)},
    {"jobs", 'j', "N", "threads, 1 to 1024 (default: one per processor)",
     OPTION_NUMBER(struct cli_common, threads, 1, 1024),
     .page = "the output does not depend on it"},
    {"color", 0, "[WHEN]", "colours: auto (default), which is at a terminal, always or never",
     OPTION_CALL(cli_take_colour), .choices = cli_colours,
     .page = "`--color` alone is always. `NO_COLOR` in the environment turns auto off"},
    {"no-pager", 0, NULL, "long output at a terminal goes through no pager",
     OPTION_CALL(cli_no_pager),
     .page = "see [pgokit](pgokit.md#output-at-a-terminal)"},
    {"quiet", 'q', NULL, "no notes and no progress, only warnings and errors",
     OPTION_CALL(be_quiet)},
    {"help", 'h', NULL, "this text", .kind = OPTION_IS_HELP},
    {0},
};
const struct option_table cli_common_options = {"common", "Common options", common_rows};

static const struct option_row output_row[] = {
    {"output", 'o', "FILE", "the profile to write; - for standard output", .kind = OPTION_IS_TEXT,
     .is_output = true},
    {0},
};
const struct option_table cli_output_option = {"output", NULL, output_row};

void cli_usage(const struct cli_verb *verb, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("pgokit: ", stderr);
    vfprintf(stderr, fmt, args);
    fprintf(stderr, ". Try pgokit %s --help\n", verb->name);
    va_end(args);
    exit(EXIT_FAILED);
}

unsigned long cli_number(const char *option, const char *text, unsigned long lowest,
                         unsigned long highest)
{
    char *end;
    errno = 0;
    unsigned long n = strtoul(text, &end, 10);
    if (errno || end == text || *end || *text == '-' || n < lowest || n > highest) {
        char safe[64];
        fprintf(stderr, "pgokit: %s takes a number from %lu to %lu, not '%s'\n", option, lowest,
                highest, pgk_human_text(safe, sizeof safe, text));
        exit(EXIT_FAILED);
    }
    return n;
}

static unsigned long common_divisor(unsigned long a, unsigned long b)
{
    while (b) {
        unsigned long rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Digits, at most nine of them so that nothing overflows. */
static bool take_digits(const char **at, const char *end, unsigned long *n)
{
    const char *begin = *at;
    for (; *at < end && **at >= '0' && **at <= '9'; ++*at)
        *n = *n * 10 + (unsigned long)(**at - '0');
    return *at - begin <= 9;
}

struct cli_factor cli_factor(const char *option, const char *text, size_t len)
{
    const char *at = text, *end = text + len;
    struct cli_factor f = {0, 1, false};
    bool good = take_digits(&at, end, &f.times);
    if (at < end && *at == '/') {
        f = (struct cli_factor){f.times, 0, true};
        at++;
        good = take_digits(&at, end, &f.by) && good;
    } else if (at < end && *at == '.') {
        const char *dot = at++;
        good = take_digits(&at, end, &f.times) && good;
        for (; ++dot < at;)
            f.by *= 10;
    }
    if (!good || at != end || !f.times || !f.by) {
        char given[64], safe[64];
        snprintf(given, sizeof given, "%.*s", (int)(len < sizeof given ? len : sizeof given), text);
        fprintf(stderr, "pgokit: %s takes a number above 0, as 3, 0.25 or 1/4, with at most nine "
                "digits, not '%s'\n", option, pgk_human_text(safe, sizeof safe, given));
        exit(EXIT_FAILED);
    }
    unsigned long d = common_divisor(f.times, f.by);
    return (struct cli_factor){f.times / d, f.by / d, f.is_fraction};
}

const struct pgk_format *cli_format(const char *name, enum pgk_kind kind)
{
    const struct pgk_format *format = pgk_format_find(name, kind);
    if (!format)
        abort(); /* a name that the program itself has wrong */
    return format;
}

long cli_version(const char *option, const char *text, const char *format, enum pgk_kind kind)
{
    const struct pgk_versions write = cli_format(format, kind)->write;
    return (long)cli_number(option, text, write.first, write.last);
}

long cli_memprof_version(const char *text)
{
    const struct pgk_versions memprof = cli_format(CLI_INDEXED, PGK_KIND_HEAP)->memprof;
    return (long)cli_number("--memprof-version", text, memprof.first, memprof.last);
}

void cli_note_operands(const struct cli_verb *verb, int argc, char **argv)
{
    for (int i = optind; i < argc; i++)
        cli_reads(cli_input(verb, argv[i]).path);
}

static void (*also_said)(const struct pgk_err *err, bool warning);

void cli_say_also(void (*say)(const struct pgk_err *err, bool warning))
{
    also_said = say;
}

bool cli_says_also(void)
{
    return also_said != NULL;
}

void cli_said(const struct pgk_err *err, bool warning)
{
    if (also_said)
        also_said(err, warning);
}

int cli_fail(const struct pgk_err *err)
{
    fputs("pgokit: ", stderr);
    pgk_err_print(err, stderr);
    fputc('\n', stderr);
    cli_said(err, false);
    return EXIT_FAILED;
}

int cli_finish_output(int exit_code)
{
    if (cli_flush_output())
        return exit_code;
    fprintf(stderr, "pgokit: cannot write to standard output: %s\n", strerror(errno));
    return EXIT_FAILED;
}

bool cli_has_binaries(const struct cli_common *common)
{
    return common->binaries.n || common->debug_dirs.n || common->sysroots.n;
}

int cli_open_binaries(const struct cli_common *common, struct pgk_binaries **set,
                      struct pgk_err *err)
{
    struct pgk_binaries *opened;
    char cache[4096];
    int status = pgk_binaries_new(
        &opened,
        &(struct pgk_binaries_opts){
            .struct_size = sizeof(struct pgk_binaries_opts),
            .debug_dirs = common->debug_dirs.v,
            .n_debug_dirs = common->debug_dirs.n,
            .threads = common->threads,
            .sysroots = common->sysroots.v,
            .n_sysroots = common->sysroots.n,
            .cache_folder =
                common->no_cache ? NULL : pgk_binaries_cache_folder(cache, sizeof cache),
            .symbols_suffice = common->symbols_suffice,
            .packages = common->packages.v,
            .n_packages = common->packages.n,
            .use_caches = true,
            .download = !common->no_debuginfod,
            .find_binaries = !cli_has_binaries(common),
            .use_paths = common->use_paths,
        },
        err);
    if (status)
        return status;
    for (size_t i = 0; i < common->binaries.n && !status; i++)
        status = pgk_binaries_add(opened, common->binaries.v[i], err);
    for (size_t i = 0; i < common->debug_files.n && !status; i++)
        status = pgk_binaries_add_debug(opened, common->debug_files.v[i], err);
    if (status)
        pgk_binaries_close(&opened);
    else
        *set = opened;
    return status;
}

/* What a file that is there would name functions by. */
static const char *lacks_of(const struct pgk_heap_found *found)
{
    return found->nameless_symbols ? "no debug information"
                                   : "neither symbols nor debug information";
}

/* Says which, because output depends on it; for people the program suffices. */
static void note_found(const struct pgk_binaries *set, const struct pgk_heap_found *found,
                       bool all)
{
    char safe[256];
    const size_t n = pgk_binaries_count(set), named = all || n <= 3 ? n : 1;
    FILE *note = cli_note_open();
    fprintf(note, "found %zu of %zu programs and libraries of this profile by build id:",
            found->modules_found, found->modules);
    for (size_t i = 0; i < named; i++)
        fprintf(note, "%s %s", i ? "," : "",
                pgk_human_text(safe, sizeof safe, pgk_binaries_path(set, i)));
    if (named < n)
        fprintf(note, " and %zu more", n - named);
    if (found->nameless)
        fprintf(note, "; %s is there, but has %s",
                pgk_human_text(safe, sizeof safe, found->nameless), lacks_of(found));
    cli_note_close(note);
}

int cli_find_binaries(const struct cli_common *common, const struct pgk_heap *heap,
                      struct pgk_binaries **set, struct pgk_err *err)
{
    struct pgk_heap_found found = {.struct_size = sizeof found};
    struct pgk_binaries *opened = NULL;
    *set = NULL;
    int status = cli_open_binaries(common, &opened, err);
    if (!status && !cli_has_binaries(common)) {
        status = pgk_heap_find_binaries(heap, opened, &found, err);
        if (!found.program && !(common->use_paths && found.at_path))
            pgk_binaries_close(&opened);
        else if (!common->quiet && !status)
            note_found(opened, &found, !common->use_paths);
    }
    if (status)
        pgk_binaries_close(&opened);
    *set = opened;
    return status;
}

/* Has that file a function main, and are addresses of the profile in it? */
static bool is_its_program(const char *path, const struct pgk_heap *heap)
{
    struct pgk_heap_found found = {.struct_size = sizeof found};
    struct pgk_binaries *one = NULL;
    const bool is = !pgk_binaries_new(&one, NULL, NULL) && !pgk_binaries_add(one, path, NULL) &&
                    !pgk_heap_find_binaries(heap, one, &found, NULL) && found.program;
    pgk_binaries_close(&one);
    return is;
}

int cli_find_program(const struct cli_common *common, const struct pgk_heap *heap, char **path,
                     struct pgk_err *err)
{
    struct cli_common searching = *common;
    struct pgk_binaries *found = NULL;
    searching.binaries = (struct cli_list){0};
    searching.quiet = true; /* of libraries, which are not used */
    *path = NULL;
    int status = cli_find_binaries(&searching, heap, &found, err);
    for (size_t i = 0; !status && !*path && i < pgk_binaries_count(found); i++)
        if (is_its_program(pgk_binaries_path(found, i), heap))
            *path = strdup(pgk_binaries_path(found, i));
    pgk_binaries_close(&found);
    if (*path && !common->quiet)
        cli_note("the program that was profiled is %s", *path);
    return status;
}

enum { ID_TEXT = 2 * 64 + 1 };

void cli_note_symbolised(const struct pgk_heap_symbolised *done)
{
    char bytes[PGK_HUMAN_SIZE];
    if (done->contexts_dropped)
        cli_note("left out %zu context%s (%s) without a frame in the given binaries; add "
                 "libraries with further -b, or let --sysroot find them",
                 done->contexts_dropped, done->contexts_dropped == 1 ? "" : "s",
                 pgk_human_bytes(bytes, (double)done->bytes_dropped));
}

const char *cli_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *cli_module_text(char *text, size_t size, const struct pgk_heap_unnamed *u)
{
    char name[256], id[ID_TEXT] = "";
    if (!*u->path && !u->build_id_size)
        return "code of no file";
    pgk_human_hex(id, sizeof id, u->build_id, u->build_id_size);
    pgk_human_text(name, sizeof name, cli_base_name(u->path));
    if (!*u->path)
        snprintf(text, size, "build id %s", id);
    else if (!*id)
        snprintf(text, size, "%s", name);
    else
        snprintf(text, size, "%s (build id %s)", name, id);
    return text;
}

/* Packages that have the debug symbols of the first modules. */
struct packages {
    char names[4][256];
    size_t n;
    bool need_archive;
};

static struct packages packages_of(const struct pgk_heap *heap, size_t modules)
{
    struct packages p = {0};
    struct pgk_heap_unnamed u = {.struct_size = sizeof u};
    for (size_t i = 0; i < modules && p.n < sizeof p.names / sizeof *p.names; i++) {
        size_t same = 0;
        if (!pgk_heap_unnamed_at(heap, i, &u) ||
            !debug_package_of(u.path, p.names[p.n], sizeof *p.names))
            continue;
        while (strcmp(p.names[same], p.names[p.n]))
            same++;
        p.need_archive |= same == p.n && debug_package_needs_archive(p.names[same]);
        p.n += same == p.n;
    }
    return p;
}

/* Where the names are to be had; first what works as it stands. */
static void put_sources_of_names(FILE *note, const struct packages *p)
{
    if (p->need_archive)
        fputs("; export DEBUGINFOD_URLS=" DEBUG_SERVER ", or install ", note);
    else
        fputs("; install ", note);
    for (size_t i = 0; i < p->n; i++)
        fprintf(note, "%s%s", i ? ", " : "", p->names[i]);
    if (!p->n)
        fputs("the package of their debug symbols", note);
    if (p->need_archive)
        fputs(" from Debian's debug archive (man pgokit-merge, \"Where binaries and debug files "
              "are found\")", note);
    else
        fputs(", or name a server of debuginfod in DEBUGINFOD_URLS", note);
}

enum { NAMED_IDS = 3, FRAMES_LOOKED_AT = 256 };

struct id_list {
    char text[NAMED_IDS][ID_TEXT];
    size_t n;
};

/* The list has space for it. */
static void list_id(struct id_list *ids, const struct pgk_heap_frame *frame)
{
    char text[ID_TEXT] = "";
    if (!frame->is_address || !frame->build_id_size || 2 * frame->build_id_size >= ID_TEXT)
        return;
    pgk_human_hex(text, sizeof text, frame->build_id, frame->build_id_size);
    for (size_t i = 0; i < ids->n; i++)
        if (!strcmp(ids->text[i], text))
            return;
    memcpy(ids->text[ids->n++], text, sizeof text);
}

/* The program that ran is where the profile says, but names nothing. */
static bool is_nameless(const struct pgk_heap *heap, struct pgk_heap_found *found)
{
    struct pgk_heap_recording of = {.struct_size = sizeof of};
    struct pgk_binaries *none = NULL;
    const bool is = pgk_heap_recording(heap, &of) && !pgk_binaries_new(&none, NULL, NULL) &&
                    !pgk_heap_find_binaries(heap, none, found, NULL) && found->nameless &&
                    !strcmp(found->nameless, of.program);
    pgk_binaries_close(&none);
    return is;
}

/* What would bring names, where a package has them, and else how they stay in the file. */
static void put_remedy(FILE *out, const struct pgk_heap_found *found)
{
    struct packages packages = {0};
    if (debug_package_of(found->nameless, packages.names[0], sizeof *packages.names)) {
        packages.n = 1;
        packages.need_archive = debug_package_needs_archive(packages.names[0]);
        put_sources_of_names(out, &packages);
        return;
    }
    fputs(found->nameless_symbols
              ? "; compile it with -g"
              : "; give it as it was before it was stripped, or the file that has its debug "
                "information (--debug-binary)", out);
}

_Noreturn static void fail_nameless(const struct cli_verb *verb, const struct pgk_heap_found *found,
                                    const char *needs)
{
    char path[256], *remedy = NULL;
    size_t size;
    FILE *out = open_memstream(&remedy, &size);
    if (out) {
        put_remedy(out, found);
        fclose(out);
    }
    cli_usage(verb, "%s (-b BINARY): %s is the one, but has %s%s", needs,
              pgk_human_text(path, sizeof path, found->nameless), lacks_of(found),
              remedy ? remedy : "");
}

_Noreturn void cli_not_found(const struct cli_verb *verb, const struct pgk_heap *heap,
                             const char *needs)
{
    struct pgk_heap_found found = {.struct_size = sizeof found};
    struct id_list ids = {0};
    struct pgk_heap_frame frames[FRAMES_LOOKED_AT];
    char list[NAMED_IDS * (ID_TEXT + 2)] = "";
    if (is_nameless(heap, &found))
        fail_nameless(verb, &found, needs);
    for (size_t i = 0; i < pgk_heap_contexts(heap) && ids.n < NAMED_IDS; i++) {
        const size_t n = pgk_heap_stack(heap, i, frames, FRAMES_LOOKED_AT);
        for (size_t f = 0; f < n && f < FRAMES_LOOKED_AT && ids.n < NAMED_IDS; f++)
            list_id(&ids, &frames[f]);
    }
    for (size_t i = 0; i < ids.n; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "",
                 ids.text[i]);
    if (!ids.n)
        cli_usage(verb, "%s (-b BINARY); this profile has no build ids to find it by", needs);
    cli_usage(verb,
              "%s (-b BINARY); it was not found by the build ids of the profile (%s) in "
              "/usr/lib/debug, the caches of debuginfod and perf, or on a server that "
              "DEBUGINFOD_URLS names",
              needs, list);
}

void cli_note_unnamed(const struct pgk_heap *heap)
{
    enum { NAMED = 3 };
    struct pgk_heap_unnamed u = {.struct_size = sizeof u};
    char text[400];
    size_t frames = 0, modules = 0;
    while (pgk_heap_unnamed_at(heap, modules, &u)) {
        frames += u.frames;
        modules++;
    }
    if (!frames)
        return;
    FILE *note = cli_note_open();
    fprintf(note, "%zu frame%s not named:", frames, frames == 1 ? "" : "s");
    for (size_t i = 0; i < modules && i < NAMED; i++)
        if (pgk_heap_unnamed_at(heap, i, &u))
            fprintf(note, "%s %s", i ? "," : "", cli_module_text(text, sizeof text, &u));
    if (modules > NAMED)
        fprintf(note, " and %zu more", modules - NAMED);
    const struct packages packages = packages_of(heap, NAMED);
    put_sources_of_names(note, &packages);
    cli_note_close(note);
}

struct cli_cut cli_cut_stacks(const struct pgk_heap *heap)
{
    struct cli_cut cut = {0};
    for (size_t i = 0; i < pgk_heap_contexts(heap); i++) {
        const uint64_t bytes = pgk_heap_value(heap, i, PGK_MIB_CutSize);
        cut.contexts += bytes > 0;
        cut.bytes += bytes;
    }
    return cut;
}

void cli_note_cut(const struct cli_cut *cut)
{
    char contexts[PGK_HUMAN_SIZE], bytes[PGK_HUMAN_SIZE];
    if (cut->contexts)
        cli_note("the stacks of %s context%s (%s) were cut when they were recorded: their "
                 "outermost callers were not kept",
                 pgk_human_count(contexts, cut->contexts), cut->contexts == 1 ? "" : "s",
                 pgk_human_bytes(bytes, (double)cut->bytes));
}

void cli_warn_cold_by_default(size_t contexts)
{
    if (contexts)
        fprintf(stderr,
                "pgokit: warning: compilers take %zu context%s for cold, because the inputs do not "
                "record the density of accesses, which then reads as 0. Such inputs are profiles "
                "of clang 14, of "
                "programs without instrumentation, and of objects alive when a process was "
                "killed\n",
                contexts, contexts == 1 ? "" : "s");
}

void cli_note_same_named(const struct pgk_heap *heap)
{
    struct pgk_heap_same_named found = {.struct_size = sizeof found};
    char name[256], files[2][256];
    if (pgk_heap_same_named(heap, &found, NULL) || !found.functions)
        return;
    cli_note("%zu function%s the name of a function in another file, as '%s' in %s and in %s; "
             "LLVM's formats have one record for both. clang's -funique-internal-linkage-names "
             "keeps such functions apart",
             found.functions, found.functions == 1 ? " has" : "s have",
             pgk_human_text(name, sizeof name, found.name),
             *found.files[0] ? pgk_human_text(files[0], sizeof *files, found.files[0]) : "?",
             *found.files[1] ? pgk_human_text(files[1], sizeof *files, found.files[1]) : "?");
}
