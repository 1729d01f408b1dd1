/* Prints what a recorded heap profile holds, and the next command. */
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 10 }; /* files listed one by one, and named in a command */

struct sums {
    uint64_t contexts, objects, bytes, accesses, file_bytes;
    uint64_t recording_ns, recording_bytes; /* of all; of the one with most */
    size_t files, empty, interrupted, library_accesses, damaged, leaks_known;
};

struct report {
    struct sums sums;
    const char **paths; /* of the files with contexts, as one would type them */
    const char *largest; /* of these, by bytes allocated */
    uint64_t largest_bytes;
    char here[PATH_MAX];
};

/* Relative to the current folder where that is shorter. */
static const char *as_typed(const struct report *t, const char *path)
{
    size_t n = strlen(t->here);
    return n > 1 && !strncmp(path, t->here, n) && path[n] == '/' ? path + n + 1 : path;
}

static int read_sums(struct sums *sums, const char *path, const struct pgk_file_info **info,
                     struct pgk_err *err)
{
    struct pgk_heap *heap;
    struct pgk_file *file;
    int status = pgk_heap_new(&heap, err);
    if (status)
        return status;
    status = cli_open(&file, path, err);
    if (!status) {
        *info = pgk_file_info(file);
        status = pgk_heap_read_file(heap, file, 1, err);
    }
    sums->contexts = status ? 0 : pgk_heap_contexts(heap);
    for (size_t i = 0; i < sums->contexts; i++) {
        sums->objects += pgk_heap_value(heap, i, PGK_MIB_AllocCount);
        sums->bytes += pgk_heap_value(heap, i, PGK_MIB_TotalSize);
        sums->accesses += pgk_heap_value(heap, i, PGK_MIB_TotalAccessCount);
        sums->leaks_known |= pgk_heap_knows(heap, i, PGK_MIB_UnreachableSize);
    }
    pgk_heap_close(&heap);
    return status;
}

static void print_sums(const char *name, const struct sums *s, const char *remarks)
{
    char contexts[PGK_HUMAN_SIZE], objects[PGK_HUMAN_SIZE], accesses[PGK_HUMAN_SIZE];
    char bytes[PGK_HUMAN_SIZE], file_bytes[PGK_HUMAN_SIZE], safe[512];
    fprintf(stderr, "  %s: %s context%s, %s object%s (%s), %s access%s%s; %s\n",
            pgk_human_text(safe, sizeof safe, name), pgk_human_count(contexts, s->contexts),
            s->contexts == 1 ? "" : "s", pgk_human_count(objects, s->objects),
            s->objects == 1 ? "" : "s", pgk_human_bytes(bytes, (double)s->bytes),
            pgk_human_count(accesses, s->accesses), s->accesses == 1 ? "" : "es", remarks,
            pgk_human_bytes(file_bytes, (double)s->file_bytes));
}

/* All files are summed up, but only the first few are shown one by one. */
static void report_file(struct report *t, const char *path, bool quiet)
{
    const struct pgk_file_info *info = NULL;
    struct pgk_err err = {0};
    struct sums one = {0}, *all = &t->sums;
    if (read_sums(&one, path, &info, &err)) {
        all->damaged++;
        cli_fail(&err);
        return;
    }
    if (!one.contexts) {
        all->empty++;
        return;
    }
    const bool some_accesses = pgk_file_info_fact(info, PGK_FACT_LIBRARY_ACCESSES),
               interrupted = pgk_file_info_fact(info, PGK_FACT_INTERRUPTED);
    const uint64_t objects = pgk_file_info_fact(info, PGK_FACT_OBJECTS_ALIVE),
                   own_bytes = pgk_file_info_fact(info, PGK_FACT_RECORDING_BYTES);
    one.file_bytes = pgk_file_info_size_bytes(info);
    t->paths[all->files++] = as_typed(t, path);
    if (!t->largest || one.bytes > t->largest_bytes) {
        t->largest = as_typed(t, path);
        t->largest_bytes = one.bytes;
    }
    if (!quiet && all->files <= SHOWN) {
        char remarks[160], alive[PGK_HUMAN_SIZE];
        int n = snprintf(remarks, sizeof remarks, "%s%s",
                         some_accesses ? " by library functions alone" : "",
                         interrupted ? ", interrupted" : "");
        if (objects)
            snprintf(remarks + n, sizeof remarks - (size_t)n,
                     " with %s object%s alive, their accesses unknown",
                     pgk_human_count(alive, objects), objects == 1 ? "" : "s");
        print_sums(as_typed(t, path), &one, remarks);
    }
    all->contexts += one.contexts;
    all->objects += one.objects;
    all->bytes += one.bytes;
    all->accesses += one.accesses;
    all->file_bytes += one.file_bytes;
    all->recording_ns += pgk_file_info_fact(info, PGK_FACT_RECORDING_NS);
    if (own_bytes > all->recording_bytes)
        all->recording_bytes = own_bytes;
    all->library_accesses += some_accesses;
    all->interrupted += interrupted;
    all->leaks_known += one.leaks_known;
}

/* A word as the shell reads it. */
static void print_word(const char *word)
{
    char safe[PATH_MAX];
    pgk_human_text(safe, sizeof safe, word);
    if (*word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789%+,-./:=@_")]) {
        fprintf(stderr, " %s", safe);
        return;
    }
    fputs(" '", stderr);
    for (const char *s = safe; *s; s++)
        fputs(*s == '\'' ? "'\\''" : (const char[]){*s, 0}, stderr);
    fputc('\'', stderr);
}

