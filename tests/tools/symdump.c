/* Prints what the symboliser says about addresses, for comparison with other tools.
 *
 *     symdump [-t THREADS] [-d DEBUG_DIR]... [-r REPEATS] BINARY < ADDRESSES
 *     symdump -p BINARY < ADDRESSES    from the slow reference on libdw instead
 *     symdump -f BINARY                all functions
 *
 * Addresses are hexadecimal, one in a line, in any order. Output: the address, then one
 * line per frame: "  NAME|FILE|LINE|COLUMN|DISCRIMINATOR|DECL_FILE|DECL_LINE", "?" for
 * what is unknown. -r prints nothing and repeats the work, to measure it. */
#include "plain_symboliser.h"

#include "mem.h"
#include "symboliser.h"
#include "vec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static const char *text(const char *s)
{
    return s ? s : "?";
}

static int print_function(void *ctx, const struct pgk_sym_function *f)
{
    ++*(size_t *)ctx;
    printf("%s|%s|%u\n", f->name, text(f->decl_file), f->decl_line);
    return 0;
}

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static int fail(const struct pgk_err *err)
{
    pgk_err_print(err, stderr);
    fputc('\n', stderr);
    return 2;
}

static void print_frame(const char *function, const char *file, uint32_t line, uint32_t column,
                        uint32_t discriminator, const char *decl_file, uint32_t decl_line,
                        const char *end)
{
    printf("  %s|%s|%u|%u|%u|%s|%u%s\n", text(function), text(file), line, column, discriminator,
           text(decl_file), decl_line, end);
}

static int run_plain(const char *path, const uint64_t *addrs, size_t n)
{
    static struct plain_frame frames[PLAIN_MAX_FRAMES];
    double start = cpu_ms();
    struct plain_symboliser *s = plain_open(path);
    if (!s) {
        fprintf(stderr, "%s: libdw finds no debug information\n", path);
        return 2;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned count = plain_symbolise(s, addrs[i], frames);
        printf("0x%" PRIx64 "\n", addrs[i]);
        for (unsigned k = 0; k < count; k++) {
            const struct plain_frame *f = &frames[k];
            print_frame(f->function, f->file, f->line, f->column, f->discriminator, NULL,
                        f->decl_line, "");
        }
    }
    plain_close(s);
    fprintf(stderr, "%zu addresses by libdw: %.2f ms\n", n, cpu_ms() - start);
    return 0;
}

int main(int argc, char **argv)
{
    const char *dirs[16];
    struct pgk_debug_places places = {.dirs = dirs};
    unsigned threads = 1;
    int repeats = 0, option;
    bool functions = false, plain = false;
    while ((option = getopt(argc, argv, "t:d:r:fp")) != -1) {
        if (option == 't')
            threads = (unsigned)atoi(optarg);
        else if (option == 'd' && places.n_dirs < 16)
            dirs[places.n_dirs++] = optarg;
        else if (option == 'r')
            repeats = atoi(optarg);
        else if (option == 'f')
            functions = true;
        else if (option == 'p')
            plain = true;
        else
            return 2;
    }
    PGK_VEC(uint64_t) addrs = {0};
    char line[64];
    while (!functions && fgets(line, sizeof line, stdin))
        if (!pgk_vec_push(&addrs, strtoull(line, NULL, 16)))
            return 2;
    size_t n = 0;
    if (addrs.n)
        qsort(addrs.v, addrs.n, sizeof *addrs.v, compare);
    for (size_t i = 0; i < addrs.n; i++)
        if (!i || addrs.v[i] != addrs.v[i - 1])
            addrs.v[n++] = addrs.v[i];

    if (plain)
        return run_plain(argv[optind], addrs.v, n);
    for (int run = 0; run <= repeats; run++) {
        double start = cpu_ms();
        struct pgk_err err = {0};
        struct pgk_elf *elf;
        struct pgk_symboliser *sym;
        struct pgk_arena arena = {0};
        if (pgk_elf_open(&elf, argv[optind], &err) < 0)
            return fail(&err);
        pgk_elf_look_in(elf, &places);
        if (pgk_symboliser_open(&sym, elf, &err) < 0)
            return fail(&err);
        double opened = cpu_ms();
        size_t count = 0;
        struct pgk_sym_chain *chains = pgk_mem_zalloc(n + 1, sizeof *chains);
        if (functions && pgk_symboliser_functions(sym, print_function, &count, &err) < 0)
            return fail(&err);
        if (!chains || pgk_symbolise(sym, addrs.v, n, threads, &arena, chains, &err) < 0)
            return fail(&err);
        double done = cpu_ms();
        for (size_t i = 0; i < n && !repeats; i++) {
            printf("0x%" PRIx64 "\n", addrs.v[i]);
            for (uint32_t k = 0; k < chains[i].count; k++) {
                const struct pgk_sym_frame *f = &chains[i].frames[k];
                print_frame(f->function, f->file, f->line, f->column, f->discriminator,
                            f->decl_file, f->decl_line,
                            f->inlined == (k + 1 < chains[i].count) ? "" : "|BAD CHAIN");
            }
        }
        if (repeats || functions) {
            struct rusage use;
            getrusage(RUSAGE_SELF, &use);
            fprintf(stderr, "%zu addresses, %zu functions: open %.2f ms, look up %.2f ms, peak %ld "
                    "KB\n", n, count, opened - start, done - opened, use.ru_maxrss);
        }
        pgk_mem_free(chains);
        pgk_arena_free(&arena);
        pgk_symboliser_close(&sym);
        pgk_elf_close(&elf);
    }
    pgk_vec_free(&addrs);
    return 0;
}
