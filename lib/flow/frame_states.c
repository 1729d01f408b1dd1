/* Where functions of AArch64 have their frame.
 * Source: Procedure Call Standard for the Arm 64-bit Architecture, "The Frame Pointer". */
#include "frame_states.h"

#include "mem.h"
#include "search.h"

#include <string.h>

enum { WORD = 4 };
enum { NOT_KNOWN, FRAME_MISSING, FRAME_THERE };

/* mov x29, sp, or add x29, sp, #n */
static bool sets_frame(uint32_t word)
{
    return (word & 0xffc003ff) == 0x910003fd;
}

/* ldp x29, x30, [sp...] */
static bool ends_frame(uint32_t word)
{
    return (word & 0xfc407fff) == 0xa8407bfd;
}

static uint32_t word_at(const struct pgk_code_region *r, size_t i)
{
    uint32_t word;
    memcpy(&word, r->bytes + i * WORD, sizeof word);
    return word;
}

/* Parts of a function that lie elsewhere begin with its frame: they call, or end a frame, but set
 * up none. */
static uint8_t state_at_start(const struct pgk_code *code, const struct pgk_code_region *r,
                              bool *sets)
{
    bool part = false;
    *sets = false;
    for (uint64_t at = r->low; at + WORD <= r->high; at += WORD) {
        uint32_t word = word_at(r, (at - r->low) / WORD);
        struct pgk_insn insn;
        *sets |= sets_frame(word);
        pgk_insn_decode(&code->decoder, (const uint8_t *)&word, WORD, at, &insn);
        part |= ends_frame(word) || insn.kind == PGK_INSN_CALL;
    }
    return part && !*sets ? FRAME_THERE : FRAME_MISSING;
}

/* Goes through it once. Where no earlier code leads to, the frame is taken to be there, if the
 * function has one. */
static void follow(const struct pgk_code *code, const struct pgk_code_region *r, uint8_t *states)
{
    bool sets;
    uint8_t state = state_at_start(code, r, &sets), otherwise = sets ? FRAME_THERE : state;
    for (uint64_t at = r->low; at + WORD <= r->high; at += WORD) {
        size_t i = (at - r->low) / WORD;
        uint32_t word = word_at(r, i);
        struct pgk_insn insn;
        if (state == NOT_KNOWN)
            state = states[i] != NOT_KNOWN ? states[i] : otherwise;
        states[i] = state;
        state = sets_frame(word) ? FRAME_THERE : ends_frame(word) ? FRAME_MISSING : state;
        pgk_insn_decode(&code->decoder, (const uint8_t *)&word, WORD, at, &insn);
        bool jumps = (insn.kind == PGK_INSN_JUMP || insn.kind == PGK_INSN_COND) && !insn.indirect;
        if (jumps && insn.target > at && insn.target < r->high) {
            uint8_t *there = &states[(insn.target - r->low) / WORD];
            *there = *there == NOT_KNOWN ? state : *there;
        }
        if (!pgk_insn_falls_through(&insn))
            state = NOT_KNOWN;
    }
}

bool pgk_frame_is_missing(struct pgk_code *code, uint64_t addr)
{
    uint64_t word = (addr - code->base) / WORD;
    if (addr - code->base >= code->span)
        return false;
    if (!code->frames && !(code->frames = pgk_mem_zalloc(code->span / WORD + 1, 1)))
        return false;
    if (code->frames[word] == NOT_KNOWN) {
        PGK_SEARCH(low, code->regions.n, mid, code->regions.v[mid].high <= addr)
        const struct pgk_code_region *r = &code->regions.v[low];
        if (low == code->regions.n || r->low > addr || r->low % WORD)
            return false;
        follow(code, r, &code->frames[(r->low - code->base) / WORD]);
    }
    return code->frames[word] == FRAME_MISSING;
}
