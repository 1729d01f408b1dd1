/* Prints what a recorded heap profile holds, and the next command. */
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN = 10 }; /* files listed one by one */

struct sums {
    uint64_t contexts, objects, bytes, accesses, samples, file_bytes;
    uint64_t recording_ns, recording_bytes; /* of all; of the one with most */
    size_t files, empty, interrupted, library_accesses, damaged, leaks_known;
    struct cli_cut cut;
};

/* A file with contexts. */
struct entry {
    const char *path;       /* as one would type it */
    char program[PATH_MAX]; /* that ran, as the profile has it; "": not known */
    char name[PATH_MAX];    /* by which it was started, for people */
    char remarks[160];
    struct sums sums;
    size_t number; /* in the order of names */
};

struct report {
    struct sums sums;
    struct entry *entries; /* sums.files of them, at the end by bytes allocated */
    struct pgk_heap *largest; /* that of the first of these then */
    uint64_t largest_bytes;
    char here[PATH_MAX];
};

/* Relative to the current folder where that is shorter. */
static const char *as_typed(const struct report *t, const char *path)
{
    size_t n = strlen(t->here);
    return n > 1 && !strncmp(path, t->here, n) && path[n] == '/' ? path + n + 1 : path;
}

/* Whether this word leads to the program, as the shell looks for it. */
static bool leads_to(const char *word, const char *program)
{
    char path[PATH_MAX], real[PATH_MAX];
    bool seen;
    if (strchr(word, '/'))
        snprintf(path, sizeof path, "%s", word);
    else if (!record_find_in_path(path, word, &seen))
        return false;
    return realpath(path, real) && !strcmp(real, program);
}

/* The name by which the program was started, which may be a link to a file of another name:
 * redis-server is one to redis-check-rdb. A word that the shell would have to unquote is not
 * taken, nor one that a program has made up. */
static void name_program(struct entry *e, const struct pgk_heap_recording *recording)
{
    const size_t n = strcspn(recording->command_line, " '");
    char word[PATH_MAX];
    snprintf(e->program, sizeof e->program, "%s", recording->program);
    snprintf(word, sizeof word, "%.*s", (int)n, recording->command_line);
    const bool is_word = *word && recording->command_line[n] != '\'' && leads_to(word, e->program);
    snprintf(e->name, sizeof e->name, "%s", cli_base_name(is_word ? word : e->program));
}

static int read_heap(struct pgk_heap **heap, const char *path, const struct pgk_file_info **info,
                     struct pgk_err *err)
{
    struct pgk_file *file;
    int status = pgk_heap_new(heap, err);
    if (!status)
        status = cli_open(&file, path, err);
    if (!status) {
        *info = pgk_file_info(file);
        status = pgk_heap_read_file(*heap, file, 1, err);
    }
    return status;
}

static void sum_up(struct entry *e, const struct pgk_heap *heap)
{
    struct sums *sums = &e->sums;
    struct pgk_heap_recording recording = {.struct_size = sizeof recording};
    sums->contexts = pgk_heap_contexts(heap);
    for (size_t i = 0; i < sums->contexts; i++) {
        sums->objects += pgk_heap_value(heap, i, PGK_MIB_AllocCount);
        sums->bytes += pgk_heap_value(heap, i, PGK_MIB_TotalSize);
        sums->accesses += pgk_heap_value(heap, i, PGK_MIB_TotalAccessCount);
        sums->leaks_known |= pgk_heap_knows(heap, i, PGK_MIB_UnreachableSize);
    }
    struct pgk_heap_sampling sampling = {.struct_size = sizeof sampling};
    if (pgk_heap_sampling(heap, &sampling)) {
        sums->samples = sampling.samples;
        sums->objects = sampling.objects.value;
        sums->bytes = sampling.bytes.value;
    }
    sums->cut = cli_cut_stacks(heap);
    if (pgk_heap_recording(heap, &recording))
        name_program(e, &recording);
}

/* The program beside the number of its process, where it is known. */
static void print_sums(const char *name, const char *program, const struct sums *s,
                       const char *remarks)
{
    char contexts[PGK_HUMAN_SIZE], objects[PGK_HUMAN_SIZE], accesses[PGK_HUMAN_SIZE];
    char bytes[PGK_HUMAN_SIZE], file_bytes[PGK_HUMAN_SIZE], safe[512], of[256];
    fprintf(stderr, "  %s%s%s%s: %s context%s, %s object%s (%s), %s access%s%s; %s\n",
            pgk_human_text(safe, sizeof safe, name), *program ? " (" : "",
            pgk_human_text(of, sizeof of, program), *program ? ")" : "",
            pgk_human_count(contexts, s->contexts),
            s->contexts == 1 ? "" : "s", pgk_human_count(objects, s->objects),
            s->objects == 1 ? "" : "s", pgk_human_bytes(bytes, (double)s->bytes),
            pgk_human_count(accesses, s->accesses), s->accesses == 1 ? "" : "es", remarks,
            pgk_human_bytes(file_bytes, (double)s->file_bytes));
}

