/* Mnemonics as AT&T syntax spells them. What has no row is spelled as Intel does, without
 * suffix, and its immediates are unsigned; that is nearly all of the vector instructions. */
#include "x86_priv.h"

#include <pthread.h>
#include <string.h>

struct row {
    ZydisMnemonic mnemonic;
    const char *text; /* NULL: as Intel */
    uint8_t suffix;
    bool signed_imm;
};

#define SIZED(m) {ZYDIS_MNEMONIC_##m, NULL, PGK_X86_SIZED, false}
#define SIGNED(m) {ZYDIS_MNEMONIC_##m, NULL, PGK_X86_SIZED, true}
#define RENAMED(m, text) {ZYDIS_MNEMONIC_##m, text, PGK_X86_PLAIN, false}
#define RESIZED(m, text) {ZYDIS_MNEMONIC_##m, text, PGK_X86_SIZED, false}
#define FLOAT(m) {ZYDIS_MNEMONIC_##m, NULL, PGK_X86_FLOAT, false}
#define FLOAT_INT(m) {ZYDIS_MNEMONIC_##m, NULL, PGK_X86_FLOAT_INT, false}
#define SIZED_MEM(m) {ZYDIS_MNEMONIC_##m, NULL, PGK_X86_SIZED_MEM, false}
#define VECTOR_MEM(m) {ZYDIS_MNEMONIC_##m, NULL, PGK_X86_VECTOR_MEM, false}
#define COMPARE(m) {ZYDIS_MNEMONIC_##m, NULL, PGK_X86_COMPARE, false}

