/* pgokit history add: profiles with what is known of them. */
#include "heap_input.h"
#include "history_kinds.h"
#include "sample_input.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char help[] =
    "usage: pgokit history add FOLDER PROFILE... [OPTION]...\n\n"
    "Adds profiles to the history in FOLDER, which is made if there is none. The\n"
    "same profile of the same version is added once. Several processes may add at a\n"
    "time.\n\n";

static const char examples[] =
    "  pgokit history add profiles app.memprofdata -b ./app --release v1.4\n"
    "  pgokit history add profiles app.afdo --release v1.4 --match-with ./app \\\n"
    "      --gain 7.5 --keep 100\n";

struct add {
    struct cli_common common;
    struct pgk_history_entry entry;
    struct cli_list builds;
    bool time_given;
    size_t keep;
};

static void take_time(const struct option_given *given)
{
    *(int64_t *)given->into = history_time("--time", given->value);
}

static const struct option_row rows[] = {
    {"release", 0, "TEXT", "the version of the program", OPTION_TEXT(struct add, entry.version),
     .page = "the name of a tag, or a commit"},
    {"host-class", 0, "NAME",
     "a class of machines and loads, whose profiles are compared with one "
     "another",
     OPTION_TEXT(struct add, entry.host_class)},
    {"time", 0, "TIME",
     "when it was recorded (default: what the profile says, else the time of its "
     "file)",
     OPTION_CALL_FOR(struct add, entry.time_s, take_time), OPTION_GIVEN(struct add, time_given)},
    {"build-id", 0, "HEX", "that of the program (default: what the profile says)",
     OPTION_TEXT(struct add, entry.build_id)},
    {"page", 0, "ADDRESS", "where a page shows this profile, for links",
     OPTION_TEXT(struct add, entry.page)},
    {"gain", 0, "PERCENT", "the speed that a build gained by this profile",
     OPTION_PERCENT(struct add, entry.gain_percent, -100, 100000),
     .page = "[pgokit pgo](pgokit-pgo.md) measures it"},
    {"match-with", 0, "FILE",
     "a build, to note how much of the profile applies to it; may be "
     "repeated",
     OPTION_LIST(struct add, builds)},
    {"keep", 0, "N", "then delete all but the newest N of each host class and kind",
     OPTION_NUMBER(struct add, keep, 1, 1000000000)},
    {0},
};
static const struct option_table table = {"history add", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct add), {0}};

/* ---- functions with their weights ---- */

struct sums {
    struct pgk_history_function *v;
    size_t n, capacity;
};

static void sums_add(struct sums *s, const char *name, uint64_t weight)
{
    if (s->n == s->capacity) {
        s->capacity = s->capacity ? 2 * s->capacity : 256;
        struct pgk_history_function *grown = realloc(s->v, s->capacity * sizeof *grown);
        if (!grown) {
            fputs("pgokit: out of memory\n", stderr);
            exit(EXIT_FAILED);
        }
        s->v = grown;
    }
    s->v[s->n++] = (struct pgk_history_function){name, weight};
}

static int by_name(const void *pa, const void *pb)
{
    const struct pgk_history_function *a = pa, *b = pb;
    return strcmp(a->name, b->name);
}

/* Each name once. */
static void sums_join(struct sums *s)
{
    size_t n = 0;
    if (s->n)
        qsort(s->v, s->n, sizeof *s->v, by_name);
    for (size_t i = 0; i < s->n; i++) {
        if (n && !strcmp(s->v[n - 1].name, s->v[i].name)) {
            const uint64_t left = UINT64_MAX - s->v[n - 1].weight;
            s->v[n - 1].weight += s->v[i].weight < left ? s->v[i].weight : left;
        } else {
            s->v[n++] = s->v[i];
        }
    }
    s->n = n;
}

/* Of the language's library, which allocates for whoever calls it. */
static bool is_library(const char *function)
{
    static const char *const begins[] = {"_Znw",   "_Zna",          "_ZSt",          "_ZNSt",
                                         "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(function, begins[i], strlen(begins[i])))
            return true;
    return false;
}

static const char *allocating_function(const struct pgk_heap *heap, size_t context)
{
    enum { FRAMES = 64 };
    struct pgk_heap_frame frames[FRAMES];
    const char *first = NULL;
    size_t n = pgk_heap_stack(heap, context, frames, FRAMES);
    n = n < FRAMES ? n : FRAMES;
    for (size_t i = 0; i < n; i++) {
        const char *name = frames[i].is_address ? "" : frames[i].function;
        if (*name && !is_library(name))
            return name;
        first = first || !*name ? first : name;
    }
    return first ? first : "(no name)";
}

static uint64_t add_up(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Of all contexts; not known if one of them does not know it. */
static uint64_t sum_field(const struct pgk_heap *heap, enum pgk_mib_id id)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < pgk_heap_contexts(heap); i++) {
        if (!pgk_heap_knows(heap, i, id))
            return PGK_HISTORY_UNKNOWN;
        sum = add_up(sum, pgk_heap_value(heap, i, id));
    }
    return sum;
}

