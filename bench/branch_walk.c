/* Makes a recording of a program that never ran: branch stacks of a walk through its code, which
 * follows its branches, calls and returns as its instructions have them.
 *
 *     branch_walk [-g] [-d] [-n SAMPLES] [-s SEED] BINARY OUTPUT
 *
 *   -g  with call chains          -d  as perf.data instead of text of perf script
 *
 * Between two branches of a stack the code is straight, a return goes behind its call, and the
 * call chain is that of the walk. How a branch tends to go is drawn from its address, so two
 * seeds are two runs of one program. Calls to functions of libraries leave the program and come
 * back. What no walk can follow (a jump table, for instance) ends it, and another begins. */
#include "code.h"
#include "elf_file.h"
#include "insn.h"
#include "machine.h"
#include "vec.h"

#include <elf.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 32, RING = 64, CALLS = 60, WALK = 1000, PERIOD = 199, PID = 4242 };
#define BASE UINT64_C(0x555555554000)
#define MISC_USER (UINT64_C(2) << 32) /* in a record's header */
enum { LIBRARY_SIZE = 0x155000 };
#define LIBRARY UINT64_C(0x7f3c5a400000)

struct transfer { /* an instruction that may not go on with the next one */
    uint64_t addr, next, target;
    uint32_t function; /* that it is in */
    uint32_t at_target; /* first transfer from the target on */
    uint8_t kind;
    bool indirect;
};

struct function {
    uint64_t addr;
    uint32_t first; /* transfer */
    uint32_t n;
};

struct walk {
    struct pgk_elf *elf;
    struct pgk_elf_section_info text;
    PGK_VEC(struct transfer) transfers;
    PGK_VEC(struct function) functions;
    uint64_t random[2];
    struct branch {
        uint64_t from, to, flags;
    } ring[RING];
    uint64_t branches; /* of this walk */
    uint64_t calls[CALLS];
    uint32_t depth;
    FILE *out;
    bool chains, data;
    struct pgk_code code; /* of a program for AArch64 */
    char path[PATH_MAX];
};

static void die(const char *what)
{
    fprintf(stderr, "branch_walk: %s: %s\n", what, strerror(errno));
    exit(2);
}

static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint64_t draw(struct walk *w) /* xorshift128+ */
{
    uint64_t a = w->random[0], b = w->random[1];
    w->random[0] = b;
    a ^= a << 23;
    w->random[1] = a ^ b ^ (a >> 17) ^ (b >> 26);
    return w->random[1] + b;
}

static double draw_share(struct walk *w)
{
    return (double)(draw(w) >> 11) * 0x1p-53;
}

/* ---- the program ---- */

static void find_text(struct walk *w)
{
    for (size_t i = 0; i < pgk_elf_section_count(w->elf); i++) {
        struct pgk_elf_section_info s = pgk_elf_section_at(w->elf, i);
        if (s.bytes && !strcmp(s.name, ".text"))
            w->text = s;
    }
}

static const uint8_t *bytes_at(const struct walk *w, uint64_t addr, size_t size)
{
    uint64_t off = addr - w->text.addr;
    return off < w->text.size && size <= w->text.size - off ? w->text.bytes + off : NULL;
}

static void read_function(struct walk *w, const struct pgk_insn_decoder *d,
                          const struct pgk_elf_sym *sym, const uint8_t *bytes)
{
    struct pgk_insn insn;
    struct function f = {sym->addr, (uint32_t)w->transfers.n, 0};
    for (uint64_t at = sym->addr; at < sym->addr + sym->size; at += insn.length) {
        pgk_insn_decode(d, bytes + (at - sym->addr), sym->addr + sym->size - at, at, &insn);
        if (insn.valid && insn.kind == PGK_INSN_OTHER)
            continue;
        struct transfer t = {.addr = at,
                             .next = at + insn.length,
                             .target = insn.target,
                             .function = (uint32_t)w->functions.n,
                             .kind = insn.valid ? insn.kind : PGK_INSN_STOP,
                             .indirect = insn.indirect};
        if (!pgk_vec_push(&w->transfers, t))
            die("memory");
    }
    f.n = (uint32_t)w->transfers.n - f.first;
    if (f.n && !pgk_vec_push(&w->functions, f))
        die("memory");
}

