/* Runs a program from branch to branch and writes what perf script would of branch stacks, so that
 * tests need no hardware for it:  branch_trace [-g] [-e N] [-n N] OUTPUT PROGRAM [ARGUMENT...]
 *
 *   -g    with call chains, from frame pointers
 *   -e N  a sample every N instructions (997)
 *   -n N  at most N samples (2000); the program then runs on by itself
 *
 * The program stops at breakpoints alone, at each branch whose target the code does not say, and
 * what it does is worked out from the registers: a single step takes many times as long, above all
 * in a virtual machine, whose host it stops, too. Indirect branches by tables are stepped over.
 *
 * Linux on x86-64. Source: ptrace(2); the text is that of docs/formats/perf-text.md. */
#include "insn.h"
#include "machine.h"

#include "vec.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STACK = 32, CHAIN = 64, CACHE = 1 << 16, CODE = 16, BREAKPOINT = 0xcc };

struct branch {
    uint64_t from, to;
};

/* An instruction that was met; direct-mapped by address. */
struct known {
    uint64_t addr;
    struct pgk_insn insn;
    uint8_t bytes[CODE]; /* from it on, without breakpoints */
    size_t n;
};

/* A place where a breakpoint was set, and the byte that it stands for; a hash table of CACHE
 * entries. */
struct patch {
    uint64_t addr; /* 0: none */
    uint8_t byte;
    bool is_set;
};

