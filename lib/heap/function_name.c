/* LLVM's 64-bit ids of functions in heap profiles. */
#include "function_name.h"

#include "compiler.h"
#include "hash.h"

#include <string.h>

/* Position of the last `part` in name[0 .. len-1], or `len`. */
static size_t last_occurrence(const char *name, size_t len, const char *part)
{
    size_t n = strlen(part);
    for (size_t at = len >= n ? len - n + 1 : 0; at-- > 0;)
        if (!memcmp(name + at, part, n))
            return at;
    return len;
}

size_t pgk_heap_canonical_len(const char *name, size_t len)
{
    /* A link that optimises by a heap profile copies functions as the last of all. */
    static const char *const suffixes[] = {".memprof.", ".llvm.", ".part."};
    for (size_t i = 0; i < PGK_COUNTOF(suffixes); i++) {
        size_t at = last_occurrence(name, len, suffixes[i]);
        /* Only when the suffix's own last dot is the last dot of the name. */
        const char *dot = len ? memrchr(name, '.', len) : NULL;
        if (at < len && dot == name + at + strlen(suffixes[i]) - 1)
            len = at;
    }
    return len;
}

uint64_t pgk_heap_guid(const char *name, size_t len)
{
    return pgk_md5_low64(name, pgk_heap_canonical_len(name, len));
}
