/* pgokit show for counters of gcc. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "Functions of a .gcda file with their counters, the most run first. Names are\n"
    "those of the .gcno file beside it, which gcc wrote; shown alone this lists the\n"
    "functions.\n\n";

static const char examples[] =
    "  pgokit show build/app.gcda\n";

struct show {
    struct cli_common common;
    size_t top;
    bool raw;
};

static const struct option_row rows[] = {
    {"top", 0, "N", "functions shown (default 10; 0: all)",
     OPTION_NUMBER(struct show, top, 0, 1000000000)},
    {"raw", 0, NULL, "every counter, in the order of the file", OPTION_FLAG(struct show, raw)},
    {0},
};
static const struct option_table table = {"show gcc", NULL, rows};
static const struct option_group groups[] = {{&table, 0, 0}, CLI_COMMON(struct show), {0}};

struct ranked {
    int64_t largest;
    size_t i;
};

/* The .gcno file next to a .gcda file, if there is one of the same build. */
static void read_names(struct pgk_gcov *gcov, const char *path, bool quiet)
{
    size_t n = strlen(path);
    char *notes = strdup(path);
    struct pgk_err err = {0};
    struct pgk_gcov *probe = NULL;
    if (notes && n > 5 && !strcmp(notes + n - 5, ".gcda") && strcpy(notes + n - 5, ".gcno") &&
        !access(notes, R_OK) && !pgk_gcov_new(&probe, &err)) {
        /* Tried on a profile of its own, since a failure would spoil the other. */
        if (pgk_gcov_read(probe, path, 1, &err) ||
            pgk_gcov_read(probe, notes, 1, &err) ||
            pgk_gcov_read(gcov, notes, 1, &err)) {
            if (!quiet)
                cli_note("%s is of another build; functions have no names", notes);
        }
    }
    pgk_gcov_close(&probe);
    free(notes);
}

static int by_largest(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->largest != y->largest)
        return x->largest > y->largest ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

/* From column `at` on; the name and the path share what is left of a terminal. */
static void print_name(const struct pgk_gcov_function *f, unsigned at)
{
    enum { SIZE = 4096, LEAST = 12, AROUND = 9 }; /* "  " and ":12345" */
    char safe[SIZE], source[SIZE];
    const unsigned width = cli_width(STDOUT_FILENO);
    if (!*f->name) {
        printf("function %u\n", f->ident);
        return;
    }
    pgk_human_text(safe, sizeof safe, f->name);
    pgk_human_text(source, sizeof source, f->source);
    if (width && at + strlen(safe) + strlen(source) + AROUND > width) {
        const unsigned both = width > at + 2 * LEAST + AROUND ? width - at - AROUND : 2 * LEAST;
        pgk_human_fit(source, strlen(safe) < both / 2 ? both - strlen(safe) : both / 2);
        pgk_human_fit(safe, strlen(source) < both ? both - strlen(source) : LEAST);
    }
    printf("%s  %s:%u\n", safe, source, f->line);
}

static void print_lists(const struct pgk_gcov *gcov, size_t i, enum pgk_gcov_kind kind, size_t n)
{
    for (size_t list = 0; list < n; list++) {
        struct pgk_gcov_value v[32];
        uint64_t total;
        size_t values = pgk_gcov_list(gcov, i, kind, list, v, 32, &total);
        printf("    %s: reached %llu times:", pgk_gcov_kind_name(kind), (unsigned long long)total);
        for (size_t k = 0; k < values && k < 32; k++)
            printf(" %lld x %lld", (long long)v[k].value, (long long)v[k].count);
        putchar('\n');
    }
}

static bool is_bits(enum pgk_gcov_kind kind)
{
    return kind == PGK_GCOV_OR || kind == PGK_GCOV_CONDITIONS || kind == PGK_GCOV_PATHS;
}

