/* Comparisons of types in code that was assembled from what compilers emit. */
#include "elf_image.h"

#include "elf_priv.h"
#include "mem.h"
#include "type_tests.h"

enum { CODE = 0x2000, TABLES = 0x4000, ONE = TABLES, TWO = TABLES + 0x40, SLOTS = 0x5000 };

/* Tables of 40 bytes at ONE and of 64 at TWO, the second of which has one for a second base at
 * 0x70 of the page; slots with the addresses of ONE and of a table of another file. */
static const uint8_t x86[] = {
    /* 2000 plain */
    0x48, 0x8b, 7, /* 2000 movq (%rdi), %rax */
    0x48, 0x8d, 0xd, 6, 0x20, 0, 0, /* 2003 leaq 0x2006(%rip), %rcx */
    0x48, 0x39, 0xc8, /* 200a cmpq %rcx, %rax */
    0x75, 1, /* 200d jne 0x2010 */
    0xc3, /* 200f retq */
    0xff, 0x60, 0x10, /* 2010 jmpq *0x10(%rax) */
    /* 2013 second */
    0x48, 0x81, 0x3f, 0x70, 0x40, 0, 0, /* 2013 cmpq $0x4070, (%rdi) */
    0x74, 6, /* 201a je 0x2022 */
    0x48, 0x8b, 7, /* 201c movq (%rdi), %rax */
    0xff, 0x50, 8, /* 201f callq *0x8(%rax) */
    0xc3, /* 2022 retq */
    /* 2023 slot */
    0x48, 0x8b, 0xd, 0xd6, 0x2f, 0, 0, /* 2023 movq 0x2fd6(%rip), %rcx */
    0x48, 0x83, 0xc1, 0x10, /* 202a addq $0x10, %rcx */
    0x48, 0x39, 0xf, /* 202e cmpq %rcx, (%rdi) */
    0x75, 1, /* 2031 jne 0x2034 */
    0xc3, /* 2033 retq */
    0xff, 0x60, 8, /* 2034 jmpq *0x8(%rax) */
    /* 2037 foreign */
    0x48, 0x8b, 0xd, 0xca, 0x2f, 0, 0, /* 2037 movq 0x2fca(%rip), %rcx */
    0x48, 0x83, 0xc1, 0x10, /* 203e addq $0x10, %rcx */
    0x48, 0x3b, 0xf, /* 2042 cmpq (%rdi), %rcx */
    0x75, 1, /* 2045 jne 0x2048 */
    0xc3, /* 2047 retq */
    0xff, 0x60, 8, /* 2048 jmpq *0x8(%rax) */
    /* 204b loop */
    0x48, 0x8d, 0x1d, 0xbe, 0x1f, 0, 0, /* 204b leaq 0x1fbe(%rip), %rbx */
    0x41, 0xbc, 0x50, 0x40, 0, 0, /* 2052 movl $0x4050, %r12d */
    0x48, 0x8b, 7, /* 2058 movq (%rdi), %rax */
    0x48, 0x39, 0xd8, /* 205b cmpq %rbx, %rax */
    0x74, 5, /* 205e je 0x2065 */
    0x4c, 0x39, 0xe0, /* 2060 cmpq %r12, %rax */
    0x75, 7, /* 2063 jne 0x206c */
    0xe8, 0x96, 0xff, 0xff, 0xff, /* 2065 callq 0x2000 */
    0xeb, 3, /* 206a jmp 0x206f */
    0xff, 0x50, 0x10, /* 206c callq *0x10(%rax) */
    0xff, 0xcd, /* 206f decl %ebp */
    0x75, 0xe5, /* 2071 jne 0x2058 */
    0xc3, /* 2073 retq */
    /* 2074 choice */
    0x48, 0x8d, 0xd, 0x95, 0x1f, 0, 0, /* 2074 leaq 0x1f95(%rip), %rcx */
    0x48, 0x39, 0xf, /* 207b cmpq %rcx, (%rdi) */
    0xbe, 1, 0, 0, 0, /* 207e movl $0x1, %esi */
    0xf, 0x94, 0xc0, /* 2083 sete %al */
    0xc3, /* 2086 retq */
    /* 2087 clobbered */
    0x48, 0x8d, 0xd, 0x82, 0x1f, 0, 0, /* 2087 leaq 0x1f82(%rip), %rcx */
    0xe8, 0x6d, 0xff, 0xff, 0xff, /* 208e callq 0x2000 */
    0x48, 0x39, 0xc8, /* 2093 cmpq %rcx, %rax */
    0x75, 1, /* 2096 jne 0x2099 */
    0x90, /* 2098 nop */
    0xc3, /* 2099 retq */
    /* 209a differs */
    0x85, 0xf6, /* 209a testl %esi, %esi */
    0x74, 9, /* 209c je 0x20a7 */
    0x48, 0x8d, 0xd, 0x6b, 0x1f, 0, 0, /* 209e leaq 0x1f6b(%rip), %rcx */
    0xeb, 7, /* 20a5 jmp 0x20ae */
    0x48, 0x8d, 0xd, 0xa2, 0x1f, 0, 0, /* 20a7 leaq 0x1fa2(%rip), %rcx */
    0x48, 0x39, 0xc8, /* 20ae cmpq %rcx, %rax */
    0x75, 1, /* 20b1 jne 0x20b4 */
    0x90, /* 20b3 nop */
    0xc3, /* 20b4 retq */
    /* 20b5 elsewhere */
    0x48, 0x8d, 0xd, 0x44, 0x1f, 0, 0, /* 20b5 leaq 0x1f44(%rip), %rcx */
    0x48, 0x39, 0xc8, /* 20bc cmpq %rcx, %rax */
    0x75, 0x16, /* 20bf jne 0x20d7 */
    0x48, 0x8d, 0xd, 0x4c, 0x1f, 0, 0, /* 20c1 leaq 0x1f4c(%rip), %rcx */
    0x48, 0x39, 0xc8, /* 20c8 cmpq %rcx, %rax */
    0x75, 0xa, /* 20cb jne 0x20d7 */
    0x48, 0x8d, 0xd, 0x54, 0x1f, 0, 0, /* 20cd leaq 0x1f54(%rip), %rcx */
    0x48, 0x39, 0xc8, /* 20d4 cmpq %rcx, %rax */
    0x75, 0x1f, /* 20d7 jne 0x20f8 */
    0x48, 0x8d, 0xd, 0x30, 0x1f, 0, 0, /* 20d9 leaq 0x1f30(%rip), %rcx */
    0x48, 0x39, 0xc8, /* 20e0 cmpq %rcx, %rax */
    0xff, 0xc6, /* 20e3 incl %esi */
    0x74, 0x11, /* 20e5 je 0x20f8 */
    0x48, 0x39, 0xc8, /* 20e7 cmpq %rcx, %rax */
    0x72, 0xc, /* 20ea jb 0x20f8 */
    0x48, 0x8d, 5, 0x1d, 0x1f, 0, 0, /* 20ec leaq 0x1f1d(%rip), %rax */
    0x48, 0x39, 0xc8, /* 20f3 cmpq %rcx, %rax */
    0x74, 0, /* 20f6 je 0x20f8 */
    0xc3, /* 20f8 retq */
    /* 20f9 read */
    0x48, 0x8b, 7, /* 20f9 movq (%rdi), %rax */
    0x48, 0x8b, 0x48, 0x10, /* 20fc movq 0x10(%rax), %rcx */
    0x48, 0x8d, 0x15, 9, 0x1f, 0, 0, /* 2100 leaq 0x1f09(%rip), %rdx */
    0x48, 0x39, 0xd0, /* 2107 cmpq %rdx, %rax */
    0x75, 1, /* 210a jne 0x210d */
    0xc3, /* 210c retq */
    0xff, 0xe1, /* 210d jmpq *%rcx */
    /* 210f spilled */
    0x48, 0x8d, 5, 0xfa, 0x1e, 0, 0, /* 210f leaq 0x1efa(%rip), %rax */
    0x48, 0x89, 0x44, 0x24, 8, /* 2116 movq %rax, 0x8(%rsp) */
    0xe8, 0xe0, 0xfe, 0xff, 0xff, /* 211b callq 0x2000 */
    0x48, 0x8b, 0xf, /* 2120 movq (%rdi), %rcx */
    0x48, 0x3b, 0x4c, 0x24, 8, /* 2123 cmpq 0x8(%rsp), %rcx */
    0x75, 1, /* 2128 jne 0x212b */
    0xc3, /* 212a retq */
    0xff, 0x61, 0x10, /* 212b jmpq *0x10(%rcx) */
    /* 212e overwritten */
    0x48, 0x8d, 5, 0xdb, 0x1e, 0, 0, /* 212e leaq 0x1edb(%rip), %rax */
    0x48, 0x89, 0x44, 0x24, 8, /* 2135 movq %rax, 0x8(%rsp) */
    0xc6, 0x44, 0x24, 0xf, 0, /* 213a movb $0, 0xf(%rsp) */
    0x48, 0x3b, 0x4c, 0x24, 8, /* 213f cmpq 0x8(%rsp), %rcx */
    0x75, 0, /* 2144 jne 0x2146 */
    0xc3, /* 2146 retq */
    /* 2147 object */
    0x48, 0x8d, 5, 0xc2, 0x1e, 0, 0, /* 2147 leaq 0x1ec2(%rip), %rax */
    0x48, 0x89, 0x44, 0x24, 8, /* 214e movq %rax, 0x8(%rsp) */
    0xe8, 0xa8, 0xfe, 0xff, 0xff, /* 2153 callq 0x2000 */
    0x48, 0x8b, 0x44, 0x24, 8, /* 2158 movq 0x8(%rsp), %rax */
    0x48, 0x8d, 0xd, 0xec, 0x1e, 0, 0, /* 215d leaq 0x1eec(%rip), %rcx */
    0x48, 0x39, 0xc8, /* 2164 cmpq %rcx, %rax */
    0x75, 1, /* 2167 jne 0x216a */
    0xc3, /* 2169 retq */
    0xff, 0x60, 0x10, /* 216a jmpq *0x10(%rax) */
};