static void describe(struct entry *e, const struct pgk_file_info *info)
{
    char alive[PGK_HUMAN_SIZE], drawn[PGK_HUMAN_SIZE];
    const uint64_t objects = pgk_file_info_fact(info, PGK_FACT_OBJECTS_ALIVE);
    int n = snprintf(e->remarks, sizeof e->remarks, "%s%s",
                     e->sums.library_accesses ? " by library functions alone" : "",
                     e->sums.interrupted ? ", interrupted" : "");
    if (e->sums.samples)
        n += snprintf(e->remarks + n, sizeof e->remarks - (size_t)n, ", estimated by %s object%s",
                      pgk_human_count(drawn, e->sums.samples), e->sums.samples == 1 ? "" : "s");
    if (objects)
        snprintf(e->remarks + n, sizeof e->remarks - (size_t)n,
                 " with %s object%s alive, their accesses unknown", pgk_human_count(alive, objects),
                 objects == 1 ? "" : "s");
}

static void add_up(struct sums *all, const struct sums *one)
{
    all->contexts += one->contexts;
    all->objects += one->objects;
    all->bytes += one->bytes;
    all->accesses += one->accesses;
    all->file_bytes += one->file_bytes;
    all->recording_ns += one->recording_ns;
    if (one->recording_bytes > all->recording_bytes)
        all->recording_bytes = one->recording_bytes;
    all->library_accesses += one->library_accesses;
    all->interrupted += one->interrupted;
    all->leaks_known += one->leaks_known;
    all->cut.contexts += one->cut.contexts;
    all->cut.bytes += one->cut.bytes;
}

/* Which of equal ones is first is decided as by by_bytes. Takes the heap. */
static void keep_largest(struct report *t, struct pgk_heap **heap, uint64_t bytes)
{
    if (pgk_heap_contexts(*heap) && (!t->largest || bytes > t->largest_bytes)) {
        struct pgk_heap *before = t->largest;
        t->largest = *heap;
        t->largest_bytes = bytes;
        *heap = before;
    }
    pgk_heap_close(heap);
}

static void read_file(struct report *t, const char *path)
{
    const struct pgk_file_info *info = NULL;
    struct pgk_err err = {0};
    struct sums *all = &t->sums;
    struct entry *e = &t->entries[all->files];
    struct pgk_heap *heap = NULL;
    *e = (struct entry){.path = as_typed(t, path), .number = all->files};
    if (read_heap(&heap, path, &info, &err)) {
        all->damaged++;
        cli_fail(&err);
        pgk_heap_close(&heap);
        return;
    }
    sum_up(e, heap);
    keep_largest(t, &heap, e->sums.bytes);
    if (!e->sums.contexts) {
        all->empty++;
        return;
    }
    e->sums.library_accesses = pgk_file_info_fact(info, PGK_FACT_LIBRARY_ACCESSES);
    e->sums.interrupted = pgk_file_info_fact(info, PGK_FACT_INTERRUPTED);
    e->sums.recording_ns = pgk_file_info_fact(info, PGK_FACT_RECORDING_NS);
    e->sums.recording_bytes = pgk_file_info_fact(info, PGK_FACT_RECORDING_BYTES);
    e->sums.file_bytes = pgk_file_info_size_bytes(info);
    describe(e, info);
    add_up(all, &e->sums);
    all->files++;
}

static int by_bytes(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->sums.bytes != y->sums.bytes)
        return x->sums.bytes > y->sums.bytes ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* NULL: it is not given. */
static void print_option(const char *option, const char *value)
{
    if (!value)
        return;
    fprintf(stderr, " %s", option);
    record_print_word(value);
}

/* Of several programs, those of the one with the largest profile are merged: what its compiler
 * takes. */
static bool is_of_largest(const struct report *t, const struct entry *e)
{
    return !strcmp(e->program, t->entries->program);
}

/* The files as a command takes them: one by one, for there may be others here whose names begin
 * the same; too many for a command line by that. */