static void print_fields(const struct pgk_gcov *gcov, size_t i)
{
    struct pgk_gcov_function f = {.struct_size = sizeof f};
    pgk_gcov_function(gcov, i, &f);
    print_name(&f, 0);
    printf("    checksums 0x%08x 0x%08x\n", f.lineno_checksum, f.cfg_checksum);
    for (int k = 0; k < PGK_GCOV_KINDS; k++) {
        if (!f.counts[k]) {
            print_lists(gcov, i, (enum pgk_gcov_kind)k, f.n_counts[k]);
            continue;
        }
        printf("    %s:", pgk_gcov_kind_name((enum pgk_gcov_kind)k));
        for (size_t c = 0; c < f.n_counts[k]; c++)
            printf(is_bits((enum pgk_gcov_kind)k) ? " 0x%llx" : " %lld",
                   (long long)f.counts[k][c]);
        putchar('\n');
    }
}

static void print_table(const struct pgk_gcov *gcov, const struct ranked *order, size_t n)
{
    enum { NAME_AT = 26 };
    char count[PGK_HUMAN_SIZE];
    printf("%s  %15s  %5s  %s%s\n", CLI_STYLE(CLI_BOLD), "largest counter", "arcs", "function",
           CLI_STYLE(CLI_PLAIN));
    for (size_t i = 0; i < n; i++) {
        struct pgk_gcov_function f = {.struct_size = sizeof f};
        pgk_gcov_function(gcov, order[i].i, &f);
        printf("  %15s  %5zu  ", pgk_human_count(count, (uint64_t)order[i].largest),
               f.n_counts[PGK_GCOV_ARCS]);
        print_name(&f, NAME_AT);
    }
}

/* By the largest count of an arc, which says more of a function than its number of calls. */
static int print(const struct pgk_gcov *gcov, const char *path, size_t top, bool raw)
{
    size_t n = pgk_gcov_functions(gcov);
    struct ranked *order = calloc(n + 1, sizeof *order);
    char safe[512], functions[PGK_HUMAN_SIZE];
    unsigned major, minor;
    if (!order)
        return PGK_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        struct pgk_gcov_function f = {.struct_size = sizeof f};
        pgk_gcov_function(gcov, i, &f);
        order[i].i = i;
        for (size_t c = 0; f.counts[PGK_GCOV_ARCS] && c < f.n_counts[PGK_GCOV_ARCS]; c++)
            if (f.counts[PGK_GCOV_ARCS][c] > order[i].largest)
                order[i].largest = f.counts[PGK_GCOV_ARCS][c];
    }
    pgk_gcov_release(gcov, &major, &minor);
    printf("%s: counters of gcc %u.%u, %s functions, %u run%s\n\n",
           pgk_human_text(safe, sizeof safe, path), major, minor, pgk_human_count(functions, n),
           pgk_gcov_runs(gcov), pgk_gcov_runs(gcov) == 1 ? "" : "s");
    if (raw) {
        for (size_t i = 0; i < n; i++)
            print_fields(gcov, i);
    } else {
        qsort(order, n, sizeof *order, by_largest);
        print_table(gcov, order, top && top < n ? top : n);
        if (top && top < n)
            printf("  and %zu more (--top 0 shows all)\n", n - top);
    }
    free(order);
    return 0;
}

static int run(int argc, char **argv)
{
    struct show s = {.top = 10};
    struct pgk_gcov *gcov = NULL;
    struct pgk_file *file;
    struct pgk_err err = {.offset = PGK_NO_OFFSET};
    option_parse(&cmd_show, groups, argc, argv, &s);
    cli_need_one(&cmd_show, argc - optind);
    cli_for_people(CLI_PEOPLE);
    int status = pgk_gcov_new(&gcov, &err);
    if (!status)
        status = cli_open(&file, argv[optind], &err);
    if (!status)
        status = pgk_gcov_read_file(gcov, file, 1, &err);
    if (!status) {
        read_names(gcov, argv[optind], s.common.quiet);
        status = err.status = print(gcov, argv[optind], s.top, s.raw);
    }
    pgk_gcov_close(&gcov);
    cli_common_free(&s.common);
    return status ? cli_fail(&err) : cli_finish_output(EXIT_DONE);
}

const struct cli_action show_gcov = {
    PGK_KIND_GCOV, help, .run = run, .groups = groups, .examples = examples};
