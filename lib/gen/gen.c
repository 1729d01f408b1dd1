/* Sample profiles from recordings: samples to counters of each binary, then to a profile. */
#include "branch_scale.h"
#include "branch_view.h"
#include "gen_branches.h"
#include "gen_folder.h"
#include "gen_empty.h"
#include "gen_from_profile.h"
#include "gen_input.h"
#include "gen_priv.h"
#include "gen_samples.h"
#include "gen_types.h"
#include "line_contexts.h"
#include "mem.h"
#include "message.h"
#include "opts.h"
#include "path.h"
#include "perf_data.h"
#include "probes.h"
#include "address_counts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int list_known(struct pgk_gen *g, struct pgk_err *err)
{
    for (size_t i = 0; i < g->opts.n_maps; i++) {
        const struct pgk_gen_map *map = &g->opts.maps[i];
        struct pgk_known_file known = {map->recorded,
                                       pgk_binaries_find_file(g->binaries, map->binary)};
        if (known.binary == PGK_INDEX_NONE)
            return pgk_fail(err, PGK_E_ARG, .file = map->binary, .field = "map",
                            .found = "a file that is not among the binaries",
                            .expected = "one of them", .hint = "add it to the set of binaries");
        if (!pgk_vec_push(&g->known, known))
            return pgk_fail_nomem(err);
    }
    return 0;
}

int pgk_gen_new(struct pgk_gen **into, struct pgk_binaries *binaries,
                const struct pgk_gen_opts *opts, struct pgk_err *err)
{
    struct pgk_gen_opts taken;
    PGK_TRY(PGK_OPTS_TAKE(&taken, opts, err));
    struct pgk_gen *g = pgk_mem_zalloc(1, sizeof *g);
    if (!g)
        return pgk_fail_nomem(err);
    g->binaries = binaries;
    g->opts = taken;
    g->stats.examples = g->examples;
    g->stats.n_examples = PGK_GEN_DROPS;
    g->contexts = g->opts.mode >= PGK_GEN_CONTEXTS;
    g->decided = g->opts.mode != PGK_GEN_AUTO || g->opts.leading_ip_only || g->opts.traces ||
                 g->opts.data || g->opts.stacks;
    size_t n = pgk_binaries_count(binaries);
    int status =
        n ? 0
          : pgk_fail(err, PGK_E_ARG, .field = "binaries", .found = "none",
                     .expected = "the program that was recorded", .hint = "give it with -b");
    if (!status && g->contexts && (g->opts.leading_ip_only || g->opts.traces))
        status = pgk_fail(err, PGK_E_ARG, .field = "mode", .found = "calling contexts",
                          .expected = g->opts.traces
                                          ? "none, to count branches for llvm-bolt"
                                          : "lines or probes, to count sampled instructions alone",
                          .hint = "choose another --mode");
    if (!status && !pgk_vec_reserve(&g->images, n))
        status = pgk_fail_nomem(err);
    for (size_t i = 0; !status && i < n; i++)
        g->images.v[g->images.n++] = (struct pgk_gen_binary){
            .elf = pgk_binaries_elf(binaries, (uint32_t)i), .sum_lines = g->opts.leading_ip_only};
    if (!status)
        status = list_known(g, err);
    if (!status)
        status = pgk_sample_new(&g->profile, err);
    if (status)
        pgk_gen_close(&g);
    else
        *into = g;
    return status;
}

