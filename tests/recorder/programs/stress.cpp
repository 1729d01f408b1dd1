// What a recorder of branches may get wrong: each part computes a number that only depends on the
// number of rounds, whatever interrupts it. Handlers of signals note where they interrupted the
// program, which must never be in the recorder's copies of code.
//
// usage: stress ROUNDS [PART]...; to be built with -mno-red-zone
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

using u64 = std::uint64_t;

static int rounds;
enum { PLACES = 1 << 16 };
static u64 places[PLACES];
static volatile unsigned places_n;

static void note(void *context)
{
    auto *c = static_cast<ucontext_t *>(context);
    unsigned n = __atomic_fetch_add(&places_n, 1, __ATOMIC_RELAXED);
    places[n % PLACES] = static_cast<u64>(c->uc_mcontext.gregs[REG_RIP]);
}

static u64 mix(u64 h, u64 v)
{
    h ^= v + 0x9e3779b97f4a7c15 + (h << 6) + (h >> 2);
    return h;
}

static __attribute__((noinline)) u64 work(u64 seed, int n)
{
    u64 h = seed;
    for (int i = 0; i < n; i++) {
        switch ((h >> 7) % 5) {
        case 0: h = mix(h, static_cast<u64>(i)); break;
        case 1: h += h << 3; break;
        case 2: h ^= h >> 11; break;
        case 3: h = mix(h, h & 0xff); break;
        default: h = h * 33 + 1;
        }
    }
    return h;
}

static void handle(int sig, void (*handler)(int, siginfo_t *, void *), int flags = 0)
{
    struct sigaction a = {};
    a.sa_sigaction = handler;
    a.sa_flags = SA_SIGINFO | SA_RESTART | flags;
    sigaction(sig, &a, nullptr);
}

// ---- signals that come at any time, by a timer and from a thread

static volatile long alarms;
static void on_alarm(int, siginfo_t *, void *context)
{
    alarms = alarms + 1;
    note(context);
}

static u64 part_signals()
{
    handle(SIGALRM, on_alarm);
    itimerval every = {{0, 300}, {0, 300}}, none = {};
    setitimer(ITIMER_REAL, &every, nullptr);
    u64 h = 1;
    for (int i = 0; i < rounds; i++)
        h = work(h, 20000);
    setitimer(ITIMER_REAL, &none, nullptr);
    return h;
}

// ---- faults: the handler sees where, and goes on behind; or it returns from what is no function

static char stack_memory[65536];
static volatile long faults;
static char *bad;
static void on_fault(int, siginfo_t *info, void *context)
{
    auto *c = static_cast<ucontext_t *>(context);
    note(context);
    greg_t *regs = c->uc_mcontext.gregs;
    faults = faults + (info->si_addr == bad || !info->si_addr) +
             1000000L * !sigisemptyset(&c->uc_sigmask);
    if (regs[REG_RIP]) {
        regs[REG_RIP] += 3; // mov (%rdi), %rax
        regs[REG_RAX] = 42;
        return;
    }
    regs[REG_RIP] = *reinterpret_cast<greg_t *>(regs[REG_RSP]);
    regs[REG_RSP] += static_cast<greg_t>(sizeof(greg_t));
    regs[REG_RAX] = 43;
}
extern "C" u64 load_from(const void *), call_to(u64 (*)());
__asm__(".globl load_from\nload_from:\n  movq (%rdi), %rax\n  addq $1, %rax\n  ret\n"
        ".globl call_to\ncall_to:\n  subq $8, %rsp\n  call *%rdi\n  addq $8, %rsp\n  ret\n");
static __attribute__((noinline)) u64 seven() { return 7; }

