/* The error for a profile that would be empty: which of the recording, the binary and the options
 * is to blame, and what to do about it. */
#include "gen_empty.h"

#include "message.h"

#include <inttypes.h>
#include <stdio.h>

int pgk_gen_no_samples(const struct pgk_gen *g, struct pgk_err *err)
{
    const struct pgk_gen_stats *s = &g->stats;
    const char *events = s->other_event ? PGK_F(", %" PRIu64 " %s", s->other_event,
                                                s->examples[PGK_GEN_OTHER_EVENT])
                                        : "";
    const char *frames = s->between_frames
                             ? PGK_F(", %" PRIu64 " where a frame was being set up",
                                     s->between_frames)
                             : "";
    const char *lines = s->unreadable ? PGK_F(", and %" PRIu64 " lines that cannot be read, the "
                                              "first being line %" PRIu64 ": %s", s->unreadable,
                                              s->unreadable_line, s->unreadable_example)
                                      : "";
    const char *builds = s->other_builds
                             ? PGK_F(", and %" PRIu64 " recordings of other builds left out",
                                     s->other_builds)
                             : "";
    const char *labels = s->other_label ? PGK_F(", %" PRIu64 " %s", s->other_label,
                                                s->examples[PGK_GEN_OTHER_LABEL])
                                        : "";
    return pgk_fail(err, PGK_E_EMPTY, .field = "samples",
                    .found = pgk_format((char[800]){0}, 800,
                                        "%" PRIu64 ", none of use: %" PRIu64
                                        " of other processes, %" PRIu64 " in the kernel, %" PRIu64
                                        " outside%s%s%s, %" PRIu64 " without branches%s%s%s%s",
                                        s->samples, s->other_process, s->in_kernel, s->outside,
                                        *g->elsewhere ? ", as in " : "", g->elsewhere, frames,
                                        s->without_branches, events, labels, lines, builds),
                    .expected = "samples of the program, best with branch stacks (perf record -b)",
                    .hint = s->other_event ? "name an event of the recording with --perf-event"
                            : s->other_label ? "choose other --label, --since or --until"
                            : g->hits_nowhere > g->hits_outside / 2
                                ? "the profile has names of functions, but hardly an address: "
                                  "export it before a server names the functions"
                            : !g->has_mappings && s->lines && s->outside
                                ? "the text does not say where programs were mapped: print it "
                                  "again and add --show-mmap-events to perf script"
                            : *g->elsewhere ? "give the files that were recorded with -b, or as "
                                              "--map RECORDED=FILE where they have another name now"
                                            : "pgokit perf-check shows what can be recorded here");
}

/* ---- counts of code, but no functions ---- */

static bool first_pair(const struct pgk_pairs *pairs, uint64_t *addr)
{
    if (pairs->list.n)
        *addr = pairs->list.v[0].to;
    return pairs->list.n;
}

static bool first_count(const struct pgk_call_counts *counts, uint64_t *addr)
{
    if (counts->list.n)
        *addr = counts->list.v[0].to;
    return counts->list.n;
}

/* An address of the code that was counted; targets of branches are never outside of it. */
static bool counted_code(const struct pgk_gen_binary *b, uint64_t *addr)
{
    return first_pair(&b->counters.ranges, addr) || first_pair(&b->counters.branches, addr) ||
           first_count(&b->calls.ranges, addr) || first_count(&b->calls.branches, addr) ||
           first_count(&b->named.ranges, addr) || first_count(&b->named.branches, addr) ||
           (b->calls.vtables.list.n && (*addr = b->calls.vtables.list.v[0].from));
}

/* The first binary that was counted by lines or probes; NULL if all counts were of impossible
 * ranges. */
static const struct pgk_gen_binary *first_counted(const struct pgk_gen *g, bool by_probes,
                                                  uint64_t *addr)
{
    for (size_t i = 0; i < g->images.n; i++)
        if (!!g->images.v[i].probes == by_probes && counted_code(&g->images.v[i], addr))
            return &g->images.v[i];
    return NULL;
}

/* The function at an address, in `name`; "" if there is none. Symbols count where there are probes:
 * without debug information they alone say what functions there are. */
static int name_function(const struct pgk_gen_binary *b, bool by_probes, unsigned threads,
                         uint64_t addr, char *name, size_t size, struct pgk_err *err)
{
    struct pgk_functions functions;
    PGK_TRY(pgk_gen_functions(b, &functions, by_probes, threads, err));
    const struct pgk_function_range *r = pgk_functions_at(&functions, addr);
    snprintf(name, size, "%s", r ? functions.functions.v[r->function].name : "");
    pgk_functions_close(&functions);
    return 0;
}

int pgk_gen_no_functions(const struct pgk_gen *g, bool by_probes, struct pgk_err *err)
{
    uint64_t addr;
    char name[120];
    const struct pgk_gen_binary *b = first_counted(g, by_probes, &addr);
    if (!b)
        return pgk_fail(err, PGK_E_EMPTY, .field = "ranges",
                        .found = PGK_F("%" PRIu64 ", all of them impossible", g->stats.ranges_bad),
                        .expected = "code that can have run from one branch to the next",
                        .hint = "give exactly the files that were recorded with -b");
    PGK_TRY(name_function(b, by_probes, g->opts.threads, addr, name, sizeof name, err));
    const char *record = PGK_F("sampled code at 0x%" PRIx64, addr);
    if (!*name)
        return pgk_fail(err, PGK_E_NODEBUG, .file = pgk_elf_path(b->elf), .record = record,
                        .field = "function", .found = "none",
                        .expected = by_probes ? "one in debug information, or a symbol that has "
                                                "the type of a function and a size"
                                              : "one in debug information",
                        .hint = "compile with -g and do not strip, or give the debug file "
                                "(--debug-binary); functions of assembly need .type and .size");
    return pgk_fail(err, PGK_E_EMPTY, .file = pgk_elf_path(b->elf), .record = record,
                    .field = by_probes ? "pseudo probes" : "source lines",
                    .found = PGK_F("none of the function %s", name),
                    .expected = by_probes ? "probes with the GUID of its name" : "lines of its",
                    .hint = by_probes ? "compile all with -fpseudo-probe-for-profiling, or count "
                                        "by lines: --mode autofdo, or cs-autofdo for contexts"
                                      : "compile all with -g");
}