void pgk_gen_close(struct pgk_gen **gen)
{
    struct pgk_gen *g = *gen;
    if (!g)
        return;
    pgk_gen_ticks_free(g);
    for (size_t i = 0; i < g->images.n; i++) {
        if (g->images.v[i].has_code)
            pgk_code_close(&g->images.v[i].code);
        pgk_steps_free(&g->images.v[i].steps);
        pgk_step_table_free(&g->images.v[i].step_counts);
        pgk_counters_free(&g->images.v[i].counters);
        pgk_traces_free(&g->images.v[i].traces);
        pgk_vtable_symbols_free(&g->images.v[i].vtables);
        pgk_type_tests_free(&g->images.v[i].tests);
        pgk_pairs_free(&g->images.v[i].equal);
        pgk_pairs_free(&g->images.v[i].accesses);
        pgk_pairs_free(&g->images.v[i].hits);
        pgk_pairs_free(&g->images.v[i].hit_calls);
        pgk_pairs_free(&g->images.v[i].hit_frameless);
        pgk_vec_free(&g->images.v[i].hit_contexts.list);
        pgk_call_trie_free(&g->images.v[i].calls);
        pgk_first_runs_free(&g->images.v[i].first_runs);
        pgk_first_runs_free(&g->images.v[i].first_runs_here);
        pgk_vec_free(&g->images.v[i].profiled);
        pgk_vec_free(&g->images.v[i].named.ranges.list);
        pgk_vec_free(&g->images.v[i].named.branches.list);
        pgk_functions_close(&g->images.v[i].functions);
        pgk_probe_index_close(&g->images.v[i].index);
        pgk_probes_close(&g->images.v[i].probes);
    }
    pgk_vec_free(&g->images);
    pgk_vec_free(&g->branches);
    pgk_vec_free(&g->chain);
    pgk_vec_free(&g->seen);
    pgk_vec_free(&g->known);
    pgk_vec_free(&g->outside_of);
    pgk_vec_free(&g->sample.steps);
    pgk_vec_free(&g->sample.callers);
    pgk_intern_free(&g->hit_events);
    pgk_gen_stacks_free(&g->stacks_seen);
    pgk_sample_close(&g->profile);
    pgk_mem_free(g);
    *gen = NULL;
}

const struct pgk_gen_stats *pgk_gen_stats(const struct pgk_gen *gen)
{
    return &gen->stats;
}

static void take_info(struct pgk_gen *g)
{
    const struct pgk_perf_info *info = pgk_perf_input_info(g->input);
    struct pgk_gen_stats *s = &g->stats;
    s->lost += info->lost_samples;
    s->lines += info->lines;
    g->has_mappings |= info->mappings > 0;
    if (info->unreadable.n && !s->unreadable) {
        s->unreadable_line = info->unreadable.first;
        memcpy(s->unreadable_example, info->unreadable.example, sizeof s->unreadable_example);
    }
    s->unreadable += info->unreadable.n;
}

/* Counters do not say which program they are of: the first one. */
static int add_raw(struct pgk_gen *g, const struct pgk_filemap *map, const char *path,
                   struct pgk_err *err)
{
    struct pgk_gen_binary *b = &g->images.v[0];
    struct pgk_source src = {.file = path, .format = "address counts"};
    PGK_TRY(pgk_gen_need_code(g, b));
    b->any_ranges = g->opts.any_ranges;
    struct pgk_address_counts c = {.counters = &b->counters,
                                   .calls = &b->calls,
                                   .named = &b->named,
                                   .profile = g->profile,
                                   .code = &b->code,
                                   .base = pgk_address_counts_base(b->elf, g->opts.raw_base),
                                   .any_ranges = g->opts.any_ranges,
                                   .as_seen = g->opts.no_scale};
    const double before = pgk_gen_range_sum(g);
    PGK_TRY(pgk_address_counts_read(&c, map->bytes, map->size, &src, err));
    g->stats.unfit += c.unfit;
    g->stats.in_code += c.seen;
    if (c.scale > 1) {
        const uint64_t scale = g->opts.no_scale ? 1 : c.scale;
        const double counted = pgk_gen_range_sum(g) - before;
        pgk_gen_note_scale(g, scale);
        pgk_gen_note_windows(&g->ranges, counted / (double)scale, scale);
    }
    if (g->decided && c.contexts != g->contexts)
        return pgk_fail(err, PGK_E_MISMATCH, .file = path, .format = src.format,
                        .offset = &(uint64_t){0}, .field = "contexts",
                        .found = c.contexts ? "counters by calling context" : "plain counters",
                        .expected = g->contexts ? "counters by calling context" : "plain counters",
                        .hint = "generate from inputs of one kind, or choose another --mode");
    g->contexts = c.contexts;
    g->decided = true;
    return 0;
}