/* The first transfer at `addr` or behind it. */
static uint32_t transfer_at(const struct walk *w, uint64_t addr)
{
    size_t low = 0, high = w->transfers.n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (w->transfers.v[mid].addr < addr)
            low = mid + 1;
        else
            high = mid;
    }
    return (uint32_t)low;
}

static void read_program(struct walk *w, struct pgk_err *err)
{
    const struct pgk_elf_sym *syms;
    struct pgk_insn_decoder d;
    size_t n;
    uint64_t done = 0;
    find_text(w);
    if (pgk_elf_symbols(w->elf, &syms, &n, err) ||
        pgk_insn_decoder_open(&d, pgk_elf_machine(w->elf), PGK_INSN_READABLE, err)) {
        pgk_err_print(err, stderr);
        exit(2);
    }
    for (size_t i = 0; i < n; i++) {
        const uint8_t *bytes =
            syms[i].function && syms[i].size ? bytes_at(w, syms[i].addr, syms[i].size) : NULL;
        if (!bytes || syms[i].addr < done)
            continue;
        read_function(w, &d, &syms[i], bytes);
        done = syms[i].addr + syms[i].size;
    }
    pgk_insn_decoder_close(&d);
    if (!w->functions.n)
        die("no functions");
    for (size_t i = 0; i < w->transfers.n; i++)
        w->transfers.v[i].at_target = transfer_at(w, w->transfers.v[i].target);
}

/* ---- output ---- */

static uint64_t placed(uint64_t addr)
{
    return addr < LIBRARY ? addr + BASE : addr;
}

static void put(struct walk *w, const void *bytes, size_t n)
{
    if (fwrite(bytes, 1, n, w->out) != n)
        die("write");
}

static void put_words(struct walk *w, const uint64_t *v, size_t n)
{
    put(w, v, n * sizeof *v);
}

static const struct pgk_segment *code_of(const struct pgk_elf *elf)
{
    size_t n;
    const struct pgk_segment *s = pgk_elf_segments(elf, &n);
    for (size_t i = 0; i < n; i++)
        if (s[i].executable)
            return &s[i];
    die("no code");
    return NULL;
}

enum { IP = 1, TID = 2, PERIOD_BIT = 256, CHAIN = 32, BRANCHES = 2048 };

static void start_output(struct walk *w)
{
    enum { PAGE = 4095, ATTR_SIZE = 128, RECORD_ATTR = 64, RECORD_MMAP2 = 10 };
    const struct pgk_segment *s = code_of(w->elf);
    uint64_t low = s->vaddr & ~(uint64_t)PAGE, size = (s->vaddr + s->memsz - low + PAGE) &
                                                      ~(uint64_t)PAGE;
    uint64_t off = s->offset & ~(uint64_t)PAGE;
    if (!w->data) {
        fprintf(w->out,
                "PERF_RECORD_MMAP2 %d/%d: [0x%" PRIx64 "(0x%" PRIx64 ") @ 0x%" PRIx64
                " 08:01 1 1]: r-xp %s\n",
                PID, PID, low + BASE, size, off, w->path);
        fprintf(w->out,
                "PERF_RECORD_MMAP2 %d/%d: [0x%" PRIx64 "(0x%x) @ 0 08:01 2 1]: r-xp "
                "/usr/lib/libelse.so\n",
                PID, PID, LIBRARY, LIBRARY_SIZE);
        return;
    }
    const uint64_t header[2] = {UINT64_C(0x32454c4946524550), 16};
    uint64_t attr[1 + ATTR_SIZE / 8] = {0};
    put_words(w, header, 2);
    attr[0] = RECORD_ATTR | (uint64_t)sizeof attr << 48;
    attr[1] = UINT64_C(4) | (uint64_t)ATTR_SIZE << 32;
    attr[3] = PERIOD;
    attr[4] = IP | TID | PERIOD_BIT | BRANCHES | (w->chains ? CHAIN : 0);
    put_words(w, attr, PGK_COUNTOF(attr));
    size_t name = (strlen(w->path) + 8) & ~(size_t)7;
    uint64_t mmap[9] = {RECORD_MMAP2 | MISC_USER | (72 + name) << 48,
                        PID | (uint64_t)PID << 32, low + BASE, size, off, 0, 0, 0,
                        5 | UINT64_C(2) << 32};
    put_words(w, mmap, 9);
    put(w, w->path, name);
    static const char library[24] = "/usr/lib/libelse.so";
    mmap[0] = RECORD_MMAP2 | MISC_USER | (72 + sizeof library) << 48;
    mmap[2] = LIBRARY;
    mmap[3] = LIBRARY_SIZE;
    mmap[4] = 0;
    put_words(w, mmap, 9);
    put(w, library, sizeof library);
}

