/* What a plan does and why, for people. */
#include "placement.h"

#include "fail.h"
#include "pgokit/human.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const reasons[PGK_PLAN_REASONS] = {
    [PGK_PLAN_SPLIT] = "",
    [PGK_PLAN_SMALL] = "holds hardly any memory at the peak",
    [PGK_PLAN_LARGE] = "objects of whole pages, which are apart anyway",
    [PGK_PLAN_MIXED] = "some objects live shortly and some long",
    [PGK_PLAN_MANY] = "more contexts than are compared",
    [PGK_PLAN_SHARED] = "its calls are too busy to look at deeper ones, or tell too little",
    [PGK_PLAN_GAINLESS] = "apart from others its objects would not lie much closer together",
    [PGK_PLAN_NO_CALL] = "its calls are not in the build",
};
enum { SHOWN = 20 };

static double kib(uint64_t bytes)
{
    return (double)bytes / 1024;
}

static void print_context(const struct pgk_plan *plan, const struct pgk_plan_context *c, FILE *out)
{
    char safe[256];
    fprintf(out, "  %10.1f KiB %8" PRIu64 " ms", kib(c->peak), c->lifetime_ms);
    if (plan->knows_accesses)
        fprintf(out, " %8.2f accesses/B",
                c->total ? (double)c->accesses / (double)c->total : 0.0);
    fprintf(out, "  %s%s%s\n", pgk_human_text(safe, sizeof safe, c->names),
            c->group || !*reasons[c->reason] ? "" : ": ", c->group ? "" : reasons[c->reason]);
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
    fprintf(out, "\n%s%.0u%s: %zu context%s, %.1f KiB at the peak\n",
            group ? "group " : "not split", group, pgk_plan_is_cold(plan, group) ? ", cold" : "", n,
            pgk_plural(n), kib(peak));
    for (size_t i = 0; i < plan->contexts.n && shown < SHOWN; i++)
        if (plan->contexts.v[i].group == group) {
            print_context(plan, &plan->contexts.v[i], out);
            shown++;
        }
    if (n > shown)
        fprintf(out, "  and %zu more\n", n - shown);
}

/* ---- what to expect ---- */

static uint64_t part_of(const struct pgk_plan_context *c, bool hot, double mean)
{
    if (!hot)
        return c->kept < c->peak ? c->kept : c->peak;
    return c->total && (double)c->accesses / (double)c->total >= mean ? c->peak : 0;
}

/* Bytes of pages with a part, scattered within each group; or, `group` UINT32_MAX, within all. */
static uint64_t expect(const struct pgk_plan *plan, bool hot, double mean, uint32_t group)
{
    uint64_t all[PGK_PLAN_CLASSES] = {0}, part[PGK_PLAN_CLASSES] = {0};
    for (size_t i = 0; i < plan->contexts.n; i++) {
        const struct pgk_plan_context *c = &plan->contexts.v[i];
        if (c->reason == PGK_PLAN_LARGE || (group != UINT32_MAX && c->group != group))
            continue;
        pgk_plan_add_to_classes(all, c, c->peak);
        pgk_plan_add_to_classes(part, c, part_of(c, hot, mean));
    }
    return pgk_plan_scattered(all, part);
}

static void print_expected(const struct pgk_plan *plan, bool hot, double mean, FILE *out)
{
    uint64_t split = 0;
    for (uint32_t g = 0; g < plan->n_groups; g++)
        split += expect(plan, hot, mean, g);
    fprintf(out, "expected: %s %.1f KiB, without the plan %.1f KiB\n",
            hot ? "pages with often accessed objects" : "pages kept by what is alive at the end",
            kib(split), kib(expect(plan, hot, mean, UINT32_MAX)));
}

/* What every plan brings: whose objects are used together has them on fewer pages. */
static void print_closer(const struct pgk_plan *plan, FILE *out)
{
    uint64_t scattered = 0, apart = 0;
    for (uint32_t g = 1; g < plan->n_groups; g++) {
        const struct pgk_plan_pages pages = pgk_plan_pages_of(plan, g);
        scattered += pages.scattered;
        apart += pages.apart;
    }
    fprintf(out, "expected: pages to go over the objects of each group once %.1f KiB, without the "
                 "plan %.1f KiB\n",
            kib(apart), kib(scattered));
}

int pgk_plan_print(const struct pgk_plan *plan, FILE *out, struct pgk_err *err)
{
    uint32_t splitting = 0;
    for (size_t i = 0; i < plan->contexts.n; i++)
        splitting += plan->contexts.v[i].group != 0;
    fprintf(out, "%" PRIu32 " contexts of %zu in %" PRIu32 " group%s, told apart by %zu call%s\n",
            splitting, plan->contexts.n, plan->n_groups - 1, pgk_plural(plan->n_groups - 1),
            plan->nodes.n - 1, pgk_plural(plan->nodes.n - 1));
    print_closer(plan, out);
    if (plan->knows_peak)
        print_expected(plan, false, 0, out);
    if (plan->knows_accesses)
        print_expected(plan, true, pgk_plan_mean_density(plan), out);
    for (uint32_t g = 1; g < plan->n_groups; g++)
        print_group(plan, g, out);
    print_group(plan, 0, out);
    return ferror(out) ? pgk_fail(err, PGK_E_IO, .field = "the explanation") : 0;
}