static u64 part_faults()
{
    stack_t alt = {};
    alt.ss_sp = stack_memory;
    alt.ss_size = sizeof stack_memory;
    sigaltstack(&alt, nullptr);
    handle(SIGSEGV, on_fault, SA_ONSTACK);
    bad = static_cast<char *>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    u64 h = 1, good = 7;
    for (int i = 0; i < rounds * 20; i++) {
        h = mix(h, load_from(i % 3 ? static_cast<void *>(&good) : bad));
        h = mix(h, call_to(i % 5 ? seven : nullptr));
        h = work(h, 100);
    }
    signal(SIGSEGV, SIG_DFL);
    munmap(bad, 4096);
    return mix(h, static_cast<u64>(faults));
}

// ---- a division by zero that is left by siglongjmp

static sigjmp_buf back;
static void on_division(int, siginfo_t *, void *context)
{
    note(context);
    siglongjmp(back, 1);
}

static u64 part_longjmp()
{
    handle(SIGFPE, on_division);
    u64 h = 1;
    for (volatile int i = 0; i < rounds * 10; i = i + 1) {
        if (!sigsetjmp(back, 1)) {
            volatile int zero = i % 4 ? 1 : 0;
            h = mix(h, static_cast<u64>(100 / zero));
        } else {
            h = mix(h, 5);
        }
        jmp_buf here;
        if (!setjmp(here))
            longjmp(here, 1);
        h = work(h, 200);
    }
    signal(SIGFPE, SIG_DFL);
    return h;
}

// ---- exceptions

static __attribute__((noinline)) u64 thrower(int depth, int i)
{
    std::string s(static_cast<size_t>(depth + 1), 'x');
    if (depth == 0) {
        if (i % 2)
            throw std::runtime_error("thrown");
        return s.size();
    }
    return thrower(depth - 1, i) + s.size();
}

static u64 part_exceptions()
{
    u64 h = 1;
    for (int i = 0; i < rounds * 10; i++) {
        try {
            h = mix(h, thrower(i % 20, i));
        } catch (const std::exception &e) {
            h = mix(h, std::strlen(e.what()));
        }
    }
    return h;
}

// ---- threads that come and go, and wait for each other

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static u64 shared;
static void *thread(void *arg)
{
    u64 h = reinterpret_cast<u64>(arg);
    for (int i = 0; i < 20; i++) {
        h = work(h, 500);
        pthread_mutex_lock(&lock);
        shared += h;
        pthread_mutex_unlock(&lock);
    }
    return reinterpret_cast<void *>(h);
}

static u64 part_threads()
{
    u64 h = 1;
    for (int i = 0; i < rounds / 4 + 1; i++) {
        pthread_t t[4];
        for (int k = 0; k < 4; k++)
            pthread_create(&t[k], nullptr, thread, reinterpret_cast<void *>(i * 4L + k));
        for (auto &one : t) {
            void *result;
            pthread_join(one, &result);
            h = mix(h, reinterpret_cast<u64>(result));
        }
    }
    return mix(h, shared);
}

// ---- children

static u64 part_fork()
{
    u64 h = 1;
    for (int i = 0; i < rounds / 10 + 1; i++) {
        int status = 0;
        const pid_t child = i % 3 == 2 ? vfork() : fork();
        if (!child) {
            if (i % 3 == 0)
                _exit(static_cast<int>(work(h, 20000) & 63));
            execl("/bin/true", "true", nullptr);
            _exit(1);
        }
        waitpid(child, &status, 0);
        h = mix(work(h, 3000), static_cast<u64>(WEXITSTATUS(status)));
    }
    return h;
}

// ---- a library that is loaded and closed

static u64 part_dlopen()
{
    u64 h = 1;
    for (int i = 0; i < rounds / 4 + 1; i++) {
        void *m = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL), *z = dlopen("libz.so.1", RTLD_NOW);
        auto *crc = z ? reinterpret_cast<unsigned long (*)(unsigned long, const char *, unsigned)>(
                            dlsym(z, "crc32"))
                      : nullptr;
        auto *f = reinterpret_cast<double (*)(double)>(dlsym(m, "cbrt"));
        for (int k = 0; k < 2000; k++)
            h = mix(h, static_cast<u64>(f(k) * 1000));
        for (int k = 0; crc && k < 200; k++)
            h = mix(h, crc(h, "some text to sum up", 19));
        if (z)
            dlclose(z);
        dlclose(m);
    }
    return h;
}

