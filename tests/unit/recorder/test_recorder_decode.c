/* The recorder's decoder against Zydis: what it takes for movable has the same length, is no branch
 * or the same branch, and has its operand beside the program counter in the same place. What it
 * takes for an access of memory is one, of as many bytes. */
#include "recorder_decode.h"

#include "../pgk_test.h"
#include <Zydis/Zydis.h>

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

static ZydisDecoder decoder;
static size_t loads;

static bool is_branch(const ZydisDecodedInstruction *z)
{
    return z->meta.category == ZYDIS_CATEGORY_COND_BR ||
           z->meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
           z->meta.category == ZYDIS_CATEGORY_CALL || z->meta.category == ZYDIS_CATEGORY_RET ||
           z->meta.category == ZYDIS_CATEGORY_SYSCALL ||
           z->meta.category == ZYDIS_CATEGORY_SYSRET ||
           z->meta.category == ZYDIS_CATEGORY_INTERRUPT;
}

static bool is_direct(uint8_t kind)
{
    return kind == PGBR_COND || kind == PGBR_LOOP || kind == PGBR_JUMP || kind == PGBR_CALL;
}

/* What one of them does not know is of no matter: a processor refuses it wherever it lies, and a
 * window ends there. */
static void compare(const uint8_t *bytes, size_t n)
{
    ZydisDecodedInstruction z;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    struct pgbr_insn i;
    pgbr_decode(&i, bytes, n);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n, &z, operands)) ||
        i.kind == PGBR_UNKNOWN || i.kind == PGBR_SPECIAL)
        return;
    assert_int_equal(i.length, z.length);
    assert_int_equal(is_branch(&z), i.kind != PGBR_COPY);
    if (is_direct(i.kind))
        assert_int_equal(i.target, z.raw.imm[0].value.s);
    if (i.kind == PGBR_COND)
        assert_int_equal(i.code, z.opcode & 15);
    const bool beside = z.attributes & ZYDIS_ATTRIB_HAS_MODRM && z.raw.modrm.mod == 0 &&
                        z.raw.modrm.rm == 5;
    assert_int_equal(i.beside, beside);
    if (beside) {
        assert_int_equal(i.modrm_at, z.raw.modrm.offset);
        assert_int_equal(i.disp_at, z.raw.disp.offset);
        assert_int_equal(i.disp, z.raw.disp.value);
    }
    for (unsigned k = 0; beside && i.kind == PGBR_COPY && k < z.operand_count; k++) {
        const ZydisDecodedOperand *o = &operands[k];
        ZydisRegister reg =
            o->type == ZYDIS_OPERAND_TYPE_REGISTER
                ? ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, o->reg.value)
                : ZYDIS_REGISTER_NONE;
        /* One of these three stands in for the program counter. */
        const uint8_t free = (uint8_t)~i.used & (1 << 6 | 1 << 7 | 1 << 3);
        const int taken = free & 1 << 6 ? 6 : free & 1 << 7 ? 7 : 3;
        if (reg >= ZYDIS_REGISTER_RAX && reg <= ZYDIS_REGISTER_R15)
            assert_int_not_equal(ZydisRegisterGetId(reg), taken);
    }
}

static int number_of(ZydisRegister reg)
{
    return reg == ZYDIS_REGISTER_NONE ? PGBR_NONE : ZydisRegisterGetId(reg);
}

/* What it takes for a load reads its one operand in memory, at this address. */
static void compare_load(const uint8_t *bytes, size_t n)
{
    ZydisDecodedInstruction z;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const ZydisDecodedOperand *in = NULL;
    struct pgbr_insn i;
    pgbr_decode(&i, bytes, n);
    if (i.kind != PGBR_COPY || !i.loads ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n, &z, operands)))
        return;
    for (unsigned k = 0; k < z.operand_count_visible; k++)
        if (operands[k].type == ZYDIS_OPERAND_TYPE_MEMORY)
            in = &operands[k];
    assert_non_null(in);
    assert_true(in->actions & ZYDIS_OPERAND_ACTION_MASK_READ);
    assert_false(in->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE);
    assert_int_equal(in->mem.type, ZYDIS_MEMOP_TYPE_MEM);
    assert_int_equal(in->mem.disp.value, i.disp);
    if (i.beside)
        return;
    assert_int_equal(number_of(in->mem.base), i.base);
    assert_int_equal(number_of(in->mem.index), i.index);
    if (i.index != PGBR_NONE)
        assert_int_equal(in->mem.scale, i.scale);
    loads++;
}

static size_t accesses, unknown_accesses;

/* An operand in memory that an instruction reads or writes, at an address of this process. */
static bool is_access(const ZydisDecodedOperand *o)
{
    return o->type == ZYDIS_OPERAND_TYPE_MEMORY && o->mem.type == ZYDIS_MEMOP_TYPE_MEM && o->size &&
           o->mem.segment != ZYDIS_REGISTER_FS && o->mem.segment != ZYDIS_REGISTER_GS;
}

