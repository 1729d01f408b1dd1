/* Runs a program step by step and writes what perf script would of branch stacks, so that tests
 * need no hardware for it:  branch_trace [-g] [-e N] [-n N] OUTPUT PROGRAM [ARGUMENT...]
 *
 *   -g    with call chains, from frame pointers
 *   -e N  a sample every N instructions (997)
 *   -n N  at most N samples (2000); the program then runs on by itself
 *
 * Linux on x86-64. Source: ptrace(2); the text is that of docs/formats/perf-text.md. */
#include "insn.h"

#include "vec.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 32, CHAIN = 64, CACHE = 1 << 16 };

struct branch {
    uint64_t from, to;
};

/* An instruction that was met; direct-mapped by address. */
struct known {
    uint64_t addr;
    struct pgk_insn insn;
};

struct trace {
    pid_t pid;
    FILE *out;
    bool chains;
    unsigned long every, limit;
    struct pgk_insn_decoder decoder;
    struct known *known;
    struct branch ring[STACK];
    unsigned long branches;
    PGK_VEC(uint64_t) seen; /* starts of mappings that were told */
};

static void fail(const char *what)
{
    fprintf(stderr, "branch_trace: %s: %s\n", what, strerror(errno));
    exit(2);
}

static bool peek(pid_t pid, uint64_t addr, void *buf, size_t size)
{
    struct iovec local = {buf, size}, remote = {(void *)(uintptr_t)addr, size};
    return process_vm_readv(pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static const struct pgk_insn *insn_at(struct trace *t, uint64_t addr)
{
    struct known *k = &t->known[addr % CACHE];
    uint8_t bytes[16];
    if (k->addr == addr)
        return &k->insn;
    size_t n = sizeof bytes;
    while (n && !peek(t->pid, addr, bytes, n))
        n--; /* at the end of a mapping */
    k->addr = addr;
    pgk_insn_decode(&t->decoder, bytes, n, addr, &k->insn);
    return &k->insn;
}

/* Mappings of code that are new, in perf's words. */
static void tell_mappings(struct trace *t)
{
    char path[64], line[4400];
    snprintf(path, sizeof path, "/proc/%d/maps", t->pid);
    FILE *maps = fopen(path, "r");
    if (!maps)
        fail(path);
    while (fgets(line, sizeof line, maps)) {
        uint64_t start, end, offset;
        char prot[8], file[4096] = "";
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %4095[^\n]", &start,
                   &end, prot, &offset, file) < 4 || !strchr(prot, 'x') || *file != '/')
            continue;
        bool told = false;
        for (size_t i = 0; i < t->seen.n; i++)
            told |= t->seen.v[i] == start;
        if (told)
            continue;
        if (!pgk_vec_push(&t->seen, start))
            fail("memory");
        fprintf(t->out,
                "PERF_RECORD_MMAP2 %d/%d: [0x%" PRIx64 "(0x%" PRIx64 ") @ 0x%" PRIx64
                " 00:00 0 0]: %s %s\n",
                t->pid, t->pid, start, end - start, offset, prot, file);
    }
    fclose(maps);
}

static void tell_chain(const struct trace *t, const struct user_regs_struct *regs)
{
    uint64_t frame[2], at = regs->rbp, last = regs->rsp - 1;
    fprintf(t->out, "\t%16" PRIx64 "\n", (uint64_t)regs->rip);
    for (int i = 0; i < CHAIN && at > last && peek(t->pid, at, frame, sizeof frame); i++) {
        if (!frame[1])
            break;
        fprintf(t->out, "\t%16" PRIx64 "\n", frame[1]);
        last = at;
        at = frame[0];
    }
}

static void tell_sample(struct trace *t, const struct user_regs_struct *regs)
{
    tell_mappings(t);
    if (t->chains) {
        fputc('\n', t->out);
        tell_chain(t, regs);
    } else {
        fprintf(t->out, " %16" PRIx64, (uint64_t)regs->rip);
    }
    for (unsigned long i = 0; i < STACK && i < t->branches; i++) {
        const struct branch *b = &t->ring[(t->branches - 1 - i) % STACK];
        fprintf(t->out, " 0x%" PRIx64 "/0x%" PRIx64 "/P/-/-/0/ ", b->from, b->to);
    }
    fputc('\n', t->out);
}

