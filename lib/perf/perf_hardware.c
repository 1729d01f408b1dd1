/* Records in the hardware's own formats: AMD's IBS and ARM's SPE.
 *
 * IBS: AMD64 Architecture Programmer's Manual, volume 2, "Instruction-Based Sampling", registers
 * in the order in which the kernel copies them. SPE: Arm Architecture Reference Manual, "The
 * Statistical Profiling Extension Sample Record Specification". */
#include "perf_hardware.h"

#include <inttypes.h>

static bool bit(uint64_t word, unsigned n)
{
    return word >> n & 1;
}

bool pgk_hw_ibs_op(const uint8_t *raw, size_t size, struct pgk_hw_op *op)
{
    enum {
        OP_RIP = 1,
        OP_DATA = 2,
        OP_DATA3 = 4,
        LINEAR_ADDRESS = 5,
        BRANCH_TARGET = 7,
        REGISTERS = 7,
        CAPABILITIES_SIZE = 4,
        CAP_BRANCH_TARGET = 5
    };
    uint32_t capabilities;
    uint64_t reg[REGISTERS + 1] = {0};
    if (size < CAPABILITIES_SIZE + REGISTERS * sizeof *reg)
        return false;
    memcpy(&capabilities, raw, sizeof capabilities);
    size_t n = bit(capabilities, CAP_BRANCH_TARGET) && size >= CAPABILITIES_SIZE + sizeof reg
                   ? REGISTERS + 1
                   : REGISTERS;
    memcpy(reg, raw + CAPABILITIES_SIZE, n * sizeof *reg);
    uint64_t data = reg[OP_DATA], data3 = reg[OP_DATA3];
    if (bit(data, 38)) /* the address of the instruction is not valid */
        return false;
    bool has_addr = bit(data3, 17), taken = bit(data, 37) && bit(data, 35);
    *op = (struct pgk_hw_op){
        .pc = reg[OP_RIP],
        .is_load = bit(data3, 0),
        .is_store = bit(data3, 1),
        .addr = has_addr ? reg[LINEAR_ADDRESS] : 0,
        .is_branch = bit(data, 37),
        .mispredicted = bit(data, 36),
        .target = taken ? reg[BRANCH_TARGET] : 0,
    };
    return true;
}

enum { SPE_PC, SPE_TARGET, SPE_DATA_ADDRESS, SPE_PHYSICAL_ADDRESS, SPE_EARLIER_TARGET };
enum { SPE_PADDING = 0x00, SPE_END = 0x01, SPE_TIMESTAMP = 0x71 };
enum { SPE_OTHER, SPE_LOAD_STORE, SPE_BRANCH };
enum { SPE_EVENT_NOT_TAKEN = 6, SPE_EVENT_MISPREDICTED = 7 };

#define LOW_56   ((UINT64_C(1) << 56) - 1)
#define TOP_BYTE (UINT64_C(0xff) << 56)

/* The top byte of a code address holds level and world. */
static uint64_t code_address(uint64_t payload)
{
    unsigned level = payload >> 61 & 3;
    bool kernel = bit(payload, 63) && (level == 1 || level == 2);
    return (payload & LOW_56) | (kernel ? TOP_BYTE : 0);
}

/* The top byte of an address of data is a tag. */
static uint64_t data_address(uint64_t payload)
{
    return (payload & LOW_56) | ((payload >> 52 & 0xf) == 0xf ? TOP_BYTE : 0);
}

/* A record of SPE while its packets come in. */
struct spe_record {
    struct pgk_hw_op op;
    bool any, not_taken;
    unsigned op_class;
};

static void spe_address(struct spe_record *r, unsigned index, uint64_t payload)
{
    switch (index) {
    case SPE_PC:
        r->op.pc = code_address(payload);
        r->op.in_kernel = code_address(payload) >> 56;
        break;
    case SPE_TARGET:
        r->op.target = code_address(payload);
        break;
    case SPE_DATA_ADDRESS:
        r->op.addr = data_address(payload);
        break;
    case SPE_EARLIER_TARGET:
        r->op.earlier_target = code_address(payload);
        break;
    }
}

static void spe_operation(struct spe_record *r, unsigned op_class, uint64_t payload)
{
    r->op_class = op_class;
    r->op.is_branch = op_class == SPE_BRANCH;
    r->op.is_store = op_class == SPE_LOAD_STORE && bit(payload, 0);
    r->op.is_load = op_class == SPE_LOAD_STORE && !bit(payload, 0);
}

/* One packet with a header; false if there is none of that kind. */
static bool spe_packet(struct spe_record *r, unsigned header, unsigned index, uint64_t payload)
{
    if ((header & 0xf8) == 0xb0) {
        spe_address(r, index, payload);
    } else if ((header & 0xfc) == 0x48) {
        spe_operation(r, header & 3, payload);
    } else if ((header & 0xcf) == 0x42) {
        r->not_taken = bit(payload, SPE_EVENT_NOT_TAKEN);
        r->op.mispredicted = bit(payload, SPE_EVENT_MISPREDICTED);
    } else if ((header & 0xfc) == 0x64) {
        r->op.context = (uint32_t)payload;
    } else if ((header & 0xf8) != 0x98 && (header & 0xcf) != 0x43) { /* counters, data source */
        return false;
    }
    r->any = true;
    return true;
}

static int spe_end_record(struct spe_record *r, pgk_hw_op_fn *fn, void *ctx)
{
    struct spe_record done = *r;
    *r = (struct spe_record){0};
    if (done.not_taken)
        done.op.target = 0;
    return done.any ? fn(ctx, &done.op) : 0;
}

int pgk_hw_spe(const uint8_t *bytes, size_t size, const struct pgk_source *src, pgk_hw_op_fn *fn,
               void *ctx, struct pgk_err *err)
{
    struct pgk_cursor c;
    struct spe_record r = {0};
    pgk_cur_init(&c, bytes, size, src);
    while (pgk_cur_left(&c)) {
        uint64_t at = pgk_cur_off(&c), payload = 0;
        unsigned header = pgk_cur_u8(&c, "packet"), extension = 0;
        if (header == SPE_PADDING)
            continue;
        if ((header & 0xfc) == 0x20 && pgk_cur_left(&c)) {
            extension = (header & 3) << 3;
            header = pgk_cur_u8(&c, "packet");
            if (header == SPE_PADDING) /* alignment; padding follows */
                continue;
        }
        size_t payload_size = header == SPE_END ? 0 : (size_t)1 << (header >> 4 & 3);
        if (payload_size > pgk_cur_left(&c))
            return 0;
        if (payload_size)
            memcpy(&payload, pgk_cur_take(&c, payload_size, "payload"), payload_size);
        if (header == SPE_END || header == SPE_TIMESTAMP)
            PGK_TRY(spe_end_record(&r, fn, ctx));
        else if (!spe_packet(&r, header, extension | (header & 7), payload))
            return pgk_cur_reject(&c, err, PGK_E_CORRUPT, at, .record = "SPE trace",
                                  .field = "packet", .found = PGK_F("0x%02x", header),
                                  .expected = "a packet of the Statistical Profiling Extension",
                                  .hint = "the trace is damaged; record again");
    }
    return 0;
}