static const struct row rows[] = {
    SIGNED(ADC), SIGNED(ADD), SIGNED(AND), SIGNED(CMP), SIGNED(IMUL), SIGNED(MOV), SIGNED(OR),
    SIGNED(PUSH), SIGNED(SBB), SIGNED(SUB), SIGNED(TEST), SIGNED(XOR), SIGNED(RET),
    {ZYDIS_MNEMONIC_ENTER, NULL, PGK_X86_PLAIN, true},
    {ZYDIS_MNEMONIC_XABORT, NULL, PGK_X86_PLAIN, true},
    SIZED(BSF), SIZED(BSR), SIZED(BSWAP), SIZED(BT), SIZED(BTC), SIZED(BTR), SIZED(BTS),
    SIZED(CALL), SIZED(CMPXCHG), SIZED(DEC), SIZED(DIV), SIZED(IDIV), SIZED(INC), SIZED(JMP),
    SIZED(LEA), SIZED(MUL), SIZED(NEG), SIZED(NOT), SIZED(POP), SIZED(RCL), SIZED(RCR),
    SIZED(ROL), SIZED(ROR), SIZED(SAR), SIZED(SHL), SIZED(SHLD), SIZED(SHR), SIZED(SHRD),
    SIZED(XADD), SIZED(XCHG), SIZED(MOVBE), SIZED(LZCNT), SIZED(TZCNT), SIZED(POPCNT),
    SIZED(ANDN), SIZED(BEXTR), SIZED(BLSI), SIZED(BLSMSK), SIZED(BLSR), SIZED(BZHI), SIZED(MULX),
    SIZED(PDEP), SIZED(PEXT), SIZED(RORX), SIZED(SARX), SIZED(SHLX), SIZED(SHRX), SIZED(ADCX),
    SIZED(ADOX), SIZED(CRC32), SIZED(MOVNTI), SIZED(RDRAND), SIZED(RDSEED), SIZED(RDFSBASE),
    SIZED(RDGSBASE), SIZED(WRFSBASE), SIZED(WRGSBASE), SIZED(SYSRET), SIZED(SYSEXIT), SIZED(IN),
    SIZED(OUT), SIZED(PTWRITE), SIZED(LAR), SIZED(LSL), SIZED(SLDT), SIZED(STR), SIZED(SMSW),
    SIZED(NOP), SIZED(UD0), SIZED(UD1),
    RENAMED(LLDT, "lldtw"), RENAMED(LTR, "ltrw"), RENAMED(LMSW, "lmsww"), RENAMED(SIDT, "sidtq"),
    RENAMED(SGDT, "sgdtq"), RENAMED(LIDT, "lidtq"), RENAMED(LGDT, "lgdtq"),
    RENAMED(IRETD, "iretl"),
    SIZED(LFS), SIZED(LGS), SIZED(LSS), SIZED(VMREAD), SIZED(VMWRITE),
    RESIZED(CMOVB, "cmovb"), RESIZED(CMOVBE, "cmovbe"), RESIZED(CMOVL, "cmovl"),
    RESIZED(CMOVLE, "cmovle"), RESIZED(CMOVNB, "cmovae"), RESIZED(CMOVNBE, "cmova"),
    RESIZED(CMOVNL, "cmovge"), RESIZED(CMOVNLE, "cmovg"), RESIZED(CMOVNO, "cmovno"),
    RESIZED(CMOVNP, "cmovnp"), RESIZED(CMOVNS, "cmovns"), RESIZED(CMOVNZ, "cmovne"),
    RESIZED(CMOVO, "cmovo"), RESIZED(CMOVP, "cmovp"), RESIZED(CMOVS, "cmovs"),
    RESIZED(CMOVZ, "cmove"),
    RENAMED(JNB, "jae"), RENAMED(JNBE, "ja"), RENAMED(JNL, "jge"), RENAMED(JNLE, "jg"),
    RENAMED(JNZ, "jne"), RENAMED(JZ, "je"),
    RENAMED(SETNB, "setae"), RENAMED(SETNBE, "seta"), RENAMED(SETNL, "setge"),
    RENAMED(SETNLE, "setg"), RENAMED(SETNZ, "setne"), RENAMED(SETZ, "sete"),
    RENAMED(CBW, "cbtw"), RENAMED(CWDE, "cwtl"), RENAMED(CDQE, "cltq"), RENAMED(CWD, "cwtd"),
    RENAMED(CDQ, "cltd"), RENAMED(CQO, "cqto"), RENAMED(FWAIT, "wait"), RENAMED(XLAT, "xlatb"),
    RENAMED(FUCOMIP, "fucompi"), RENAMED(FCOMIP, "fcompi"),
    RENAMED(STOSD, "stosl"), RENAMED(LODSD, "lodsl"), RENAMED(SCASD, "scasl"),
    RENAMED(INSD, "insl"), RENAMED(OUTSD, "outsl"),
    {ZYDIS_MNEMONIC_MOVZX, "movz", PGK_X86_EXTEND, false},
    {ZYDIS_MNEMONIC_MOVSX, "movs", PGK_X86_EXTEND, false},
    {ZYDIS_MNEMONIC_MOVSXD, "movs", PGK_X86_EXTEND, false},
    FLOAT(FLD), FLOAT(FST), FLOAT(FSTP), FLOAT(FADD), FLOAT(FMUL), FLOAT(FSUB), FLOAT(FSUBR),
    FLOAT(FDIV), FLOAT(FDIVR), FLOAT(FCOM), FLOAT(FCOMP),
    FLOAT_INT(FILD), FLOAT_INT(FIST), FLOAT_INT(FISTP), FLOAT_INT(FISTTP), FLOAT_INT(FIADD),
    FLOAT_INT(FIMUL), FLOAT_INT(FISUB), FLOAT_INT(FISUBR), FLOAT_INT(FIDIV), FLOAT_INT(FIDIVR),
    FLOAT_INT(FICOM), FLOAT_INT(FICOMP),
    SIZED_MEM(CVTSI2SD), SIZED_MEM(CVTSI2SS), SIZED_MEM(VCVTSI2SD), SIZED_MEM(VCVTSI2SS),
    SIZED_MEM(VCVTUSI2SD), SIZED_MEM(VCVTUSI2SS),
    VECTOR_MEM(VCVTPD2PS), VECTOR_MEM(VCVTPD2DQ), VECTOR_MEM(VCVTTPD2DQ), VECTOR_MEM(VCVTPD2UDQ),
    VECTOR_MEM(VCVTTPD2UDQ), VECTOR_MEM(VCVTQQ2PS), VECTOR_MEM(VCVTUQQ2PS),
    COMPARE(CMPPS), COMPARE(CMPPD), COMPARE(CMPSS), COMPARE(CMPSD), COMPARE(VCMPPS),
    COMPARE(VCMPPD), COMPARE(VCMPSS), COMPARE(VCMPSD), COMPARE(VPCMPB), COMPARE(VPCMPW),
    COMPARE(VPCMPD), COMPARE(VPCMPQ), COMPARE(VPCMPUB), COMPARE(VPCMPUW), COMPARE(VPCMPUD),
    COMPARE(VPCMPUQ),
};

struct pgk_x86_name pgk_x86_names[ZYDIS_MNEMONIC_MAX_VALUE + 1];

static void fill(void)
{
    for (ZydisMnemonic m = 0; m <= ZYDIS_MNEMONIC_MAX_VALUE; m++) {
        const char *text = ZydisMnemonicGetString(m);
        pgk_x86_names[m] = (struct pgk_x86_name){
            .text = text, .len = (uint8_t)strlen(text), .unsigned_imm = true};
    }
    for (size_t i = 0; i < PGK_COUNTOF(rows); i++) {
        struct pgk_x86_name *n = &pgk_x86_names[rows[i].mnemonic];
        if (rows[i].text) {
            n->text = rows[i].text;
            n->len = (uint8_t)strlen(n->text);
        }
        n->suffix = rows[i].suffix;
        n->unsigned_imm = !rows[i].signed_imm;
    }
}

void pgk_x86_names_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill);
}