static void take_step(struct trace *t, uint64_t from, uint64_t to)
{
    const struct pgk_insn *insn = insn_at(t, from);
    bool transfers = insn->kind == PGK_INSN_COND || insn->kind == PGK_INSN_JUMP ||
                     insn->kind == PGK_INSN_CALL || insn->kind == PGK_INSN_RET;
    if (!insn->valid || !transfers || to == from + insn->length)
        return;
    t->ring[t->branches++ % STACK] = (struct branch){from, to};
}

/* Where the program itself begins, behind the dynamic loader. */
static uint64_t entry_of(pid_t pid)
{
    char path[64];
    uint64_t pair[2];
    snprintf(path, sizeof path, "/proc/%d/auxv", pid);
    FILE *f = fopen(path, "rb");
    while (f && fread(pair, sizeof pair, 1, f) == 1)
        if (pair[0] == AT_ENTRY) {
            fclose(f);
            return pair[1];
        }
    fail(path);
    return 0;
}

static void run_to(pid_t pid, uint64_t addr)
{
    void *at = (void *)(uintptr_t)addr;
    struct user_regs_struct regs;
    int status;
    errno = 0;
    long word = ptrace(PTRACE_PEEKTEXT, pid, at, NULL);
    if (errno || ptrace(PTRACE_POKETEXT, pid, at, (void *)((word & ~0xffL) | 0xcc)) ||
        ptrace(PTRACE_CONT, pid, NULL, 0) || waitpid(pid, &status, 0) < 0 ||
        !WIFSTOPPED(status) || ptrace(PTRACE_GETREGS, pid, NULL, &regs) || regs.rip != addr + 1 ||
        ptrace(PTRACE_POKETEXT, pid, at, (void *)word))
        fail("breakpoint");
    regs.rip = addr;
    if (ptrace(PTRACE_SETREGS, pid, NULL, &regs))
        fail("ptrace");
}

static int run(struct trace *t)
{
    struct user_regs_struct regs;
    int status;
    unsigned long samples = 0, steps = 0;
    uint64_t last = 0;
    if (waitpid(t->pid, &status, 0) < 0)
        fail("waitpid");
    run_to(t->pid, entry_of(t->pid));
    while (WIFSTOPPED(status)) {
        int signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        if (ptrace(PTRACE_GETREGS, t->pid, NULL, &regs))
            fail("ptrace");
        if (last && !signal)
            take_step(t, last, regs.rip);
        last = signal ? 0 : regs.rip;
        if (++steps % t->every == 0 && t->branches >= STACK) {
            tell_sample(t, &regs);
            samples++;
        }
        if (ptrace(samples < t->limit ? PTRACE_SINGLESTEP : PTRACE_DETACH, t->pid, NULL, signal))
            fail("ptrace");
        if (waitpid(t->pid, &status, 0) < 0)
            fail("waitpid");
    }
    return WIFEXITED(status) ? 0 : 1;
}

static unsigned long number(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    if (!n || *end) {
        fprintf(stderr, "branch_trace: '%s' is no number from 1 on\n", text);
        exit(2);
    }
    return n;
}

int main(int argc, char **argv)
{
    struct trace t = {.every = 997, .limit = 2000};
    struct pgk_err err = {0};
    for (int c; (c = getopt(argc, argv, "+ge:n:")) != -1;) {
        if (c == 'g')
            t.chains = true;
        else if (c == 'e')
            t.every = number(optarg);
        else if (c == 'n')
            t.limit = number(optarg);
        else
            return 2;
    }
    if (argc - optind < 2) {
        fputs("usage: branch_trace [-g] [-e N] [-n N] OUTPUT PROGRAM [ARGUMENT...]\n", stderr);
        return 2;
    }
    t.known = calloc(CACHE, sizeof *t.known);
    t.out = fopen(argv[optind], "w");
    if (!t.out || !t.known)
        fail(argv[optind]);
    if (pgk_insn_decoder_open(&t.decoder, EM_X86_64, PGK_INSN_READABLE, &err))
        return 2;
    t.pid = fork();
    if (t.pid < 0)
        fail("fork");
    if (!t.pid) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(argv[optind + 1], argv + optind + 1);
        fail(argv[optind + 1]);
    }
    int status = run(&t);
    pgk_insn_decoder_close(&t.decoder);
    pgk_vec_free(&t.seen);
    free(t.known);
    return fclose(t.out) ? 2 : status;
}