/* NULL: it is not given. */
static void print_option(const char *option, const char *value)
{
    if (!value)
        return;
    fprintf(stderr, " %s", option);
    print_word(value);
}

/* The files as a command takes them: one by one, or by what all names begin with. */
static void print_files(const struct report *t)
{
    size_t n = t->sums.files, same = strlen(t->paths[0]);
    if (n <= SHOWN) {
        for (size_t i = 0; i < n; i++)
            print_word(t->paths[i]);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        size_t k = 0;
        while (k < same && t->paths[i][k] == t->paths[0][k])
            k++;
        same = k;
    }
    char start[PATH_MAX];
    snprintf(start, sizeof start, "%.*s", (int)same, t->paths[0]);
    print_word(start);
    fputc('*', stderr);
}

/* What was built for profiling is read with its binary. Where all else runs, the profile says what
 * its modules are, of which `binary`, an env or a shell, may be the least. */
static void report_next(const struct report *t, const char *binary)
{
    const char *slash = strrchr(binary, '/'), *name = slash ? slash + 1 : binary;
    const bool built_for_it = t->sums.library_accesses < t->sums.files;
    char output[PATH_MAX];
    fputs("next:\n  pgokit show", stderr);
    print_word(t->largest);
    print_option("-b", built_for_it ? binary : NULL);
    fputs("\n  pgokit merge", stderr);
    print_files(t);
    print_option("-b", built_for_it ? binary : NULL);
    snprintf(output, sizeof output, "%s.profdata", name);
    print_option("-o", output);
    fputc('\n', stderr);
}

static void report_run(const struct sums *s, const struct record_ended *ended)
{
    char wall[PGK_HUMAN_SIZE], cpu[PGK_HUMAN_SIZE], peak[PGK_HUMAN_SIZE];
    char own_cpu[PGK_HUMAN_SIZE], own_bytes[PGK_HUMAN_SIZE];
    const double own_ms = (double)s->recording_ns / 1e6;
    const double cpu_ms = record_cpu_s(ended) * 1e3;
    if (ended->signal)
        fprintf(stderr, "  ended by signal %d (%s)\n", ended->signal, strsignal(ended->signal));
    else if (ended->exit_code)
        fprintf(stderr, "  exit status %d\n", ended->exit_code);
    fprintf(stderr, "  ran %s with %s of CPU time and %s of memory at most, recording included\n",
            pgk_human_ms(wall, ended->wall_s * 1e3), pgk_human_ms(cpu, cpu_ms),
            pgk_human_bytes(peak, (double)ended->usage.ru_maxrss * 1024));
    if (!s->recording_ns)
        return;
    fprintf(stderr, "  of that, malloc and free with recording: at most %s",
            pgk_human_ms(own_cpu, own_ms));
    if (own_ms < cpu_ms)
        fprintf(stderr, " (%.0f %%)", own_ms / cpu_ms * 100);
    fprintf(stderr, "; tables and counters%s: %s\n", s->files > 1 ? " of one process, at most" : "",
            pgk_human_bytes(own_bytes, (double)s->recording_bytes));
}

static void report_all(struct report *t, const struct record_files *files)
{
    fprintf(stderr, "recorded:\n");
    for (size_t i = 0; i < files->n; i++)
        report_file(t, files->v[i].path, false);
    const struct sums *s = &t->sums;
    if (s->files > SHOWN)
        fprintf(stderr, "  ... and %zu more\n", s->files - SHOWN);
    if (s->files > 1) {
        char name[60];
        snprintf(name, sizeof name, "%zu files in all", s->files);
        print_sums(name, s, s->library_accesses ? ", some or all by library functions alone" : "");
    }
    if (s->empty)
        fprintf(stderr, "  %zu more file%s without a context: nothing was allocated\n", s->empty,
                s->empty == 1 ? "" : "s");
}

/* Leaks are looked for when the last dump of a process is written. */
static void report_leak_check(const struct sums *s)
{
    const size_t unknown = s->files - s->leaks_known;
    if (!unknown)
        return;
    fprintf(stderr, "pgokit: warning: no leaks were looked for in ");
    if (s->files > 1)
        fprintf(stderr, "%zu of %zu processes: they were", unknown, s->files);
    else
        fputs("the process: it was", stderr);
    fputs(" killed, or could open no file at the end, as in a sandbox\n", stderr);
}

void record_heap_report(const struct record_files *files, const struct record_ended *ended,
                        const char *binary, bool leak_check, bool quiet)
{
    struct report t = {.paths = calloc(files->n + 1, sizeof *t.paths)};
    if (!t.paths) {
        fputs("pgokit: out of memory\n", stderr);
        exit(EXIT_RECORD_FAILED);
    }
    if (!getcwd(t.here, sizeof t.here))
        t.here[0] = 0;
    if (!files->n) {
        fputs("pgokit: warning: nothing was recorded: the program left no profile. If it clears "
              "its environment or only starts others, record these, or link the runtime as "
              "pgokit config heap says\n",
              stderr);
    } else if (quiet) {
        for (size_t i = 0; i < files->n; i++)
            report_file(&t, files->v[i].path, true);
    } else {
        report_all(&t, files);
    }
    if (leak_check)
        report_leak_check(&t.sums);
    if (!quiet) {
        report_run(&t.sums, ended);
        if (t.sums.files)
            report_next(&t, binary);
    }
    free(t.paths);
}
