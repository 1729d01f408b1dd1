/* Prints what a plan does and why. */
#include "placement.h"

#include "fail.h"
#include "pgokit/human.h"

#include <inttypes.h>
#include <stdio.h>

#define BYTES(x) pgk_human_bytes((char[PGK_HUMAN_SIZE]){0}, (double)(x))

static const char *const reasons[PGK_PLAN_REASONS] = {
    [PGK_PLAN_SPLIT] = "",
    [PGK_PLAN_SMALL] = "holds hardly any memory at the peak",
    [PGK_PLAN_LARGE] = "objects of whole pages, which are apart anyway",
    [PGK_PLAN_MIXED] = "some objects live shortly and some long",
    [PGK_PLAN_SHARED] = "its calls are those of objects that belong elsewhere, too",
    [PGK_PLAN_BUSY] = "to look at its calls would cost more than it brings",
    [PGK_PLAN_GAINLESS] = "its objects are few, or would not lie much closer together apart",
    [PGK_PLAN_NO_CALL] = "its calls are not in the build",
    [PGK_PLAN_UNDECIDED] = "more samples are needed",
    [PGK_PLAN_UNNAMED] = "the plan does not have its calls",
};
enum { SHOWN = 20 };

const char *pgk_plan_reason_text(enum pgk_plan_reason reason)
{
    return reasons[reason];
}

static void print_context(const struct pgk_plan *plan, const struct pgk_plan_context *c, FILE *out)
{
    char safe[640];
    fprintf(out, "  %10s %8" PRIu64 " ms", BYTES(c->peak), c->lifetime_ms);
    if (plan->knows_accesses)
        fprintf(out, " %8.2f accesses/B",
                c->total ? (double)c->accesses / (double)c->total : 0.0);
    fprintf(out, "  %s%s%s\n", pgk_human_text(safe, sizeof safe, c->names),
            c->group || !*reasons[c->reason] ? "" : ": ", c->group ? "" : reasons[c->reason]);
}

/* The allocator's statistics. */
static void print_held(const struct pgk_plan_held *h, const char *what, FILE *out)
{
    fprintf(out, "%s  held %s of objects in %s of pages (%.0f %%), and %s of empty pages\n", what,
            BYTES(h->objects), BYTES(h->pages),
            h->pages ? 100 * (double)h->objects / (double)h->pages : 0.0, BYTES(h->empty));
}

static void print_group(const struct pgk_plan *plan, uint32_t group, FILE *out)
{
    uint64_t peak = 0;
    size_t n = 0, shown = 0;
    for (size_t i = 0; i < plan->contexts.n; i++)
        if (plan->contexts.v[i].group == group) {
            peak += plan->contexts.v[i].peak;
            n++;
        }
    const char *temperature = pgk_plan_is_cold(plan, group)  ? ", cold"
                              : pgk_plan_is_hot(plan, group) ? ", hot"
                                                             : "";
    fprintf(out, "\n%s%.0u%s: %zu context%s, %s at the peak\n", group ? "group " : "not split",
            group, temperature, n, pgk_plural(n), BYTES(peak));
    if (group && plan->knows_held)
        print_held(&plan->held[group], "", out);
    for (size_t i = 0; i < plan->contexts.n && shown < SHOWN; i++)
        if (plan->contexts.v[i].group == group) {
            print_context(plan, &plan->contexts.v[i], out);
            shown++;
        }
    if (n > shown)
        fprintf(out, "  and %zu more\n", n - shown);
}

/* Prints nothing if no call is compared except the one that allocates, and for a plan that was
 * read. */
static void print_decided(const struct pgk_plan *plan, FILE *out)
{
    const struct pgk_plan_decided d = plan->decided;
    if (d.by_time)
        fprintf(out, "decided by time: at %" PRIu32 " call%s that allocate%s, looks cost little "
                     "for each object that is apart at the peak\n",
                d.by_time, pgk_plural(d.by_time), d.by_time == 1 ? "s" : "");
    if (d.by_memory)
        fprintf(out, "decided by memory: at %" PRIu32 " call%s that allocate%s, looks cost much, "
                     "but more than a quarter of the peak would be held after bursts "
                     "without them\n",
                d.by_memory, pgk_plural(d.by_memory), d.by_memory == 1 ? "s" : "");
}

static void print_expected(const struct pgk_plan *plan, FILE *out)
{
    for (enum pgk_plan_gain g = 0; g < PGK_PLAN_GAINS; g++) {
        const struct pgk_plan_expected e = pgk_plan_expect(plan, g);
        if (pgk_plan_knows_gain(plan, g))
            fprintf(out, "expected: %s: %s, with the plan %s\n", pgk_plan_gain_names[g],
                    BYTES(e.without), BYTES(e.with));
    }
    const struct pgk_plan_looks looks = plan->looks;
    fprintf(out, "cost: about %.2f ms to look at calls in %" PRIu64 " allocations, %.1f ns for "
                 "each of %" PRIu64 " objects that are apart at the peak\n",
            (double)looks.tenths_ns / 1e7, looks.allocations,
            (double)looks.tenths_ns / 10 / (double)(looks.apart ? looks.apart : 1), looks.apart);
    print_decided(plan, out);
}

int pgk_plan_print(const struct pgk_plan *plan, FILE *out, struct pgk_err *err)
{
    uint32_t splitting = 0;
    for (size_t i = 0; i < plan->contexts.n; i++)
        splitting += plan->contexts.v[i].group != 0;
    fprintf(out, "%" PRIu32 " contexts of %zu in %" PRIu32 " group%s, told apart by %zu call%s\n",
            splitting, plan->contexts.n, plan->n_groups - 1, pgk_plural(plan->n_groups - 1),
            plan->nodes.n - 1, pgk_plural(plan->nodes.n - 1));
    print_expected(plan, out);
    for (uint32_t g = 1; g < plan->n_groups; g++)
        print_group(plan, g, out);
    if (plan->held[PGK_PLAN_HINT_COLD].pages)
        print_held(&plan->held[PGK_PLAN_HINT_COLD], "\nhints of cold objects\n", out);
    if (plan->held[PGK_PLAN_HINT_HOT].pages)
        print_held(&plan->held[PGK_PLAN_HINT_HOT], "\nhints of hot objects\n", out);
    print_group(plan, 0, out);
    return ferror(out) ? pgk_fail(err, PGK_E_IO, .field = "the explanation") : 0;
}