/* Adds the file with the most samples of no use that is not named yet; false if there is none. The
 * last part of its path is enough for --map, and several fit into a message. */
static bool name_file(struct pgk_gen *g, const struct pgk_process_file *files)
{
    size_t used = strlen(g->elsewhere), most = 0;
    for (size_t i = 1; i < g->outside_of.n; i++)
        if (g->outside_of.v[i] > g->outside_of.v[most])
            most = i;
    if (!g->outside_of.n || !g->outside_of.v[most])
        return false;
    snprintf(g->elsewhere + used, sizeof g->elsewhere - used, "%s%s (%" PRIu64 ")",
             used ? ", " : "", pgk_base_name(files[most].path), g->outside_of.v[most]);
    g->outside_of.v[most] = 0;
    return true;
}

/* Notes about the files of an input that was read. */
static void note_files(struct pgk_gen *g)
{
    enum { NAMED = 3 };
    size_t n;
    const struct pgk_process_file *files = pgk_process_map_files(g->space.map, &n);
    if (g->stats.no_mapping && n)
        pgk_warn("%s was not mapped in the recording, but other files were (%s): addresses are "
                 "used unchanged, which is right for a program at a fixed address. Say with "
                 "--map which file it was",
                 pgk_elf_path(g->images.v[0].elf), files[0].path);
    if (!*g->elsewhere)
        for (size_t i = 0; i < NAMED && name_file(g, files); i++)
            ;
}

/* Samples are counted, and a profile has been counted already: there is no adding them up. */
static int check_inputs(struct pgk_gen *g, enum pgk_gen_input input, const char *path,
                        struct pgk_err *err)
{
    static const char *const names[] = {[PGK_GEN_RECORDING] = "a recording",
                                        [PGK_GEN_PROFILE] = "a sample profile"};
    if (g->inputs && g->inputs != input)
        return pgk_fail(err, PGK_E_MISMATCH, .file = path, .field = "kind", .found = names[input],
                        .expected = names[g->inputs],
                        .hint = "make a profile of the recordings, then merge the profiles");
    g->inputs = input;
    return 0;
}

int pgk_gen_other_build(struct pgk_gen *g, const char *path, const char *found,
                        struct pgk_err *err)
{
    if (g->opts.skip_other_builds) {
        g->stats.other_builds++;
        return 0;
    }
    return pgk_fail(err, PGK_E_MISMATCH, .file = path, .field = "build id", .found = found,
                    .expected = "the binary that was run",
                    .hint = "give exactly the file that was recorded with -b, or "
                            "--skip-other-builds");
}

/* `fd`: where the rest of a pipe comes from, or -1. */
static int add_recording(struct pgk_gen *g, struct pgk_filemap *map, int fd, const char *path,
                         struct pgk_err *err)
{
    PGK_TRY(pgk_perf_input_open_stream(&g->input, map, fd, path, err));
    memset(g->windows, 0, sizeof g->windows);
    int status = pgk_address_space_open(&g->space, g->binaries, err);
    g->space.kernel = g->opts.kernel;
    g->space.known = &g->known;
    g->outside_of.n = 0;
    g->start = UINT64_MAX;
    if (!status)
        status = pgk_perf_input_read(g->input,
                                     &(struct pgk_perf_handler){.ctx = g,
                                                                .mapping = pgk_gen_on_mapping,
                                                                .task = pgk_gen_on_task,
                                                                .sample = pgk_gen_on_sample,
                                                                .trace = pgk_gen_on_trace},
                                     err);
    for (size_t i = 0; i < g->images.n && !status; i++)
        status = pgk_gen_count_steps(&g->images.v[i], g->contexts, err);
    for (size_t i = 0; i < g->images.n && !status; i++)
        if (!pgk_first_runs_move(&g->images.v[i].first_runs, &g->images.v[i].first_runs_here,
                                 g->start))
            status = pgk_fail_nomem(err);
    take_info(g);
    const bool foreign = !g->space.any_matched && g->space.foreign;
    if (!status && !foreign)
        note_files(g);
    if (!status && foreign)
        status = pgk_gen_other_build(g, path, g->space.foreign_text, err);
    pgk_address_space_close(&g->space);
    pgk_perf_input_close(&g->input);
    return status;
}