static const uint8_t arm64[] = {
    /* 2000 plain */
    8, 0, 0, 0xd0, /* 2000 adrp x8, 0x4000 */
    8, 0x41, 0, 0x91, /* 2004 add x8, x8, #0x10 */
    9, 0, 0x40, 0xf9, /* 2008 ldr x9, [x0] */
    0x3f, 1, 8, 0xeb, /* 200c cmp x9, x8 */
    0x41, 0, 0, 0x54, /* 2010 b.ne 0x2018 */
    0xc0, 3, 0x5f, 0xd6, /* 2014 ret */
    0x28, 9, 0x40, 0xf9, /* 2018 ldr x8, [x9, #0x10] */
    0, 1, 0x1f, 0xd6, /* 201c br x8 */
    /* 2020 slot */
    8, 0, 0, 0xf0, /* 2020 adrp x8, 0x5000 */
    8, 1, 0x40, 0xf9, /* 2024 ldr x8, [x8] */
    8, 0x41, 0, 0x91, /* 2028 add x8, x8, #0x10 */
    9, 0, 0x40, 0xf9, /* 202c ldr x9, [x0] */
    0x3f, 1, 8, 0xeb, /* 2030 cmp x9, x8 */
    0x60, 0, 0, 0x54, /* 2034 b.eq 0x2040 */
    0x28, 5, 0x40, 0xf9, /* 2038 ldr x8, [x9, #0x8] */
    0, 1, 0x1f, 0xd6, /* 203c br x8 */
    0xc0, 3, 0x5f, 0xd6, /* 2040 ret */
    /* 2044 two */
    8, 0, 0, 0xd0, /* 2044 adrp x8, 0x4000 */
    8, 0x41, 0, 0x91, /* 2048 add x8, x8, #0x10 */
    0xa, 0, 0, 0xd0, /* 204c adrp x10, 0x4000 */
    0x4a, 0xc1, 1, 0x91, /* 2050 add x10, x10, #0x70 */
    9, 0, 0x40, 0xf9, /* 2054 ldr x9, [x0] */
    0x3f, 1, 8, 0xeb, /* 2058 cmp x9, x8 */
    0xeb, 3, 0xa, 0xaa, /* 205c mov x11, x10 */
    0x24, 0x11, 0x4b, 0xfa, /* 2060 ccmp x9, x11, #0x4, ne */
    0x41, 0, 0, 0x54, /* 2064 b.ne 0x206c */
    0xc0, 3, 0x5f, 0xd6, /* 2068 ret */
    0x28, 9, 0x40, 0xf9, /* 206c ldr x8, [x9, #0x10] */
    0, 1, 0x1f, 0xd6, /* 2070 br x8 */
    /* 2074 choice */
    8, 0, 0, 0xd0, /* 2074 adrp x8, 0x4000 */
    8, 0x41, 0, 0x91, /* 2078 add x8, x8, #0x10 */
    0x3f, 1, 8, 0xeb, /* 207c cmp x9, x8 */
    0xe0, 0x17, 0x9f, 0x1a, /* 2080 cset w0, eq */
    0xc0, 3, 0x5f, 0xd6, /* 2084 ret */
    /* 2088 spilled */
    8, 0, 0, 0xd0, /* 2088 adrp x8, 0x4000 */
    8, 0x41, 0, 0x91, /* 208c add x8, x8, #0x10 */
    0xe8, 7, 0, 0xf9, /* 2090 str x8, [sp, #8] */
    0xdb, 0xff, 0xff, 0x97, /* 2094 bl 0x2000 */
    9, 0, 0x40, 0xf9, /* 2098 ldr x9, [x0] */
    0xe8, 7, 0x40, 0xf9, /* 209c ldr x8, [sp, #8] */
    0x3f, 1, 8, 0xeb, /* 20a0 cmp x9, x8 */
    0x41, 0, 0, 0x54, /* 20a4 b.ne #8 */
    0xc0, 3, 0x5f, 0xd6, /* 20a8 ret */
    0x28, 9, 0x40, 0xf9, /* 20ac ldr x8, [x9, #0x10] */
    0, 1, 0x1f, 0xd6, /* 20b0 br x8 */
    /* 20b4 overwritten */
    8, 0, 0, 0xd0, /* 20b4 adrp x8, 0x4000 */
    8, 0x41, 0, 0x91, /* 20b8 add x8, x8, #0x10 */
    0xa8, 3, 0x1f, 0xf8, /* 20bc stur x8, [x29, #-16] */
    0xbf, 0x73, 0x1f, 0x38, /* 20c0 strb wzr, [x29, #-9] */
    0xa8, 3, 0x5f, 0xf8, /* 20c4 ldur x8, [x29, #-16] */
    0x3f, 1, 8, 0xeb, /* 20c8 cmp x9, x8 */
    0x21, 0, 0, 0x54, /* 20cc b.ne #4 */
    0xc0, 3, 0x5f, 0xd6, /* 20d0 ret */
    /* 20d4 moved */
    8, 0, 0, 0xd0, /* 20d4 adrp x8, 0x4000 */
    8, 0x41, 0, 0x91, /* 20d8 add x8, x8, #0x10 */
    0xe8, 7, 0, 0xf9, /* 20dc str x8, [sp, #8] */
    0xff, 0x43, 0, 0xd1, /* 20e0 sub sp, sp, #16 */
    0xe8, 7, 0x40, 0xf9, /* 20e4 ldr x8, [sp, #8] */
    0x3f, 1, 8, 0xeb, /* 20e8 cmp x9, x8 */
    0x21, 0, 0, 0x54, /* 20ec b.ne #4 */
    0xc0, 3, 0x5f, 0xd6, /* 20f0 ret */
};

