/* The notes of a dump or sheet, and the texts in them. docs/formats/interrupted-heap.md */
#include "runtime_notes.h"

#include "guest_bytes.h"
#include "guest_modules.h"

_Static_assert(PGRT_PATHS_BYTES % 64 == 0 && PGRT_PROCESS_BYTES % 64 == 0, "whole cache lines");

void pgrt_notes_begin(struct pgrt_notes *notes, u64 flags, u64 start_time, u64 mib_off)
{
    *notes = (struct pgrt_notes){
        .facts = {.flags = flags, .start_time = start_time},
        .part = {
#define PGK_NOTES_PART(name, number, must, least, record, meaning) \
    {.tag = (number), .needed = (must), .version = 1, .size = (record)},
#include "heap_notes.def"
#undef PGK_NOTES_PART
        },
        .end = {PGK_NOTES_PARTS, PGK_NOTES_VERSION, PGK_NOTES_MAGIC},
    };
    notes->part[PGK_NOTES_FACTS].off = mib_off - sizeof *notes;
    notes->part[PGK_NOTES_FACTS].records = 1;
}

static u64 shared(const char *path, const char *before)
{
    u64 n = 0;
    while (n < UINT8_MAX && path[n] && path[n] == before[n])
        n++;
    return n;
}

u64 pgrt_notes_add_paths(char *to, u64 used, u64 space, u32 first, u32 *next, u32 end)
{
    const uint16_t number = (uint16_t)first;
    for (; *next < end; ++*next) {
        const char *path = pgg_module_path(*next);
        const u64 same = *next > first ? shared(path, pgg_module_path(*next - 1)) : 0,
                  rest = pgg_strlen(path + same) + 1, head = used ? 0 : sizeof number;
        if (used + head + 1 + rest > space)
            break;
        pgg_copy(to, &number, sizeof number);
        used += head;
        to[used++] = (char)same;
        pgg_copy(to + used, path + same, rest);
        used += rest;
    }
    return used;
}