/* Takes the map, and the stream that it is the head of; -1: it is the whole. */
static int add_map(struct pgk_gen *g, struct pgk_filemap *map, int fd, const char *path,
                   pgk_format_rows row_at, struct pgk_err *err)
{
    bool branches = pgk_branches_sniff(map->bytes, map->size),
         counts = !branches && pgk_address_counts_sniff(map->bytes, map->size);
    const struct pgk_format_row *row =
        counts || branches ? NULL : pgk_gen_profile_format(row_at, map->bytes, map->size);
    int status = check_inputs(g, row ? PGK_GEN_PROFILE : PGK_GEN_RECORDING, path, err);
    if (!status)
        status = row        ? pgk_gen_add_profile(g, row, map, path, err)
                 : counts   ? add_raw(g, map, path, err)
                 : branches ? pgk_gen_add_branches(g, map, path, err)
                            : add_recording(g, map, fd, path, err);
    else if (fd >= 0)
        close(fd);
    pgk_filemap_close(map);
    return status;
}

int pgk_gen_add_file(struct pgk_gen *g, const char *path, pgk_format_rows row_at,
                     struct pgk_err *err)
{
    struct pgk_filemap map;
    int fd;
    g->err = err;
    PGK_TRY(pgk_filemap_open_stream(&map, path, PGK_PERF_STREAM_HEAD, pgk_perf_is_stream, &fd,
                                    err));
    return add_map(g, &map, fd, path, row_at, err);
}

/* ---- folders ---- */

struct folder {
    struct pgk_gen *g;
    pgk_format_rows row_at;
};

static int add_of_folder(void *ctx, const char *path, struct pgk_err *err)
{
    struct folder *f = ctx;
    struct pgk_gen *g = f->g;
    struct pgk_filemap map;
    PGK_TRY(pgk_filemap_open(&map, path, err));
    if (!pgk_perf_sniff(map.bytes, map.size) && !pgk_branches_sniff(map.bytes, map.size)) {
        g->stats.other_files++;
        pgk_filemap_close(&map);
        return 0;
    }
    g->stats.files++;
    return add_map(g, &map, -1, path, f->row_at, err);
}

int pgk_gen_add_files(struct pgk_gen *g, const char *path, pgk_format_rows row_at,
                      struct pgk_err *err)
{
    struct folder f = {g, row_at};
    const bool skip = g->opts.skip_other_builds;
    const uint64_t before = g->stats.files;
    g->err = err;
    g->opts.skip_other_builds = true;
    int status = pgk_gen_each_file(path, add_of_folder, &f, err);
    g->opts.skip_other_builds = skip;
    if (!status && g->stats.files == before)
        return pgk_fail(err, PGK_E_EMPTY, .file = path, .field = "folder",
                        .found = PGK_F("%" PRIu64 " files, none of them a recording",
                                       g->stats.other_files),
                        .expected = "recordings of perf, or CPU profiles of pprof or OTLP",
                        .hint = "name the folder into which the profiler or collector writes");
    return status;
}

/* ---- the profile ---- */

/* Counters by contexts of names, which are functions and lines. */
static bool has_names(const struct pgk_gen_binary *b)
{
    return b->named.ranges.list.n || b->named.branches.list.n;
}

static bool has_counts(const struct pgk_gen_binary *b)
{
    return b->counters.ranges.list.n || b->counters.branches.list.n || b->calls.ranges.list.n ||
           b->calls.branches.list.n || b->calls.vtables.list.n || b->hits.list.n || has_names(b);
}

/* Samples of instructions count where no branch was recorded. */
static void settle_hits(struct pgk_gen *g)
{
    bool branches = false;
    for (size_t i = 0; i < g->images.n && !branches; i++)
        branches = g->images.v[i].counters.branches.list.n ||
                   g->images.v[i].calls.branches.list.n || has_names(&g->images.v[i]);
    if (!branches) {
        g->stats.inferred = g->hits;
        g->stats.unfit += g->hits_unfit;
        g->stats.in_code += g->hits + g->hits_unfit;
        g->stats.outside += g->hits_outside;
        if (g->hits_outside)
            pgk_gen_example(&g->stats, PGK_GEN_OUTSIDE, "%s", g->hit_outside);
        return;
    }
    g->stats.without_branches += g->hits + g->hits_outside;
    for (size_t i = 0; i < g->images.n; i++)
        pgk_pairs_free(&g->images.v[i].hits);
}