static void sum_heap(struct sums *s, struct pgk_history_entry *e, const struct pgk_heap *heap)
{
    struct pgk_heap_times times = {.struct_size = sizeof times};
    struct pgk_heap_recording recording = {.struct_size = sizeof recording};
    struct pgk_heap_sum sum = {.struct_size = sizeof sum};
    pgk_heap_sum(heap, &sum);
    pgk_heap_over_time(heap, &times);
    e->weight = sum.bytes;
    e->functions = sum.contexts;
    e->objects = sum_field(heap, PGK_MIB_AllocCount);
    e->exit_bytes = sum_field(heap, PGK_MIB_ExitSize);
    if (times.processes)
        e->peak_bytes = times.peak_bytes;
    if (pgk_heap_recording(heap, &recording) && recording.start_ms)
        e->time_s = (int64_t)(recording.start_ms / 1000);
    for (size_t i = 0; i < pgk_heap_contexts(heap); i++)
        sums_add(s, allocating_function(heap, i), pgk_heap_value(heap, i, PGK_MIB_TotalSize));
}

static int sum_sample(struct sums *s, struct pgk_history_entry *e, const struct pgk_sample *profile,
                      struct pgk_err *err)
{
    struct pgk_sample_summary summary = {.struct_size = sizeof summary};
    int status = pgk_sample_summarise(profile, &summary, err);
    e->weight = summary.total_count;
    e->functions = pgk_sample_functions(profile);
    for (size_t i = 0; !status && i < pgk_sample_functions(profile); i++) {
        struct pgk_sample_function f = {.struct_size = sizeof f};
        const uint32_t node = pgk_sample_function_at(profile, i);
        struct pgk_sample_record r = {.struct_size = sizeof r, .node = node};
        uint64_t samples = 0;
        pgk_sample_get(profile, node, &f);
        while (pgk_sample_next_record(profile, &r))
            if (r.kind == PGK_SAMPLE_LINE)
                samples = add_up(samples, r.count);
        sums_add(s, *f.name ? f.name : "(no name)", samples);
    }
    return status;
}

static void sum_instr(struct sums *s, struct pgk_history_entry *e, const struct pgk_instr *profile)
{
    e->functions = pgk_instr_functions(profile);
    for (size_t i = 0; i < pgk_instr_functions(profile); i++) {
        struct pgk_instr_function f = {.struct_size = sizeof f};
        uint64_t total = 0;
        pgk_instr_function(profile, i, &f);
        for (size_t c = 0; c < f.n_counts; c++)
            total = add_up(total, f.counts[c]);
        e->weight = add_up(e->weight, total);
        sums_add(s, f.name, total);
    }
}

/* ---- a profile ---- */

/* What its readers give; one of them is open. */
struct profile {
    struct heap_input heap;
    struct pgk_sample *sample;
    struct pgk_instr *instr;
};

static void close_profile(struct profile *p)
{
    pgk_heap_close(&p->heap.heap);
    pgk_sample_close(&p->sample);
    pgk_instr_close(&p->instr);
}

static int read_instr(struct pgk_instr **profile, struct pgk_file *file, struct pgk_err *err)
{
    int status = pgk_instr_new(profile, err);
    return status ? status : pgk_instr_read_file(*profile, file, 1, err);
}

static int read_profile(const struct add *a, struct profile *p, struct sums *s,
                        struct pgk_history_entry *e, const char *path, struct pgk_err *err)
{
    struct pgk_file *file;
    int status = cli_open(&file, path, err);
    if (status)
        return status;
    const enum pgk_kind kind = pgk_file_info_format(pgk_file_info(file))->kind;
    const bool has_heap = kind == PGK_KIND_INSTR && pgk_file_holds(file, PGK_KIND_HEAP);
    e->kind = pgk_kind_name(has_heap ? PGK_KIND_HEAP : kind);
    if (kind == PGK_KIND_HEAP || has_heap) {
        p->heap.show_all = true;
        status = heap_input_read(&p->heap, path, &a->common, err);
        if (!status)
            sum_heap(s, e, p->heap.heap);
    } else if (kind == PGK_KIND_SAMPLE) {
        status = sample_input_read(&p->sample, path, &a->common, NULL, err);
        status = status ? status : sum_sample(s, e, p->sample, err);
    } else if (kind == PGK_KIND_INSTR) {
        status = read_instr(&p->instr, file, err);
        if (!status)
            sum_instr(s, e, p->instr);
    } else {
        cli_usage(&history_add,
                  "a history keeps heap profiles, sample profiles and counters, not "
                  "%s such as %s",
                  pgk_kind_plural(kind), path);
    }
    sums_join(s);
    return status;
}

