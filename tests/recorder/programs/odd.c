/* Instructions that programs seldom have, one after the other, so that windows begin, and end,
 * anywhere among them. Prints what is left of registers, flags and memory.
 * usage: odd ROUNDS */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Named in assembly, too. */
uint8_t table[256], from[256], to[256];
uint64_t cell[8] __attribute__((aligned(16)));

/* Each piece takes `x`, changes it and memory, and leaves the flags of `sum` behind. */
static uint64_t strings(uint64_t x)
{
    uint64_t count = x % 64 + 1;
    void *s = from, *d = to, *a = from;
    __asm__ volatile("cld\n rep movsb" : "+S"(s), "+D"(d), "+c"(count) : : "memory");
    count = 32;
    d = to + 64;
    __asm__ volatile("rep stosb" : "+D"(d), "+c"(count) : "a"(x) : "memory");
    count = 200;
    __asm__ volatile("repne scasb" : "+D"(a), "+c"(count) : "a"(x & 63) : "memory", "cc");
    x += count;
    s = from + 255, d = to + 255, count = 16;
    __asm__ volatile("std\n rep movsb\n cld" : "+S"(s), "+D"(d), "+c"(count) : : "memory");
    s = from, d = to, count = 256;
    __asm__ volatile("repe cmpsb" : "+S"(s), "+D"(d), "+c"(count) : : "memory", "cc");
    return x * 31 + count;
}

static uint64_t flags(uint64_t x)
{
    uint64_t y = x | 1, f;
    __asm__ volatile("add %1, %0\n lahf\n movzx %%ah, %%eax\n add %%rax, %1\n shl $1, %0\n"
                     "sahf\n adc $7, %0\n cmc\n rcl $3, %0\n stc\n sbb %1, %0\n pushf\n popq %2\n"
                     "and $0x8d5, %2\n bt $5, %0\n setc %b1\n bts $9, %0\n btr $11, %0\n"
                     "btc $13, %0"
                     : "+r"(x), "+r"(y), "=&r"(f) : : "rax", "cc");
    return x ^ y << 7 ^ f;
}

static uint64_t stack(uint64_t x)
{
    uint64_t y;
    __asm__ volatile("sub $128, %%rsp\n push %0\n pushq 8+cell(%%rip)\n pushw $77\n popw %w1\n"
                     "popq %1\n add %1, (%%rsp)\n popq %0\n enter $64, $0\n mov %0, -8(%%rbp)\n"
                     "mov -8(%%rbp), %1\n leave\n push $-5\n add (%%rsp), %0\n"
                     "lea 8(%%rsp), %%rsp\n xchg %0, %1\n call 1f\n jmp 3f\n"
                     "1: call *2f(%%rip)\n ret\n .pushsection .data.rel.ro,\"aw\"\n"
                     ".p2align 3\n 2: .quad 4f\n .popsection\n"
                     "4: lea (%0,%1,2), %0\n ret $0\n 3: add $128, %%rsp"
                     : "+r"(x), "=&r"(y) : : "memory", "cc");
    return x + y;
}

static uint64_t loops(uint64_t x)
{
    uint64_t count = x % 9 + 2, sum = x;
    __asm__ volatile("1: lea 3(%1,%1,4), %1\n loop 1b\n mov $5, %%ecx\n 2: dec %1\n cmp $0, %1\n"
                     "loopne 2b\n jrcxz 3f\n add %%rcx, %1\n 3: jecxz 4f\n inc %1\n 4:"
                     : "+c"(count), "+r"(sum) : : "cc");
    return sum;
}

static uint64_t atomics(uint64_t x)
{
    uint64_t a = cell[0], d = cell[1], y = x;
    __asm__ volatile("lock xadd %0, 16+cell(%%rip)\n lock incq 24+cell(%%rip)\n"
                     "xchg %0, 32+cell(%%rip)\n lock btsq $7, 24+cell(%%rip)\n"
                     "movq 40+cell(%%rip), %%rax\n lock cmpxchg %0, 40+cell(%%rip)"
                     : "+r"(y) : : "rax", "memory", "cc");
    __asm__ volatile("lock cmpxchg16b cell(%%rip)"
                     : "+a"(a), "+d"(d) : "b"(y), "c"(x) : "memory", "cc");
    return y ^ a + d;
}

static uint64_t vectors(uint64_t x)
{
    uint64_t y;
    double z;
    __asm__ volatile("movq %2, %%xmm0\n pshufd $0x1b, %%xmm0, %%xmm1\n paddq %%xmm0, %%xmm1\n"
                     "pxor cell(%%rip), %%xmm1\n cvtsi2sd %k2, %%xmm2\n sqrtsd %%xmm2, %%xmm2\n"
                     "ucomisd %%xmm2, %%xmm0\n movmskpd %%xmm1, %k0\n movq %%xmm1, %0\n"
                     "movntiq %0, 48+cell(%%rip)\n sfence\n movsd %%xmm2, %1"
                     : "=&r"(y), "=m"(z) : "r"(x & 0xffff) : "xmm0", "xmm1", "xmm2", "memory",
                       "cc");
    __asm__ volatile("fildq 48+cell(%%rip)\n fld1\n faddp\n fxch\n fstpl %0\n fldpi\n fstp %%st(0)"
                     : "+m"(z) : : "memory", "st");
    memcpy(&x, &z, sizeof x);
    return x ^ y;
}

static uint64_t rest(uint64_t x)
{
    uint64_t y = x | 3, b = (uint64_t)(uintptr_t)table;
    __asm__ volatile("mov %b0, %%al\n xlat\n movzx %%al, %%eax\n add %%rax, %0\n bswap %0\n"
                     "shld $9, %1, %0\n shrd $3, %0, %1\n bsf %1, %%rax\n cmovz %0, %%rax\n"
                     "mov %0, %%rax\n cqo\n idiv %1\n add %%rdx, %0\n imul $77, %1, %1\n"
                     "mul %1\n add %%rdx, %0\n cwde\n cbw\n nopw 8(%%rax,%%rax)\n endbr64\n"
                     "prefetcht0 table(%%rip)\n movsbl table+3(%%rip), %%eax\n add %%rax, %0\n"
                     "cmpw $3, table+4(%%rip)\n seta %b1\n pause\n lfence"
                     : "+r"(x), "+r"(y) : "b"(b) : "rax", "rdx", "memory", "cc");
    return x + y;
}

int main(int argc, char **argv)
{
    static uint64_t (*const pieces[])(uint64_t) = {strings, flags, stack,   loops,
                                                   atomics, vectors, rest};
    const int rounds = argc > 1 ? atoi(argv[1]) : 1000;
    uint64_t x = 1, sum = 0;
    for (int i = 0; i < 256; i++) {
        table[i] = (uint8_t)(i * 7 + 3);
        from[i] = (uint8_t)(i * 5);
    }
    for (int i = 0; i < rounds; i++)
        for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++)
            sum = sum * 3 ^ (x = pieces[k](x) % 1000003 + (uint64_t)i);
    for (int i = 0; i < 8; i++)
        sum = sum * 5 ^ cell[i];
    for (int i = 0; i < 256; i++)
        sum = sum * 7 ^ to[i];
    printf("%016llx\n", (unsigned long long)sum);
    return 0;
}