/* Facts about all counts that are needed before the first of them is assigned to a function. */
static void settle_counts(struct pgk_gen *g)
{
    if (g->settled)
        return;
    g->settled = true;
    settle_hits(g);
    pgk_gen_limit_scaled(g);
}

static int find_mark(void *ctx, const struct pgk_elf_entry *e)
{
    (void)ctx;
    return !strcmp(e->name, "__llvm_fs_discriminator__");
}

static void look_at_discriminators(const struct pgk_gen *g, struct pgk_gen_binary *b)
{
    b->flow_sensitive = pgk_elf_entries(b->elf, find_mark, NULL);
    b->plain_discriminators = b->flow_sensitive || g->opts.plain_discriminators;
}

/* Probes that are there are used, unless lines were asked for. */
static int open_probes(struct pgk_gen *g, struct pgk_gen_binary *b, struct pgk_err *err)
{
    struct pgk_err why = {0};
    if (g->opts.mode == PGK_GEN_LINES || g->opts.mode == PGK_GEN_CONTEXT_LINES ||
        g->opts.no_probes || has_names(b))
        return 0;
    int status = pgk_probes_open_elf(&b->probes, b->elf, &why);
    if (status == PGK_E_EMPTY && g->opts.mode != PGK_GEN_PROBES)
        return 0;
    if (status && err)
        *err = why;
    return status;
}

static int add_to_profile(struct pgk_gen *g, struct pgk_gen_binary *b, bool by_probes,
                          struct pgk_err *err)
{
    if (g->contexts)
        return by_probes ? pgk_gen_context_probes(g->profile, b, &g->opts, &g->stats, err)
                         : pgk_gen_context_lines(g->profile, b, &g->opts, &g->stats, err);
    return by_probes ? pgk_gen_probes(g->profile, b, g->opts.threads, &g->stats, err)
                     : pgk_gen_lines(g->profile, b, g->opts.threads, &g->stats, err);
}

static int infer(struct pgk_gen *g, struct pgk_gen_binary *b, bool symbols, struct pgk_err *err)
{
    if (!b->hits.list.n)
        return 0;
    if (g->contexts && !b->hit_contexts.list.n)
        return pgk_fail(err, PGK_E_EMPTY, .field = "calling contexts",
                        .found = "samples without call chains",
                        .expected = "call chains, or branch stacks with call chains",
                        .hint = "record call chains (perf record -g), or choose another --mode");
    PGK_TRY(pgk_gen_infer(b, symbols, g->opts.threads, &g->stats, err));
    return g->contexts ? pgk_gen_infer_contexts(b, symbols, g->opts.threads, err) : 0;
}

static int add_binary(struct pgk_gen *g, uint32_t number, bool by_probes, struct pgk_err *err)
{
    const uint64_t loads = g->stats.vtable_samples, recovered = g->stats.recovered_types;
    struct pgk_gen_binary *b = &g->images.v[number];
    int status = pgk_binaries_symboliser(g->binaries, number, &b->sym, err);
    if (status == PGK_E_NODEBUG && by_probes) /* probes and symbols are enough */
        status = 0;
    PGK_TRY(status);
    look_at_discriminators(g, b);
    PGK_TRY(pgk_gen_find_type_tests(g, b, err));
    PGK_TRY(infer(g, b, by_probes, err));
    pgk_gen_settle(b, &g->stats);
    PGK_TRY(pgk_gen_recover_types(g, b, by_probes, err));
    if (g->opts.symbols)
        PGK_TRY(pgk_gen_list_symbols(g->profile, b, by_probes, g->opts.threads, err));
    PGK_TRY(add_to_profile(g, b, by_probes, err));
    pgk_gen_to_samples(&g->stats.vtable_samples, loads,
                       b->vtable_scale > 0 ? b->vtable_scale : g->load_unit);
    pgk_gen_to_samples(&g->stats.recovered_types, recovered, g->unit);
    return 0;
}