// ---- code that changes: made at run time, and patched in the program itself

extern "C" u64 patched(void);
__asm__(".globl patched\n.p2align 6\npatched:\n  movl $1, %eax\n  ret\n  .p2align 6\n");

static __attribute__((noinline)) u64 call_patched(u64 h, int n)
{
    for (int i = 0; i < n; i++)
        h = mix(h, patched());
    return h;
}

static u64 part_code()
{
    u64 h = 1;
    auto *page = reinterpret_cast<char *>(reinterpret_cast<u64>(patched) & ~4095UL);
    auto *made = static_cast<unsigned char *>(mmap(
        nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    h = call_patched(h, rounds * 2000); // copies of it are made, and lead to each other
    mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
    for (int i = 0; i < rounds; i++) {
        reinterpret_cast<unsigned char *>(patched)[1] = static_cast<unsigned char>(i * 3);
        h = call_patched(h, 2000);
    }
    for (int i = 0; i < rounds * 10; i++) {
        const unsigned char code[] = {0xb8, static_cast<unsigned char>(i), 0, 0, 0, 0xc3};
        std::memcpy(made, code, sizeof code);
        reinterpret_cast<unsigned char *>(patched)[1] = static_cast<unsigned char>(i * 7);
        for (int k = 0; k < 20; k++) {
            h = call_patched(h, 1);
            h = mix(h, reinterpret_cast<u64 (*)()>(made)());
        }
    }
    mprotect(page, 8192, PROT_READ | PROT_EXEC);
    munmap(made, 4096);
    return h;
}

// ---- instructions that are rare: loop, jrcxz, rep, operands beside the program counter, red zone

u64 beside[4] = {1, 2, 3, 4};
static u64 part_instructions()
{
    u64 h = 1;
    for (int i = 0; i < rounds * 40; i++) {
        u64 n = static_cast<u64>(i % 7) + 1, sum = 0, a = h, b = n, c = 0, d = 0;
        __asm__ volatile("1: addq %%rcx, %0\n loop 1b\n jrcxz 2f\n addq $1000, %0\n2:"
                         : "+r"(sum), "+c"(n)::"cc");
        __asm__ volatile("movq beside(%%rip), %%rsi\n addq beside+8(%%rip), %%rsi\n"
                         "xaddq %%rsi, beside+16(%%rip)\n movq beside+24(%%rip), %%rdi\n"
                         "leaq beside(%%rip), %%rbx\n addq (%%rbx), %%rsi\n"
                         "cmpxchgq %%rdi, beside+24(%%rip)\n"
                         "movq %%rsi, %0\n movq %%rdi, %1\n"
                         : "=m"(c), "=m"(d)::"rsi", "rdi", "rbx", "rax", "memory", "cc");
        __asm__ volatile("call 2f\n2: popq %%rax\n leaq 2b(%%rip), %%rdx\n subq %%rdx, %%rax\n"
                         "pushfq\n popq %%rdx\n std\n cld\n addq %1, %%rax\n movq %%rax, %0\n"
                         : "+r"(a)
                         : "r"(b)
                         : "rax", "rdx", "memory", "cc");
        unsigned char from[64], to[64];
        std::memset(from, i & 255, sizeof from);
        void *s = from, *t = to;
        u64 bytes = sizeof from;
        __asm__ volatile("rep movsb" : "+S"(s), "+D"(t), "+c"(bytes)::"memory");
        h = mix(mix(mix(h, sum), a + c + d), to[63]);
        beside[2] = static_cast<u64>(i);
    }
    return h;
}

// ---- a handler that runs on another stack and waits in it

static u64 part_stacks()
{
    stack_t alt = {};
    alt.ss_sp = stack_memory;
    alt.ss_size = sizeof stack_memory;
    sigaltstack(&alt, nullptr);
    handle(SIGUSR1, [](int, siginfo_t *, void *context) {
        note(context);
        shared += work(1, 3000);
    }, SA_ONSTACK);
    u64 h = 1;
    for (int i = 0; i < rounds; i++) {
        raise(SIGUSR1);
        h = work(h, 3000);
    }
    return mix(h, shared);
}

// ---- what is set up is what is told, also after a child of vfork has set up something else

extern "C" sighandler_t sysv_signal(int, sighandler_t) noexcept;
static void on_any(int) {}

static u64 part_handlers()
{
    u64 h = 1;
    for (int i = 0; i < rounds / 10 + 1; i++) {
        const int sigs[] = {SIGSEGV, SIGBUS, SIGTRAP, SIGUSR2};
        for (int sig : sigs) {
            struct sigaction now = {};
            h = mix(h, signal(sig, on_any) == SIG_DFL);
            const pid_t child = vfork();
            if (!child) {
                signal(sig, SIG_IGN);
                _exit(0);
            }
            waitpid(child, nullptr, 0);
            sigaction(sig, nullptr, &now);
            h = mix(h, now.sa_handler == on_any);
            h = mix(h, static_cast<u64>(now.sa_flags & ~0x04000000)); // SA_RESTORER
            h = mix(h, sysv_signal(sig, SIG_IGN) == on_any);
            h = mix(h, sysv_signal(sig, on_any) == SIG_IGN);
            raise(sig);
            h = mix(h, signal(sig, SIG_DFL) == SIG_DFL);
        }
        h = work(h, 3000);
    }
    return h;
}

// ---- floating point and vectors stay as they are

static u64 part_vectors()
{
    std::vector<double> v(256);
    for (size_t i = 0; i < v.size(); i++)
        v[i] = static_cast<double>(i) * 0.5;
    for (int r = 0; r < rounds * 4; r++)
        for (size_t i = 1; i < v.size(); i++) {
            v[i] = v[i] * 0.999 + v[i - 1] * 0.001;
            if (v[i] > 100)
                v[i] -= 50;
        }
    u64 h = 1;
    for (double d : v) {
        u64 bits;
        std::memcpy(&bits, &d, sizeof bits);
        h = mix(h, bits);
    }
    return h;
}

// ---- where handlers have been

static int count_seen_copies()
{
    char line[512];
    int seen = 0;
    FILE *maps = std::fopen("/proc/self/maps", "r");
    while (maps && std::fgets(line, sizeof line, maps)) {
        u64 from, to;
        if (std::strstr(line, "memfd:pgokit") && std::sscanf(line, "%lx-%lx", &from, &to) == 2)
            for (unsigned i = 0; i < places_n && i < PLACES; i++)
                seen += places[i] >= from && places[i] < to;
    }
    if (maps)
        std::fclose(maps);
    return seen;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        u64 (*run)();
    } parts[] = {{"signals", part_signals}, {"faults", part_faults}, {"longjmp", part_longjmp},
                 {"exceptions", part_exceptions}, {"threads", part_threads}, {"fork", part_fork},
                 {"dlopen", part_dlopen}, {"code", part_code},
                 {"instructions", part_instructions}, {"stacks", part_stacks},
                 {"handlers", part_handlers}, {"vectors", part_vectors}};
    rounds = argc > 1 ? std::atoi(argv[1]) : 100;
    for (const auto &part : parts) {
        bool asked = argc <= 2;
        for (int i = 2; i < argc; i++)
            asked |= !std::strcmp(argv[i], part.name);
        if (!asked)
            continue;
        shared = 0;
        std::printf("%s %016lx\n", part.name, part.run());
        std::fflush(stdout);
    }
    std::printf("handlers that saw copies: %d\n", count_seen_copies());
    return 0;
}