struct function {
    const char *name;
    uint64_t addr;
};

static const struct function x86_functions[] = {
    {"plain", 0x2000},     {"second", 0x2013},  {"slot", 0x2023},
    {"foreign", 0x2037},   {"loop", 0x204b},    {"choice", 0x2074},
    {"clobbered", 0x2087}, {"differs", 0x209a}, {"elsewhere", 0x20b5},
    {"read", 0x20f9},      {"spilled", 0x210f}, {"overwritten", 0x212e},
    {"object", 0x2147},
};
static const struct function arm64_functions[] = {
    {"plain", 0x2000}, {"slot", 0x2020}, {"two", 0x2044}, {"choice", 0x2074},
    {"spilled", 0x2088}, {"overwritten", 0x20b4}, {"moved", 0x20d4}};

struct image {
    struct test_bytes symbols, names, elf;
};

static void add_symbol(struct image *i, const char *name, unsigned type, uint64_t addr,
                       uint64_t size, unsigned section)
{
    const Elf64_Sym s = {.st_name = (Elf64_Word)i->names.n,
                         .st_info = (unsigned char)(type | STB_GLOBAL << 4),
                         .st_shndx = (Elf64_Section)section,
                         .st_value = addr,
                         .st_size = size};
    tb_str(&i->names, name);
    tb_put(&i->symbols, &s, sizeof s);
}