/* Scales loads, of which one in `load period` is sampled, to branch stacks: one in `stack period`
 * branches gives as many branches as a stack holds. */
static int scale_vtables(struct pgk_gen *g, struct pgk_err *err)
{
    double scale = pgk_gen_load_scale(g);
    if (!g->loads)
        return 0;
    if (!(scale > 0))
        return pgk_fail(err, PGK_E_ARG, .field = "sampling periods",
                        .found = g->load_period > g->loads ? "none of branches" : "none of loads",
                        .expected = "a period in both recordings",
                        .hint = "record with -c N and give perf.data; text of perf script has no "
                                "periods");
    for (size_t i = 0; i < g->images.n; i++) {
        pgk_call_counts_sort(&g->images.v[i].calls.vtables);
        pgk_gen_scale_loads(g, &g->images.v[i], scale);
    }
    return 0;
}

/* Whether so much does not fit that it cannot be broken samples alone. */
static void judge(struct pgk_gen_stats *s)
{
    double limit = PGK_GEN_UNFIT_PERCENT / 100.0;
    s->misfit = (s->unfit && (double)s->unfit >= limit * (double)s->in_code) ||
                (s->ranges_bad && (double)s->ranges_bad >= limit * (double)s->ranges);
}

/* Contexts are of calls for probes, of functions and lines else; without debug information there
 * are calls alone. */
static int name_contexts(struct pgk_gen *g, struct pgk_gen_binary *b,
                         struct pgk_named_counts *named, bool *are_named, struct pgk_err *err)
{
    struct pgk_line_contexts lines;
    PGK_TRY(open_probes(g, b, err));
    if (b->probes)
        return 0;
    int status = pgk_binaries_symboliser(g->binaries, (uint32_t)(b - g->images.v), &b->sym, err);
    if (status == PGK_E_NODEBUG && !has_names(b))
        return 0;
    PGK_TRY(status);
    *are_named = true;
    look_at_discriminators(g, b);
    status = pgk_line_contexts_open(&lines, g->profile, b, &g->opts, err);
    if (!status && !pgk_line_contexts_named(&lines, named))
        status = pgk_fail_nomem(err);
    pgk_line_contexts_close(&lines);
    return status;
}

int pgk_gen_need_counters(const struct pgk_gen *g, struct pgk_err *err)
{
    if (g->inputs != PGK_GEN_PROFILE)
        return 0;
    return pgk_fail(err, PGK_E_ARG, .field = "input", .found = "a sample profile",
                    .expected = "a recording, or counts of addresses",
                    .hint = "counts of addresses are lost in a profile");
}

int pgk_gen_settle_counters(struct pgk_gen *g, uint32_t number, struct pgk_err *err)
{
    struct pgk_gen_binary *b = &g->images.v[number];
    settle_counts(g);
    if (b->hits.list.n) {
        int status = pgk_binaries_symboliser(g->binaries, number, &b->sym, err);
        if (status && status != PGK_E_NODEBUG) /* symbols are enough */
            return status;
        PGK_TRY(infer(g, b, true, err));
    }
    pgk_gen_settle(b, &g->stats);
    judge(&g->stats);
    return 0;
}

static int write_counts(struct pgk_gen *g, struct pgk_gen_binary *b, const char *path,
                        struct pgk_err *err)
{
    struct pgk_named_counts named = {0};
    bool are_named = false;
    struct pgk_sink *out;
    int status = g->contexts ? name_contexts(g, b, &named, &are_named, err) : 0;
    struct pgk_address_counts c = {.counters = &b->counters,
                                   .calls = &b->calls,
                                   .named = are_named ? &named : NULL,
                                   .profile = g->profile,
                                   .base = pgk_address_counts_base(b->elf, g->opts.raw_base),
                                   .limits = pgk_context_limits(&g->opts),
                                   .contexts = g->contexts,
                                   .scale = (uint64_t)(g->unit + 0.5)};
    if (!status)
        status = pgk_sink_open(&out, path, err);
    if (!status && (status = pgk_address_counts_write(&c, out, err)) != 0)
        pgk_sink_drop(&out);
    else if (!status)
        status = pgk_sink_commit(&out, err);
    pgk_vec_free(&named.ranges.list);
    pgk_vec_free(&named.branches.list);
    return status;
}