static void print_files(const struct report *t)
{
    enum { MOST = 200 };
    size_t n = t->sums.files, same = strlen(t->entries->path), of_largest = 0;
    for (size_t i = 0; i < n; i++)
        of_largest += is_of_largest(t, &t->entries[i]);
    for (size_t i = 0; i < n && of_largest <= MOST; i++)
        if (is_of_largest(t, &t->entries[i]))
            record_print_word(t->entries[i].path);
    if (of_largest <= MOST)
        return;
    for (size_t i = 1; i < n; i++) {
        size_t k = 0;
        while (k < same && t->entries[i].path[k] == t->entries->path[k])
            k++;
        same = k;
    }
    char start[PATH_MAX];
    snprintf(start, sizeof start, "%.*s", (int)same, t->entries->path);
    record_print_word(start);
    fputc('*', stderr);
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* What was built for profiling is read with its binary: the one that was named, unless that was an
 * env, a shell or a launcher. Where all else runs, the profile says what its modules are. NULL: no
 * binary is needed. */
static const char *binary_of(const struct report *t, const char *named)
{
    const struct entry *e = t->entries;
    if (e->sums.library_accesses)
        return NULL;
    return !*e->program || is_same_file(e->program, named) ? named : as_typed(t, e->program);
}

/* Whether merge finds names for the compiler, here and without a server: most programs of a
 * distribution are stripped of all that it could take. */
static bool can_be_merged(const struct pgk_heap *heap)
{
    const struct cli_common common = {.quiet = true, .no_debuginfod = true,
                                      .symbols_suffice = pgk_heap_lacks_accesses(heap)};
    struct pgk_binaries *binaries = NULL;
    const bool found = !cli_find_binaries(&common, heap, &binaries, NULL) && binaries;
    pgk_binaries_close(&binaries);
    return found;
}

static void report_next(const struct report *t, const char *named)
{
    const struct entry *e = t->entries;
    const char *binary = binary_of(t, named);
    char output[PATH_MAX + 16];
    const bool merges = binary || can_be_merged(t->largest);
    fputs("next:\n  pgokit show", stderr);
    record_print_word(e->path);
    print_option("-b", binary);
    fprintf(stderr, "\n  pgokit %s", merges ? "merge" : "report");
    if (merges)
        print_files(t);
    else
        record_print_word(e->path);
    print_option("-b", binary);
    snprintf(output, sizeof output, merges ? "%s.profdata" : "%s.html",
             *e->name ? e->name : cli_base_name(named));
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

/* All files are summed up, but only the largest are shown one by one. */
static void report_all(const struct report *t)
{
    const struct sums *s = &t->sums;
    fprintf(stderr, "recorded:\n");
    for (size_t i = 0; i < s->files && i < SHOWN; i++)
        print_sums(t->entries[i].path, t->entries[i].name, &t->entries[i].sums,
                   t->entries[i].remarks);
    if (s->files > SHOWN)
        fprintf(stderr, "  ... and %zu more\n", s->files - SHOWN);
    if (s->files > 1) {
        char name[60];
        snprintf(name, sizeof name, "%zu files in all", s->files);
        print_sums(name, "", s,
                   s->library_accesses ? ", some or all by library functions alone" : "");
    }
    if (s->cut.contexts) {
        char contexts[PGK_HUMAN_SIZE], bytes[PGK_HUMAN_SIZE];
        fprintf(stderr, "  %s context%s (%s) with stacks of more frames than were kept\n",
                pgk_human_count(contexts, s->cut.contexts), s->cut.contexts == 1 ? "" : "s",
                pgk_human_bytes(bytes, (double)s->cut.bytes));
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
                        const char *binary, bool leak_check, bool quiet,
                        struct record_heap_page *page)
{
    struct report t = {.entries = calloc(files->n + 1, sizeof *t.entries)};
    if (!t.entries) {
        fputs("pgokit: out of memory\n", stderr);
        exit(EXIT_RECORD_FAILED);
    }
    if (!getcwd(t.here, sizeof t.here))
        t.here[0] = 0;
    if (!files->n)
        fputs("pgokit: warning: nothing was recorded: the program left no profile. If it clears "
              "its environment or only starts others, record these, or link the runtime as "
              "pgokit config heap says\n",
              stderr);
    for (size_t i = 0; i < files->n; i++)
        read_file(&t, files->v[i].path);
    qsort(t.entries, t.sums.files, sizeof *t.entries, by_bytes);
    if (files->n && !quiet)
        report_all(&t);
    if (leak_check)
        report_leak_check(&t.sums);
    if (!quiet) {
        report_run(&t.sums, ended);
        if (t.sums.files)
            report_next(&t, binary);
    }
    if (t.sums.files) {
        const char *needed = binary_of(&t, binary);
        snprintf(page->profile, sizeof page->profile, "%s", t.entries->path);
        snprintf(page->binary, sizeof page->binary, "%s", needed ? needed : "");
    }
    pgk_heap_close(&t.largest);
    free(t.entries);
}