static struct pgk_elf *open_image(struct image *i, bool is_arm)
{
    static const uint8_t tables[0x80], slots[16];
    static const char dynamic_names[] = "\0_ZTV5Other";
    const Elf64_Sym dynamic[] = {{0}, {.st_name = 1, .st_info = STT_OBJECT | STB_GLOBAL << 4}};
    const unsigned relative = is_arm ? R_AARCH64_RELATIVE : R_X86_64_RELATIVE,
                   named = is_arm ? R_AARCH64_GLOB_DAT : R_X86_64_GLOB_DAT;
    const Elf64_Rela patches[] = {{SLOTS, ELF64_R_INFO((uint64_t)0, relative), ONE},
                                  {SLOTS + 8, ELF64_R_INFO((uint64_t)1, named), 0}};
    const struct function *f = is_arm ? arm64_functions : x86_functions;
    size_t n = is_arm ? PGK_COUNTOF(arm64_functions) : PGK_COUNTOF(x86_functions);
    struct pgk_elf *elf;
    const struct test_section sections[] = {
        {".text", 0, SHF_ALLOC | SHF_EXECINSTR, is_arm ? arm64 : x86,
         is_arm ? sizeof arm64 : sizeof x86, 0, CODE},
        {".data.rel.ro", 0, SHF_ALLOC, tables, sizeof tables, 0, TABLES},
        {".got", 0, SHF_ALLOC, slots, sizeof slots, 0, SLOTS},
        {".symtab", SHT_SYMTAB, 0, i->symbols.v, 0, 5, 0},
        {".strtab", SHT_STRTAB, 0, NULL, 0, 0, 0},
        {".rela.dyn", SHT_RELA, SHF_ALLOC, patches, sizeof patches, 7, 0x200},
        {".dynsym", SHT_DYNSYM, SHF_ALLOC, dynamic, sizeof dynamic, 8, 0x300},
        {".dynstr", SHT_STRTAB, SHF_ALLOC, dynamic_names, sizeof dynamic_names, 0, 0x400},
    };
    struct test_section all[PGK_COUNTOF(sections)];
    memcpy(all, sections, sizeof all);
    *i = (struct image){0};
    tb_u8(&i->names, 0);
    tb_put(&i->symbols, &(Elf64_Sym){0}, sizeof(Elf64_Sym));
    for (size_t k = 0; k < n; k++)
        add_symbol(i, f[k].name, STT_FUNC, f[k].addr, 1, 1);
    add_symbol(i, "_ZTV3One", STT_OBJECT, ONE, 40, 2);
    add_symbol(i, "_ZTVN12_GLOBAL__N_13TwoE.llvm.123", STT_OBJECT, TWO, 64, 2);
    all[3].bytes = i->symbols.v;
    all[3].size = i->symbols.n;
    all[4].bytes = i->names.v;
    all[4].size = i->names.n;
    i->elf = test_elf(ET_DYN, all, PGK_COUNTOF(all));
    if (is_arm)
        ((Elf64_Ehdr *)(void *)i->elf.v)->e_machine = EM_AARCH64;
    assert_int_equal(pgk_elf_open_memory(&elf, i->elf.v, i->elf.n, "image", PGK_ELF_PROGRAM, NULL),
                     0);
    return elf;
}