int pgk_gen_write_counts(struct pgk_gen *g, const char *path, struct pgk_err *err)
{
    struct pgk_gen_binary *b = NULL;
    PGK_TRY(pgk_gen_need_counters(g, err));
    for (size_t i = 0; i < g->images.n; i++) {
        if (!has_counts(&g->images.v[i]))
            continue;
        if (b)
            return pgk_fail(err, PGK_E_ARG, .field = "binaries", .found = "counts of several",
                            .expected = "one, which is all that such a file can hold",
                            .hint = "give one with -b, and write a file for each");
        b = &g->images.v[i];
    }
    if (!b)
        return pgk_gen_no_samples(g, err);
    PGK_TRY(pgk_gen_settle_counters(g, (uint32_t)(b - g->images.v), err));
    return write_counts(g, b, path, err);
}

static bool any_functions(const struct pgk_sample *p)
{
    for (uint32_t id = 1; id < p->nodes.n; id++)
        if (pgk_sample_is_top(p, id))
            return true;
    return false;
}

/* The same, for a profile. */
static int settle(struct pgk_gen *g, struct pgk_err *err)
{
    bool scaled = g->settled || !g->opts.scale_vtables;
    settle_counts(g);
    return scaled ? 0 : scale_vtables(g, err);
}

static int end_counts(struct pgk_gen *g, bool by_probes, struct pgk_err *err)
{
    judge(&g->stats);
    if (!any_functions(g->profile))
        return pgk_gen_no_functions(g, by_probes, err);
    if (g->contexts && !by_probes)
        PGK_TRY(pgk_gen_complete_calls(g->profile, err));
    return pgk_sample_set_kind(g->profile, g->contexts, by_probes, "recording", err);
}

/* Adds all functions of debug information and of symbols, each by an empty count of its first
 * instruction. */
static int add_all_functions(struct pgk_gen *g, uint32_t number, struct pgk_err *err)
{
    struct pgk_gen_binary *b = &g->images.v[number];
    struct pgk_functions all = {0};
    PGK_TRY(pgk_gen_need_code(g, b));
    PGK_TRY(pgk_binaries_symboliser(g->binaries, number, &b->sym, err));
    PGK_TRY(pgk_gen_all_functions(b, &all, true, g->opts.threads, err));
    bool ok = true;
    for (size_t i = 0; i < all.ranges.n && ok; i++) {
        uint64_t low = all.ranges.v[i].low;
        if (pgk_code_is(&b->code, low))
            ok = pgk_pairs_add(&b->counters.ranges, low, low, 0);
    }
    pgk_pairs_sort(&b->counters.ranges);
    pgk_functions_close(&all);
    return ok ? 0 : pgk_fail_nomem(err);
}

/* Counts of code to counts of functions. */
static int count_all(struct pgk_gen *g, struct pgk_err *err)
{
    bool any = false, by_probes = false;
    PGK_TRY(settle(g, err));
    for (uint32_t i = 0; i < g->images.n; i++) {
        struct pgk_gen_binary *b = &g->images.v[i];
        if (g->opts.all_functions && !g->contexts)
            PGK_TRY(add_all_functions(g, i, err));
        if (!has_counts(b))
            continue;
        PGK_TRY(open_probes(g, b, err));
        if (any && by_probes != !!b->probes)
            continue; /* a profile has lines or probes; the first binary decides */
        by_probes = b->probes;
        any = true;
        PGK_TRY(add_binary(g, i, by_probes, err));
    }
    return any ? end_counts(g, by_probes, err) : pgk_gen_no_samples(g, err);
}

static int count_one(struct pgk_gen *g, uint32_t binary, struct pgk_err *err)
{
    struct pgk_gen_binary *b = &g->images.v[binary];
    if (!has_counts(b))
        return pgk_gen_no_samples(g, err);
    PGK_TRY(open_probes(g, b, err));
    PGK_TRY(add_binary(g, binary, b->probes, err));
    return end_counts(g, b->probes, err);
}