static const struct branch *entry(const struct walk *w, unsigned i)
{
    return &w->ring[(w->branches - 1 - i) % RING];
}

static void put_data(struct walk *w, uint64_t ip)
{
    uint64_t v[8 + CALLS + 3 * DEPTH];
    size_t n = 1;
    v[n++] = placed(ip);
    v[n++] = PID | (uint64_t)PID << 32;
    v[n++] = PERIOD;
    if (w->chains) {
        v[n++] = w->depth + 2;
        v[n++] = (uint64_t)-512; /* PERF_CONTEXT_USER */
        v[n++] = placed(ip);
        for (uint32_t i = w->depth; i-- > 0;)
            v[n++] = placed(w->calls[i]);
    }
    v[n++] = DEPTH;
    for (unsigned i = 0; i < DEPTH; i++) {
        v[n++] = placed(entry(w, i)->from);
        v[n++] = placed(entry(w, i)->to);
        v[n++] = 2;
    }
    v[0] = 9 | MISC_USER | (uint64_t)(8 * n) << 48;
    put_words(w, v, n);
}

static void put_text(struct walk *w, uint64_t ip)
{
    if (w->chains) {
        fprintf(w->out, "\t%16" PRIx64 "\n", placed(ip));
        for (uint32_t i = w->depth; i-- > 0;)
            fprintf(w->out, "\t%16" PRIx64 "\n", placed(w->calls[i]));
    } else {
        fprintf(w->out, " %16" PRIx64, placed(ip));
    }
    for (unsigned i = 0; i < DEPTH; i++)
        fprintf(w->out, " 0x%" PRIx64 "/0x%" PRIx64 "/P/-/-/%u/ ", placed(entry(w, i)->from),
                placed(entry(w, i)->to), (unsigned)(mix(entry(w, i)->from) % 40));
    fputs(w->chains ? "\n\n" : "\n", w->out);
}

/* ---- walking ---- */

static void take(struct walk *w, uint64_t from, uint64_t to)
{
    w->ring[w->branches++ % RING] = (struct branch){from, to, 0};
}

/* Hot functions are few: the root by a power law, the callees by the address of the call. */
static const struct function *root(struct walk *w)
{
    double share = draw_share(w);
    size_t i = (size_t)((double)w->functions.n * share * share);
    return &w->functions.v[mix(i) % w->functions.n];
}

static bool goes(struct walk *w, const struct transfer *t)
{
    double bias = (double)(mix(t->addr) >> 40) / 16777216.0;
    return draw_share(w) < (t->target <= t->addr ? 0.4 + 0.5 * bias
                            : bias < 0.4         ? 0.05
                            : bias < 0.6         ? 0.9
                                                 : bias);
}

/* Out to a library by way of a call at `from`, and back behind it. */
static void visit_library(struct walk *w, const struct transfer *t)
{
    uint64_t there = LIBRARY + (mix(t->target + t->addr) & 0xffff0);
    take(w, t->addr, there);
    if (draw(w) % 4 == 0)
        take(w, there + 24, there + 96);
    take(w, there + 140, t->next);
}

