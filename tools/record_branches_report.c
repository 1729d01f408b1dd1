/* Says what the branch recorder has recorded, why windows were given up, and what it has cost. */
#include "debug_package.h"
#include "record_branches.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sums over all processes; names as the recorder has them. */
enum { MOST = 64 };
struct sums {
    size_t n;
    struct pgk_branches_work of[MOST];
};

static void add(struct sums *sums, const struct pgk_branches *b)
{
    struct pgk_branches_work work = {.struct_size = sizeof work};
    for (size_t i = 0; i < MOST && pgk_branches_work_at(b, i, &work); i++) {
        work.n += i < sums->n ? sums->of[i].n : 0;
        sums->of[i] = work;
        sums->n = i < sums->n ? sums->n : i + 1;
    }
}

static uint64_t sum_of(const struct sums *sums, const char *name)
{
    for (size_t i = 0; i < sums->n; i++)
        if (!strcmp(sums->of[i].name, name))
            return sums->of[i].n;
    return 0;
}

static void print_reasons(const struct sums *sums, enum pgk_branches_kind kind, const char *title)
{
    char text[PGK_HUMAN_SIZE];
    bool any = false;
    for (size_t i = 0; i < sums->n; i++) {
        if (sums->of[i].kind != kind || !sums->of[i].n)
            continue;
        if (!any)
            fprintf(stderr, "  %s\n", title);
        any = true;
        fprintf(stderr, "    %8s  %s\n", pgk_human_count(text, sums->of[i].n), sums->of[i].text);
    }
}

/* The files with most branches, so that the user can choose another -b. */
static void print_files(const struct pgk_branches *b)
{
    char text[PGK_HUMAN_SIZE], safe[512];
    struct pgk_branches_file file = {.struct_size = sizeof file};
    for (size_t i = 0; pgk_branches_file_at(b, i, &file); i++)
        if (file.branches)
            fprintf(stderr, "    %8s  branches in %s\n", pgk_human_count(text, file.branches),
                    pgk_human_text(safe, sizeof safe, file.path));
}

static struct sums read_all(const struct record_branches_done *d)
{
    struct sums sums = {0};
    for (size_t i = 0; i < d->files->n; i++) {
        struct pgk_branches *b;
        struct pgk_err err = {0};
        if (pgk_branches_open(&b, d->files->v[i].path, &err)) {
            cli_fail(&err);
            continue;
        }
        add(&sums, b);
        if (!d->counts && !d->quiet)
            print_files(b);
        pgk_branches_close(&b);
    }
    return sums;
}

/* What gives the file the debug information that pgokit gen takes. */
static void print_how_to_get_debug(const char *binary)
{
    char package[256];
    fputs("next: ", stderr);
    const bool packaged = debug_package_of(binary, package, sizeof package);
    if (packaged && debug_package_needs_archive(package))
        fputs("export DEBUGINFOD_URLS=" DEBUG_SERVER " for pgokit gen, or ", stderr);
    else if (packaged)
        fprintf(stderr, "install %s, or ", package);
    fputs("compile", stderr);
    record_print_word(binary);
    fputs(" with -g and record it again: pgokit gen makes no profile without debug information\n",
          stderr);
}

/* Loads are in the recordings alone. */
static void print_next(const struct record_branches_done *d)
{
    char output[PATH_MAX + 16];
    fputs("next: pgokit gen", stderr);
    if (!d->loads)
        record_print_word(d->counts);
    for (size_t i = 0; d->loads && i < d->files->n; i++)
        record_print_word(d->files->v[i].path);
    fputs(" -b", stderr);
    record_print_word(d->binary);
    fputs(" -o", stderr);
    snprintf(output, sizeof output, "%s.afdo", cli_base_name(d->binary));
    record_print_word(output);
    fputs(d->loads ? " --vtables\n" : "\n", stderr);
}

void record_branches_report(const struct record_branches_done *d)
{
    char windows[PGK_HUMAN_SIZE], branches[PGK_HUMAN_SIZE], safe[512];
    const struct sums sums = read_all(d);
    if (!d->files->n) {
        fputs("pgokit: warning: nothing was recorded: the program took too little processor time, "
              "or nothing could be preloaded into it. Try --real-time with a higher -F\n",
              stderr);
        return;
    }
    if (d->quiet)
        return;
    const double cost = (double)sum_of(&sums, "COST_NS") / 1e9, total = record_cpu_s(d->ended);
    fprintf(stderr, "pgokit: %s windows with %s branches; it took %.3f s of processor time",
            pgk_human_count(windows, sum_of(&sums, "WINDOWS")),
            pgk_human_count(branches, sum_of(&sums, "BRANCHES")), cost);
    if (total > 0)
        fprintf(stderr, " (%.1f %%)", 100 * cost / total);
    fputc('\n', stderr);
    if (d->loads)
        fprintf(stderr, "  %s loads from data of the program and libraries\n",
                pgk_human_count(windows, sum_of(&sums, "LOADS")));
    print_reasons(&sums, PGK_BRANCHES_START, "ticks without a window:");
    print_reasons(&sums, PGK_BRANCHES_END, "windows that ended early:");
    if (sum_of(&sums, "TABLE_FULL"))
        fputs("  the table was full, so that the rarest code is missing\n", stderr);
    if (d->keep)
        for (size_t i = 0; i < d->files->n; i++)
            fprintf(stderr, "  recording %s\n",
                    pgk_human_text(safe, sizeof safe, d->files->v[i].path));
    for (size_t i = 0; d->perf && i < d->files->n; i++)
        fprintf(stderr, "  samples of perf %s.perf\n",
                pgk_human_text(safe, sizeof safe, d->files->v[i].path));
    if (d->counts && d->no_debug)
        print_how_to_get_debug(d->binary);
    else if (d->counts)
        print_next(d);
}