/* Functions were there, so options or their names left all of them out. */
static int all_left_out(const struct pgk_gen *g, struct pgk_err *err)
{
    if (g->opts.trim_cold)
        return pgk_fail(err, PGK_E_EMPTY, .field = "functions", .found = "only cold ones",
                        .expected = "a function that is hot enough to stay",
                        .hint = "leave --trim-cold out, or lower --hot-count and --cold-count");
    return pgk_fail(err, PGK_E_EMPTY, .field = "functions",
                    .found = "only what runs when a module starts", .expected = "others",
                    .hint = "record for a longer time");
}

/* Of a profile of the `n` binaries, whose counts are in it. */
static int finish(struct pgk_gen *g, struct pgk_gen_binary *binaries, size_t n,
                  struct pgk_err *err)
{
    struct pgk_gen_stats *s = &g->stats;
    struct pgk_sample_info info = {.struct_size = sizeof info};
    double density;
    uint32_t node;
    PGK_TRY(pgk_gen_finish(&g->profile, binaries, n, &g->opts, err));
    if (g->contexts || g->inputs == PGK_GEN_PROFILE) /* else they were not counted */
        pgk_gen_drop_start_up(g->profile);
    PGK_TRY(pgk_sample_finish(g->profile, err));
    pgk_sample_info(g->profile, &info);
    if (!info.functions)
        return all_left_out(g, err);
    s->functions += info.functions;
    PGK_TRY(pgk_gen_density(g->profile, g->opts.density_share, &density, &node, err));
    if (g->unit > 1) /* 0 if nothing was counted */
        density /= g->unit;
    if (s->density > 0 && s->density < density)
        return 0;
    s->density = density;
    const char *name = g->profile->names.list.v[g->profile->nodes.v[node].name].s;
    snprintf(s->density_function, sizeof s->density_function, "%s", name ? name : "");
    return 0;
}

int pgk_gen_profile(struct pgk_gen *g, struct pgk_sample **profile, struct pgk_err *err)
{
    PGK_TRY(g->inputs == PGK_GEN_PROFILE ? pgk_gen_find_profiled(g, err) : count_all(g, err));
    PGK_TRY(finish(g, g->images.v, g->images.n, err));
    *profile = g->profile;
    g->profile = NULL;
    return 0;
}

const char *pgk_gen_counted(const struct pgk_gen *g, uint32_t binary)
{
    if (binary >= g->images.n)
        return NULL;
    const struct pgk_gen_binary *b = &g->images.v[binary];
    return b->traces.list.n || has_counts(b) ? pgk_elf_path(b->elf) : NULL;
}

/* Counts have names by their numbers, which must be the same in another profile. */
static bool share_names(struct pgk_sample *into, const struct pgk_sample *from)
{
    for (size_t i = 1; i < from->names.list.n; i++) {
        const struct pgk_sample_name *name = &from->names.list.v[i];
        assert(name->s);
        if (pgk_sample_name(into, name->s, name->len) != i)
            return false;
    }
    return true;
}

int pgk_gen_profile_of(struct pgk_gen *g, uint32_t binary, struct pgk_sample **profile,
                       struct pgk_err *err)
{
    struct pgk_sample *names = g->profile;
    if (g->inputs == PGK_GEN_PROFILE || binary >= g->images.n)
        return pgk_fail(err, PGK_E_ARG, .field = "input",
                        .found = binary < g->images.n ? "a sample profile" : "no such binary",
                        .expected = "a recording of the binary",
                        .hint = "samples of a profile are of no binary in particular");
    PGK_TRY(settle(g, err));
    PGK_TRY(pgk_sample_new(&g->profile, err));
    int status = share_names(g->profile, names) ? count_one(g, binary, err) : pgk_fail_nomem(err);
    if (!status)
        status = finish(g, &g->images.v[binary], 1, err);
    if (status)
        pgk_sample_close(&g->profile);
    else
        *profile = g->profile;
    g->profile = names;
    return status;
}
