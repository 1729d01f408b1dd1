/* The file that the branch recorder maps and counts in: docs/formats/branch-recording.md. What the
 * recorder writes and the library reads. Little-endian, as the one processor that it is for. */
#ifndef PGK_BRANCH_RECORDING_H
#define PGK_BRANCH_RECORDING_H

#include <stdint.h>

/* "PGKBRANC" in the order of the file, and "PGKBRNCH", of recordings before 0.1.0. */
#define PGK_BRANCH_MAGIC UINT64_C(0x434e4152424b4750)
#define PGK_BRANCH_MAGIC_UNRELEASED UINT64_C(0x48434e52424b4750)
enum {
    PGK_BRANCH_VERSION = 1,
    PGK_BRANCH_MODULES_MAX = 255,
    PGK_BRANCH_ENTRIES_MAX = 1 << 18,
    PGK_BRANCH_PATH = 432,
    PGK_BRANCH_ID = 32,
};

enum pgk_branch_counter {
#define PGK_BRANCH_COUNTER(name, kind, text) PGK_BRANCH_##name,
#include "branch_recording.def"
#undef PGK_BRANCH_COUNTER
    PGK_BRANCH_COUNTERS
};

/* At the start of the file; modules and entries follow. */
struct pgk_branch_header {
    uint64_t magic;
    uint32_t version, process;
    uint64_t modules_off, modules; /* where they are, and how many */
    uint64_t entries_off, entries;
    uint64_t frequency, window; /* windows a second that were asked for, branches in each */
    uint64_t n_counters;
    uint64_t counters[PGK_BRANCH_COUNTERS];
};

/* What the file says of its process, in front of the modules. All zeros: nothing. */
enum { PGK_BRANCH_PROCESS_OFF = 2048, PGK_BRANCH_PROCESS_BYTES = 1024 };
struct pgk_branch_process {
    uint64_t start_time; /* in ms since 1970; 0: not known */
    uint64_t bytes;      /* of the text */
    char text[PGK_BRANCH_PROCESS_BYTES]; /* program, host, arguments: each with a zero byte */
};

/* A program or library; its addresses are those in its file. */
struct pgk_branch_module {
    uint64_t start, end; /* of its code, in the file's own addresses */
    uint64_t id_size;
    uint8_t id[PGK_BRANCH_ID]; /* GNU build id */
    uint64_t reserved[3];
    char path[PGK_BRANCH_PATH];
};

enum pgk_branch_kind {
    PGK_BRANCH_TAKEN,  /* from a branch to its target */
    PGK_BRANCH_RAN,    /* straight from one instruction to another one, or the same */
    PGK_BRANCH_LOADED, /* by an instruction, from an address of data */
    PGK_BRANCH_CALLED, /* by the call in front of `from`: a context; `to` is 0 */
    PGK_BRANCH_TICKED, /* a tick of processor time came at this instruction, and began a window;
                        * `to` and `under` are 0 */
    PGK_BRANCH_KINDS
};

/* A count of an event. An address is its module's number plus one in the highest 16 bits, and its
 * place in the file's addresses in the others; 0: in no module. */
struct pgk_branch_entry {
    uint64_t from, to;
    uint64_t count;
    uint32_t kind;
    uint32_t under; /* number plus one of an earlier entry, the call it happened under; or 0 */
};
enum { PGK_BRANCH_MODULE_SHIFT = 48 };

#endif