struct opened {
    struct image image;
    struct pgk_elf *elf;
    struct pgk_code code;
    struct pgk_vtable_symbols tables;
    struct pgk_type_tests tests;
};

static struct opened open_all(bool is_arm)
{
    struct opened o = {0};
    o.elf = open_image(&o.image, is_arm);
    assert_int_equal(pgk_code_open(&o.code, o.elf, NULL), 0);
    assert_true(pgk_vtable_symbols_open(&o.tables, o.elf));
    return o;
}

static void close_all(struct opened *o)
{
    pgk_type_tests_free(&o->tests);
    pgk_vtable_symbols_free(&o->tables);
    pgk_code_close(&o->code);
    pgk_elf_close(&o->elf);
    tb_free(&o->image.symbols), tb_free(&o->image.names), tb_free(&o->image.elf);
}

struct expected {
    uint64_t at, branch, target, behind;
    bool if_equal, no_branch;
    uint32_t tables;
    const char *table;
    uint64_t call; /* of all other types */
    bool is_read;
};

static void expect(struct opened *o, const struct expected *want, size_t n)
{
    assert_int_equal(o->tests.list.n, n);
    for (size_t i = 0; i < n; i++) {
        const struct pgk_type_test *t = &o->tests.list.v[i];
        assert_int_equal(t->at, want[i].at);
        assert_int_equal(t->branch, want[i].branch);
        assert_int_equal(t->tables, want[i].tables);
        assert_int_equal(t->no_branch, want[i].no_branch);
        assert_int_equal(t->is_read, want[i].is_read);
        assert_int_equal(t->table_len, strlen(want[i].table));
        assert_memory_equal(t->table, want[i].table, t->table_len);
        if (t->no_branch)
            continue;
        assert_int_equal(t->target, want[i].target);
        assert_int_equal(t->behind, want[i].behind);
        assert_int_equal(t->if_equal, want[i].if_equal);
        assert_int_equal(pgk_type_test_call(&o->tests, &o->code, t), want[i].call);
    }
}