static void compare_string(const struct pgbr_insn *i, const ZydisDecodedInstruction *z,
                           const ZydisDecodedOperand *operands)
{
    uint8_t string = 0;
    for (unsigned k = 0; k < z->operand_count; k++) {
        const ZydisDecodedOperand *o = &operands[k];
        if (!is_access(o))
            continue;
        const bool writes = o->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
        string |= o->mem.base == ZYDIS_REGISTER_RSI ? PGBR_READS_SI
                  : writes                          ? PGBR_WRITES_DI
                                                    : PGBR_READS_DI;
    }
    assert_int_equal(i->string, string);
}

/* Where it says how many bytes are read or written, it is right in that and in where they are. */
static void compare_access(const uint8_t *bytes, size_t n)
{
    ZydisDecodedInstruction z;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    const ZydisDecodedOperand *in = NULL;
    struct pgbr_insn i;
    pgbr_decode(&i, bytes, n);
    if (i.kind != PGBR_COPY ||
        !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n, &z, operands)))
        return;
    if (i.string) {
        compare_string(&i, &z, operands);
        return;
    }
    for (unsigned k = 0; k < z.operand_count_visible; k++)
        if (is_access(&operands[k]))
            in = &operands[k];
    if (!i.bytes) {
        unknown_accesses += in && z.address_width == 64 && z.mnemonic != ZYDIS_MNEMONIC_NOP &&
                            z.meta.category != ZYDIS_CATEGORY_PREFETCH;
        return;
    }
    assert_non_null(in);
    assert_int_equal(i.bytes, in->size / 8);
    assert_int_equal(i.reads, !!(in->actions & ZYDIS_OPERAND_ACTION_MASK_READ));
    assert_int_equal(i.writes, !!(in->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE));
    assert_int_equal(in->mem.disp.value, i.disp);
    accesses++;
    if (i.beside)
        return;
    assert_int_equal(number_of(in->mem.base), i.base);
    assert_int_equal(number_of(in->mem.index), i.index);
    if (i.index != PGBR_NONE)
        assert_int_equal(in->mem.scale, i.scale);
}

static size_t known;

static bool may_move(const uint8_t *bytes)
{
    struct pgbr_insn i;
    pgbr_decode(&i, bytes, 15);
    return i.kind != PGBR_UNKNOWN && i.kind != PGBR_SPECIAL;
}

static int of_module(struct dl_phdr_info *info, size_t size, void *n)
{
    (void)size;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        const uint8_t *at = (const uint8_t *)(info->dlpi_addr + p->p_vaddr),
                      *end = at + p->p_memsz;
        while (end - at > 15) {
            ZydisDecodedInstruction z;
            compare(at, 15);
            compare_load(at, 15);
            compare_access(at, 15);
            const bool ok = ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, at, 15, &z));
            at += ok ? z.length : 1;
            known += may_move(at - (ok ? z.length : 1));
            ++*(size_t *)n;
        }
    }
    return 0;
}

static void code_of_this_process(void **state)
{
    size_t n = 0;
    (void)state;
    dl_iterate_phdr(of_module, &n);
    assert_true(n > 100000);
    assert_true(known > n / 100 * 98);
    assert_true(loads > n / 20);
    assert_true(accesses > n / 5 && unknown_accesses < accesses / 1000);
}

static void random_bytes(void **state)
{
    (void)state;
    srandom(7);
    for (int round = 0; round < 2000000; round++) {
        uint8_t bytes[15];
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)(random() >> 7);
        static const uint8_t first[] = {0xc4, 0xc5, 0x62, 0x0f, 0x66, 0xf3, 0xf2, 0x48};
        if (round % 3 == 0)
            bytes[0] = first[(size_t)round / 3 % sizeof first];
        compare(bytes, sizeof bytes);
        compare_load(bytes, sizeof bytes);
        compare_access(bytes, sizeof bytes);
    }
}

static void cut_short(void **state)
{
    static const uint8_t bytes[] = {0x48, 0x8b, 0x05, 1, 2, 3, 4};
    struct pgbr_insn i;
    (void)state;
    for (size_t n = 0; n < sizeof bytes; n++) {
        pgbr_decode(&i, bytes, n);
        assert_int_equal(i.kind, PGBR_UNKNOWN);
        assert_int_equal(i.length, 0);
    }
    pgbr_decode(&i, bytes, sizeof bytes);
    assert_int_equal(i.length, sizeof bytes);
    assert_true(i.beside);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_of_this_process),
        cmocka_unit_test(random_bytes),
        cmocka_unit_test(cut_short),
    };
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