/* Follows the transfer; the next address, or 0 if the walk ends here. */
static uint64_t follow(struct walk *w, const struct transfer *t)
{
    uint64_t to = t->target;
    switch ((enum pgk_insn_kind)t->kind) {
    case PGK_INSN_COND:
        if (!goes(w, t))
            return t->next;
        break;
    case PGK_INSN_CALL:
        if (t->indirect)
            to = w->functions.v[mix(t->addr + draw(w) % 4 / 3) % w->functions.n].addr;
        if (!bytes_at(w, to, 1) || w->depth == CALLS) {
            visit_library(w, t);
            return t->next;
        }
        w->calls[w->depth++] = t->next;
        break;
    case PGK_INSN_RET:
        if (!w->depth)
            return 0;
        to = w->calls[--w->depth];
        break;
    case PGK_INSN_JUMP:
        if (t->indirect)
            return 0;
        break;
    default:
        return 0;
    }
    if (!bytes_at(w, to, 1))
        return 0;
    take(w, t->addr, to);
    return to;
}

/* Where chains by frame pointers would lack the caller. On AArch64 those are many places, and
 * llvm-profgen knows of two of them only. */
static bool is_frameless(struct walk *w, uint64_t at)
{
    return w->chains && w->code.elf && pgk_code_is_frame_edge(&w->code, at);
}

static void record(struct walk *w, uint64_t samples)
{
    uint64_t at = 0, left = 0, next = PERIOD;
    while (samples) {
        if (!at || !left) {
            at = root(w)->addr;
            w->depth = 0;
            w->branches = 0;
            left = WALK + draw(w) % WALK;
            next = DEPTH + draw(w) % PERIOD;
        }
        uint32_t i = transfer_at(w, at);
        if (i == w->transfers.n || at < w->functions.v[w->transfers.v[i].function].addr) {
            at = 0; /* behind the end of a function */
            continue;
        }
        at = follow(w, &w->transfers.v[i]);
        left--;
        if (!at || w->branches < next || is_frameless(w, entry(w, 0)->to))
            continue;
        (w->data ? put_data : put_text)(w, entry(w, 0)->to);
        next = w->branches + PERIOD / 2 + draw(w) % PERIOD;
        samples--;
    }
}

int main(int argc, char **argv)
{
    static struct walk w;
    struct pgk_err err = {0};
    uint64_t samples = 10000, seed = 1;
    for (int c; (c = getopt(argc, argv, "gdn:s:")) != -1;) {
        if (c == 'g')
            w.chains = true;
        else if (c == 'd')
            w.data = true;
        else if (c == 'n')
            samples = strtoull(optarg, NULL, 10);
        else if (c == 's')
            seed = strtoull(optarg, NULL, 10);
        else
            return 2;
    }
    if (argc - optind != 2) {
        fputs("usage: branch_walk [-g] [-d] [-n SAMPLES] [-s SEED] BINARY OUTPUT\n", stderr);
        return 2;
    }
    if (!realpath(argv[optind], w.path))
        die(argv[optind]);
    if (pgk_elf_open(&w.elf, argv[optind], &err)) {
        pgk_err_print(&err, stderr);
        return 2;
    }
    w.random[0] = mix(seed);
    w.random[1] = mix(seed + 1);
    if (!(w.out = fopen(argv[optind + 1], "w")))
        die(argv[optind + 1]);
    read_program(&w, &err);
    if (!pgk_elf_machine(w.elf)->table_operand && pgk_code_open(&w.code, w.elf, &err)) {
        pgk_err_print(&err, stderr);
        return 2;
    }
    start_output(&w);
    record(&w, samples);
    pgk_code_close(&w.code);
    pgk_elf_close(&w.elf);
    pgk_vec_free(&w.transfers);
    pgk_vec_free(&w.functions);
    if (fclose(w.out))
        die(argv[optind + 1]);
    return 0;
}
