// Code that is left in its middle, by exceptions and by longjmp, and objects that end between two
// accesses through one pointer. Prints `site objects bytes accesses least most` as random_access.c
// does; the truth is kept in memory that is not on the heap.
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#define UNKNOWN(p) __asm__ volatile("" : "+r"(p) : : "memory")

static long truth;
static jmp_buf back;

#define SITE(name)                                  \
    extern "C" __attribute__((noipa)) long *name(); \
    long *name()                                    \
    {                                               \
        long *p = static_cast<long *>(malloc(64));  \
        UNKNOWN(p);                                 \
        return p;                                   \
    }

SITE(thrown)
SITE(jumped)
SITE(freed)

__attribute__((noipa)) static void may_throw(int i)
{
    if (i % 3 == 1)
        throw i;
}

__attribute__((noipa)) static void may_jump(int i)
{
    if (i % 5 == 2)
        longjmp(back, 1);
}

__attribute__((noipa)) static void throws(long *p, int i)
{
    truth += 2;
    p[0] = i;
    p[4] = i;
    try {
        may_throw(i);
        truth += 1;
        p[2] = i;
        may_throw(i + 1);
        truth += 3;
        p[3] += p[0];
    } catch (int caught) {
        truth += 2;
        p[caught % 2 + 5] += 1;
    }
    truth += 1;
    p[7] = i;
}

__attribute__((noipa)) static void jumps(long *volatile p, int i)
{
    if (setjmp(back)) {
        truth += 2;
        p[3] = 1;
        p[4] = 1;
        return;
    }
    truth += 1;
    p[0] = i;
    may_jump(i);
    truth += 1;
    p[1] = i;
}

/* The second object is where the first one was, as often as not. */
__attribute__((noipa)) static void frees(int i)
{
    long *p = freed();
    truth += 2;
    p[0] = i;
    p[2] = i;
    UNKNOWN(p);
    free(p);
    p = freed();
    truth += 1;
    p[1] = i;
    UNKNOWN(p);
    free(p);
}

static void report(const char *name, long objects, long least, long most)
{
    std::printf("%s %ld %ld %ld %ld %ld\n", name, objects, objects * 64, truth, least, most);
    truth = 0;
}

int main()
{
    long *p = thrown();
    for (int i = 0; i < 1000; i++)
        throws(p, i);
    report("thrown", 1, truth, truth);
    free(p);
    p = jumped();
    for (int i = 0; i < 1000; i++)
        jumps(p, i);
    report("jumped", 1, truth, truth);
    free(p);
    for (int i = 0; i < 1000; i++)
        frees(i);
    report("freed", 2000, 1, 2);
    return 0;
}