/* How much of it the builds of --match-with have. */
static int find_match(const struct add *a, const struct profile *p, const char *path,
                      double *percent, struct pgk_err *err)
{
    struct cli_common common = a->common;
    struct heap_input named = {0}; /* without addresses, which belong to one build */
    struct pgk_binaries *binaries = NULL;
    struct pgk_match *match = NULL;
    struct pgk_function_match *functions = NULL;
    common.binaries = a->builds;
    if (!a->builds.n)
        return 0;
    int status = cli_open_binaries(&common, &binaries, err);
    if (!status && p->heap.heap) {
        status = heap_input_read(&named, path, &a->common, err);
        status = status ? status : pgk_match_heap(&match, named.heap, binaries, NULL, err);
    } else if (!status && p->sample) {
        status = pgk_match_sample(&functions, p->sample, binaries, NULL, err);
    } else if (!status) {
        status = pgk_match_instr(&functions, p->instr, binaries, err);
    }
    if (!status)
        *percent = match ? pgk_match_percent(match) : pgk_function_match_percent(functions);
    pgk_match_close(&match);
    pgk_function_match_close(&functions);
    pgk_binaries_close(&binaries);
    pgk_heap_close(&named.heap);
    return status;
}

static int first_build_id(void *ctx, const uint8_t *id, size_t size)
{
    enum { HEX_SIZE = 129 };
    pgk_human_hex(ctx, HEX_SIZE, id, size);
    return 1;
}

/* What is known of the file, if no option says otherwise. */
static int describe(const struct add *a, struct pgk_history_entry *e, char id[129],
                    const char *path, struct pgk_err *err)
{
    struct pgk_file *file;
    struct stat st;
    int status = cli_open(&file, path, err);
    *e = a->entry;
    e->name = cli_base_name(path);
    e->objects = e->peak_bytes = e->exit_bytes = e->functions = PGK_HISTORY_UNKNOWN;
    if (status)
        return status;
    e->time_s = stat(path, &st) ? 0 : (int64_t)st.st_mtime;
    if (!e->build_id) {
        status = pgk_file_build_ids(file, first_build_id, id, err);
        e->build_id = id;
    }
    return status < 0 ? status : 0;
}

static int add_one(const struct add *a, struct pgk_history *history, const char *path,
                   struct pgk_err *err)
{
    struct pgk_history_entry e;
    struct profile p = {0};
    struct sums sums = {0};
    int64_t id;
    bool is_new;
    char build_id[129] = "", safe[256];
    int status = describe(a, &e, build_id, path, err);
    status = status ? status : read_profile(a, &p, &sums, &e, path, err);
    status = status ? status : find_match(a, &p, path, &e.match_percent, err);
    if (!status) {
        e.time_s = a->time_given ? a->entry.time_s : e.time_s;
        status = pgk_history_add(history, &e, path, sums.v, sums.n, &id, &is_new, err);
    }
    if (!status && !a->common.quiet)
        printf("%s %s %lld\n", pgk_human_text(safe, sizeof safe, path),
               is_new ? "is added as" : "is there as", (long long)id);
    close_profile(&p);
    free(sums.v);
    return status;
}

static int run(int argc, char **argv)
{
    struct add a = {
        .entry = {.struct_size = sizeof a.entry, .gain_percent = NAN, .match_percent = NAN}};
    struct pgk_history *history = NULL;
    struct pgk_err err = {0};
    size_t deleted = 0;
    option_parse(&history_add, groups, argc, argv, &a);
    if (argc - optind < 2)
        cli_usage(&history_add, "history add takes a folder and profiles");
    int status = pgk_history_open(&history, argv[optind], true, &err);
    for (int i = optind + 1; i < argc && !status; i++)
        status = add_one(&a, history, argv[i], &err);
    if (!status && a.keep)
        status = pgk_history_keep(history, a.keep, &deleted, &err);
    if (!status && deleted && !a.common.quiet)
        printf("%zu older profile%s deleted\n", deleted, deleted == 1 ? " is" : "s are");
    pgk_history_close(&history);
    cli_list_free(&a.builds);
    cli_common_free(&a.common);
    return status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
}

const struct cli_verb history_add = {.name = "history add",
                                     .summary = "adds profiles",
                                     .help = help,
                                     .run = run,
                                     .groups = groups,
                                     .examples = examples};