struct trace {
    pid_t pid;
    int memory; /* /proc/PID/mem, which writes code, too */
    FILE *out;
    bool chains;
    unsigned long every, limit;
    struct pgk_insn_decoder decoder;
    struct known *known;
    struct patch *patches;
    unsigned n_patches;
    unsigned long steps, samples;
    struct branch ring[STACK];
    unsigned long branches;
    PGK_VEC(struct branch) passed; /* on the way to the next stop */
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

static struct patch *patch_at(struct trace *t, uint64_t addr)
{
    size_t i = addr * 0x9e3779b97f4a7c15 >> 48;
    while (t->patches[i].addr && t->patches[i].addr != addr)
        i = (i + 1) % CACHE;
    return &t->patches[i];
}

static void poke(struct trace *t, uint64_t addr, const void *bytes, size_t size)
{
    if (pwrite(t->memory, bytes, size, (off_t)addr) != (ssize_t)size)
        fail("memory of the program");
}

static void add_patch(struct trace *t, uint64_t addr)
{
    static const uint8_t breakpoint = BREAKPOINT;
    struct patch *p = patch_at(t, addr);
    if (p->is_set)
        return;
    if (!p->addr && (++t->n_patches > CACHE / 2 || !peek(t->pid, addr, &p->byte, 1)))
        fail("breakpoint");
    p->addr = addr;
    p->is_set = true;
    poke(t, addr, &breakpoint, 1);
}

static void remove_patch(struct trace *t, uint64_t addr)
{
    struct patch *p = patch_at(t, addr);
    if (p->is_set)
        poke(t, addr, &p->byte, 1);
    p->is_set = false;
}

/* The bytes of code from `addr` on as they are without breakpoints. */
static size_t read_code(struct trace *t, uint64_t addr, uint8_t bytes[CODE])
{
    size_t n = CODE;
    while (n && !peek(t->pid, addr, bytes, n))
        n--; /* at the end of a mapping */
    for (size_t i = 0; i < n; i++) {
        const struct patch *p = bytes[i] == BREAKPOINT ? patch_at(t, addr + i) : NULL;
        if (p && p->is_set)
            bytes[i] = p->byte;
    }
    return n;
}

static const struct known *known_at(struct trace *t, uint64_t addr)
{
    struct known *k = &t->known[addr % CACHE];
    if (k->addr == addr)
        return k;
    k->n = read_code(t, addr, k->bytes);
    k->addr = addr;
    k->insn = (struct pgk_insn){.length = 1};
    if (k->n)
        pgk_insn_decode(&t->decoder, k->bytes, k->n, addr, &k->insn);
    return k;
}

static const struct pgk_insn *insn_at(struct trace *t, uint64_t addr)
{
    return &known_at(t, addr)->insn;
}

/* Mappings of code that are new, in perf's words. */
static void report_mappings(struct trace *t)
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
        bool reported = false;
        for (size_t i = 0; i < t->seen.n; i++)
            reported |= t->seen.v[i] == start;
        if (reported)
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

static void report_chain(const struct trace *t, const struct user_regs_struct *regs)
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

static void report_sample(struct trace *t, const struct user_regs_struct *regs)
{
    report_mappings(t);
    if (t->chains) {
        fputc('\n', t->out);
        report_chain(t, regs);
    } else {
        fprintf(t->out, " %16" PRIx64, (uint64_t)regs->rip);
    }
    for (unsigned long i = 0; i < STACK && i < t->branches; i++) {
        const struct branch *b = &t->ring[(t->branches - 1 - i) % STACK];
        fprintf(t->out, " 0x%" PRIx64 "/0x%" PRIx64 "/P/-/-/0/ ", b->from, b->to);
    }
    fputc('\n', t->out);
}

static bool is_transfer(const struct pgk_insn *insn)
{
    return insn->kind == PGK_INSN_COND || insn->kind == PGK_INSN_JUMP ||
           insn->kind == PGK_INSN_CALL || insn->kind == PGK_INSN_RET;
}

static void take_step(struct trace *t, uint64_t from, uint64_t to)
{
    const struct pgk_insn *insn = insn_at(t, from);
    if (insn->valid && is_transfer(insn) && to != from + insn->length)
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

static void get_regs(const struct trace *t, struct user_regs_struct *regs)
{
    if (ptrace(PTRACE_GETREGS, t->pid, NULL, regs))
        fail("ptrace");
}

static void set_regs(const struct trace *t, const struct user_regs_struct *regs)
{
    if (ptrace(PTRACE_SETREGS, t->pid, NULL, regs))
        fail("ptrace");
}

/* Goes on until the next stop. False if the program has ended; `signal` is to be delivered next. */
static bool resume(struct trace *t, int request, int *signal, int *status)
{
    if (ptrace(request, t->pid, NULL, *signal) || waitpid(t->pid, status, 0) < 0)
        fail("ptrace");
    *signal = WIFSTOPPED(*status) && WSTOPSIG(*status) != SIGTRAP ? WSTOPSIG(*status) : 0;
    return WIFSTOPPED(*status);
}

/* Whether a condition of x86-64 (0 to 15, as opcodes number them) holds. */
static bool holds(unsigned condition, uint64_t flags)
{
    const bool c = flags & 1, p = flags & 4, z = flags & 0x40, s = flags & 0x80, o = flags & 0x800;
    const bool odd = condition & 1, of[] = {o, c, z, c || z, s, p, s != o, z || s != o};
    return of[condition >> 1] != odd;
}

/* Where a branch goes by the registers, which become those behind it; false if only the processor
 * knows. */
static bool follow(struct trace *t, const struct pgk_insn *insn, struct user_regs_struct *regs)
{
    uint64_t target = insn->target, next = insn->addr + insn->length;
    const struct known *k = known_at(t, insn->addr);
    const uint8_t *bytes = k->bytes;
    const size_t n = k->n;
    size_t i = 0;
    while (i + 1 < n && strchr("\x2e\x3e\xf2\xf3\x48", bytes[i]) && bytes[i])
        i++;
    if (insn->kind == PGK_INSN_COND) {
        const bool near = bytes[i] == 0x0f;
        const uint8_t op = bytes[i + near];
        if (op >> 4 != (near ? 8 : 7))
            return false; /* loop, jrcxz */
        regs->rip = holds(op & 15, regs->eflags) ? target : next;
        return true;
    }
    if (insn->kind == PGK_INSN_RET) {
        if (bytes[i] != 0xc3 || !peek(t->pid, regs->rsp, &target, sizeof target))
            return false;
        regs->rsp += sizeof target;
    } else if (insn->indirect &&
               (!insn->data || !peek(t->pid, insn->data, &target, sizeof target))) {
        return false;
    }
    if (insn->kind == PGK_INSN_CALL) {
        regs->rsp -= sizeof next;
        poke(t, regs->rsp, &next, sizeof next);
    }
    regs->rip = target;
    return true;
}

/* The processor executes what is at the program counter, without the breakpoint there. */
static bool step_over(struct trace *t, struct user_regs_struct *regs, int *signal, int *status)
{
    set_regs(t, regs);
    remove_patch(t, regs->rip);
    if (!resume(t, PTRACE_SINGLESTEP, signal, status))
        return false;
    get_regs(t, regs);
    return true;
}

/* Runs up to `addr`, the first breakpoint that is met. False if the program has ended; another
 * stop leaves the program counter elsewhere. */
static bool run_up_to(struct trace *t, uint64_t addr, struct user_regs_struct *regs, int *signal,
                      int *status)
{
    add_patch(t, addr);
    set_regs(t, regs);
    if (!resume(t, PTRACE_CONT, signal, status))
        return false;
    get_regs(t, regs);
    if (!*signal && patch_at(t, regs->rip - 1)->is_set)
        regs->rip--;
    return true;
}

static void sample_if_due(struct trace *t, const struct user_regs_struct *regs)
{
    if (t->branches < STACK)
        return;
    report_sample(t, regs);
    t->samples++;
}

/* Up to the next branch whose target the code does not say, or to the instruction of the next
 * sample, by direct jumps and calls: these become what is passed. */
static uint64_t next_stop(struct trace *t, uint64_t addr, unsigned long *n)
{
    const unsigned long left = t->every - t->steps % t->every;
    t->passed.n = 0;
    for (*n = 0; *n < left; ++*n) {
        const struct pgk_insn *insn = insn_at(t, addr);
        const bool goes = insn->kind == PGK_INSN_JUMP || insn->kind == PGK_INSN_CALL;
        if (!insn->valid || (goes ? insn->indirect : insn->kind != PGK_INSN_OTHER))
            break;
        if (goes && !pgk_vec_push(&t->passed, ((struct branch){addr, insn->target})))
            fail("memory");
        addr = goes ? insn->target : addr + insn->length;
    }
    return addr;
}

/* Goes on to the next stop, and over the branch there. False if the program has ended. */
static bool go_on(struct trace *t, struct user_regs_struct *regs, int *signal, int *status)
{
    unsigned long n;
    const uint64_t stop = next_stop(t, regs->rip, &n), every = t->every;
    if (*signal)
        return step_over(t, regs, signal, status); /* into its handler */
    if (n && !patch_at(t, regs->rip)->is_set) {
        if (!run_up_to(t, stop, regs, signal, status))
            return false;
        if (regs->rip != stop)
            return true;
        for (size_t i = 0; i < t->passed.n; i++)
            take_step(t, t->passed.v[i].from, t->passed.v[i].to);
        t->steps += n;
        if (t->steps % every == 0) {
            remove_patch(t, stop);
            sample_if_due(t, regs);
            return true;
        }
    }
    const uint64_t at = regs->rip;
    const struct pgk_insn insn = *insn_at(t, at);
    if (!(insn.valid && is_transfer(&insn) && follow(t, &insn, regs)) &&
        !step_over(t, regs, signal, status))
        return false;
    if (!*signal)
        take_step(t, at, regs->rip);
    if (++t->steps % every == 0)
        sample_if_due(t, regs);
    return true;
}

/* The program runs on by itself. */
static void let_go(struct trace *t, const struct user_regs_struct *regs, int signal)
{
    for (size_t i = 0; i < CACHE; i++)
        if (t->patches[i].is_set)
            poke(t, t->patches[i].addr, &t->patches[i].byte, 1);
    set_regs(t, regs);
    if (ptrace(PTRACE_DETACH, t->pid, NULL, signal))
        fail("ptrace");
}

static int run(struct trace *t)
{
    struct user_regs_struct regs;
    char path[64];
    int status, signal = 0;
    if (waitpid(t->pid, &status, 0) < 0)
        fail("waitpid");
    snprintf(path, sizeof path, "/proc/%d/mem", t->pid);
    t->memory = open(path, O_RDWR | O_CLOEXEC);
    if (t->memory < 0)
        fail(path);
    get_regs(t, &regs);
    const uint64_t entry = entry_of(t->pid);
    if (!run_up_to(t, entry, &regs, &signal, &status) || regs.rip != entry)
        fail("entry of the program");
    remove_patch(t, entry);
    t->steps = 1; /* stops, the first one included */
    while (t->samples < t->limit)
        if (!go_on(t, &regs, &signal, &status))
            return WIFEXITED(status) ? 0 : 1;
    let_go(t, &regs, signal);
    if (waitpid(t->pid, &status, 0) < 0)
        fail("waitpid");
    return WIFEXITED(status) ? 0 : 1;
}

/* Switching to and from the program is much faster on one processor. */
static void stay_on_this_processor(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(sched_getcpu(), &set);
    sched_setaffinity(0, sizeof set, &set);
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
    t.patches = calloc(CACHE, sizeof *t.patches);
    t.out = fopen(argv[optind], "w");
    if (!t.out || !t.known || !t.patches)
        fail(argv[optind]);
    if (pgk_insn_decoder_open(&t.decoder, pgk_machine_find(EM_X86_64), PGK_INSN_READABLE, &err))
        return 2;
    stay_on_this_processor();
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
    pgk_vec_free(&t.passed);
    pgk_vec_free(&t.seen);
    free(t.known);
    free(t.patches);
    return fclose(t.out) ? 2 : status;
}