#define TWO_NAME "_ZTVN12_GLOBAL__N_13TwoE"

/* Not those of registers that a call may have changed, or that hold one of two tables; of addresses
 * that no object points to; of what is known; and whose flags are overwritten. What is kept in the
 * frame is known until it is overwritten, but an object there may have become another one. */
static void comparisons_on_x86(void **state)
{
    (void)state;
    static const struct expected want[] = {
        {0x200a, 0x200d, 0x2010, 0x200f, false, false, 1, "_ZTV3One", 0x2010},
        {0x2013, 0x201a, 0x2022, 0x201c, true, false, 1, TWO_NAME, 0x201f},
        {0x202e, 0x2031, 0x2034, 0x2033, false, false, 1, "_ZTV3One", 0x2034},
        {0x2042, 0x2045, 0x2048, 0x2047, false, false, 1, "_ZTV5Other", 0x2048},
        {0x205b, 0x205e, 0x2065, 0x2060, true, false, 1, "_ZTV3One", 0x206c},
        {0x2060, 0x2063, 0x206c, 0x2065, false, false, 1, TWO_NAME, 0x206c},
        {0x207b, 0x2083, 0, 0, false, true, 1, "_ZTV3One", 0},
        {0x2107, 0x210a, 0x210d, 0x210c, false, false, 1, "_ZTV3One", 0x210d, true},
        {0x2123, 0x2128, 0x212b, 0x212a, false, false, 1, "_ZTV3One", 0x212b},
        {0x2164, 0x2167, 0x216a, 0x2169, false, false, 1, TWO_NAME, 0x216a},
    };
    struct opened o = open_all(false);
    uint64_t all[PGK_COUNTOF(x86_functions)];
    for (size_t i = 0; i < PGK_COUNTOF(all); i++)
        all[i] = x86_functions[i].addr;
    assert_int_equal(
        pgk_type_tests_find(&o.tests, &o.code, &o.tables, all, PGK_COUNTOF(all), NULL), 0);
    expect(&o, want, PGK_COUNTOF(want));
    assert_int_equal(pgk_type_tests_from(&o.tests, 0), 0);
    assert_int_equal(pgk_type_tests_from(&o.tests, 0x200d), 0);
    assert_int_equal(pgk_type_tests_from(&o.tests, 0x200e), 1);
    assert_int_equal(pgk_type_tests_from(&o.tests, UINT64_MAX), PGK_COUNTOF(want));
    close_all(&o);
}

