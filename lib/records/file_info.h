/* The implementation of struct pgk_file_info: what is known of a file that was read. */
#ifndef PGK_FILE_INFO_H
#define PGK_FILE_INFO_H

#include "compiler.h"
#include "pgokit/format.h"
#include "llvm_releases.def" /* PGK_LLVM_NOW */

#include <stdbool.h>

struct pgk_format_row;

struct pgk_file_info {
    const struct pgk_format_row *row;
    uint64_t size_bytes;
    uint32_t version;
    uint64_t facts[PGK_FACTS];
    bool has_summary;
    struct pgk_sample_summary summary;
};

/* A sentence that is being put together; what does not fit into `buf` is left out. */
struct pgk_info_text {
    char *buf;
    size_t size, n;
};
void pgk_info_add(struct pgk_info_text *text, const char *fmt, ...) PGK_PRINTF(2, 3);

/* "LLVM 19 to 23"; "LLVM 22 and 23"; "LLVM 23"; "no release of LLVM" if `since` comes after
 * `until`. */
void pgk_info_add_releases(struct pgk_info_text *text, uint32_t since, uint32_t until);

#endif