static void comparisons_on_arm64(void **state)
{
    (void)state;
    static const struct expected want[] = {
        {0x200c, 0x2010, 0x2018, 0x2014, false, false, 1, "_ZTV3One", 0x201c},
        {0x2030, 0x2034, 0x2040, 0x2038, true, false, 1, "_ZTV3One", 0x203c},
        {0x2058, 0x2064, 0x206c, 0x2068, false, false, 2, "_ZTV3One", 0x2070},
        {0x2060, 0x2064, 0x206c, 0x2068, false, false, 2, TWO_NAME, 0x2070},
        {0x207c, 0x2080, 0, 0, false, true, 1, "_ZTV3One", 0},
        {0x20a0, 0x20a4, 0x20ac, 0x20a8, false, false, 1, "_ZTV3One", 0x20b0},
    };
    struct opened o = open_all(true);
    uint64_t all[PGK_COUNTOF(arm64_functions)];
    for (size_t i = 0; i < PGK_COUNTOF(all); i++)
        all[i] = arm64_functions[i].addr;
    assert_int_equal(
        pgk_type_tests_find(&o.tests, &o.code, &o.tables, all, PGK_COUNTOF(all), NULL), 0);
    expect(&o, want, PGK_COUNTOF(want));
    close_all(&o);
}

static void only_code_that_was_sampled(void **state)
{
    (void)state;
    static const struct expected want[] = {
        {0x2042, 0x2045, 0x2048, 0x2047, false, false, 1, "_ZTV5Other", 0x2048}};
    static const uint64_t sampled[] = {1, 0x203e, 0x2088, 0x2200, UINT64_MAX};
    struct opened o = open_all(false);
    assert_int_equal(pgk_type_tests_find(&o.tests, &o.code, &o.tables, sampled,
                                         PGK_COUNTOF(sampled), NULL),
                     0);
    expect(&o, want, PGK_COUNTOF(want));
    close_all(&o);
}

static void tables_by_address(void **state)
{
    (void)state;
    struct opened o = open_all(false);
    assert_int_equal(o.tables.list.n, 2);
    assert_null(pgk_vtable_symbol_at(&o.tables, ONE - 1));
    assert_ptr_equal(pgk_vtable_symbol_at(&o.tables, ONE), &o.tables.list.v[0]);
    assert_ptr_equal(pgk_vtable_symbol_at(&o.tables, ONE + 39), &o.tables.list.v[0]);
    assert_null(pgk_vtable_symbol_at(&o.tables, ONE + 40));
    assert_ptr_equal(pgk_vtable_symbol_at(&o.tables, TWO + 63), &o.tables.list.v[1]);
    assert_null(pgk_vtable_symbol_at(&o.tables, TWO + 64));
    assert_int_equal(o.tables.list.v[1].len, strlen(TWO_NAME));
    close_all(&o);
}

static void out_of_memory_anywhere(void **state)
{
    (void)state;
    static const uint64_t sampled[] = {0x204b};
    int status = PGK_E_NOMEM, failures = -1;
    for (uint64_t nth = 1; status == PGK_E_NOMEM; nth++, failures++) {
        struct opened o = open_all(false);
        struct pgk_err err = {0};
        pgk_mem_fail_after(nth);
        status = pgk_type_tests_find(&o.tests, &o.code, &o.tables, sampled, 1, &err);
        pgk_mem_fail_after(0);
        assert_int_equal(err.status, status);
        assert_true(status || o.tests.list.n == 2);
        assert_in_range(nth, 1, 100);
        close_all(&o);
    }
    assert_int_equal(status, 0);
    assert_true(failures >= 5); /* relocations, graph, instructions, registers, comparisons */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons_on_x86),
        cmocka_unit_test(comparisons_on_arm64),
        cmocka_unit_test(only_code_that_was_sampled),
        cmocka_unit_test(tables_by_address),
        cmocka_unit_test(out_of_memory_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
