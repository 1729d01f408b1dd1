/* The similarity of two names: their longest common subsequence, if their lengths are similar. */
#include "name_likeness.h"

#include "build_index.h"
#include "demangle.h"

/* Of longer names the beginning is compared. */
enum { MAX_LENGTH = 200 };

static size_t length_of(const char *name, const char *demangled)
{
    size_t len = demangled ? strlen(demangled) : pgk_build_plain_len(name, strlen(name));
    return len < MAX_LENGTH ? len : MAX_LENGTH;
}

static unsigned common(const char *a, size_t n_a, const char *b, size_t n_b)
{
    unsigned row[MAX_LENGTH + 1] = {0};
    for (size_t i = 0; i < n_a; i++) {
        unsigned diagonal = 0;
        for (size_t j = 0; j < n_b; j++) {
            unsigned above = row[j + 1];
            if (a[i] == b[j])
                row[j + 1] = diagonal + 1;
            else if (row[j] > above)
                row[j + 1] = row[j];
            diagonal = above;
        }
    }
    return row[n_b];
}

unsigned pgk_name_likeness(const char *linkage_a, const char *linkage_b)
{
    char *plain_a = pgk_demangle(linkage_a), *plain_b = pgk_demangle(linkage_b);
    size_t n_a = length_of(linkage_a, plain_a), n_b = length_of(linkage_b, plain_b);
    size_t longer = n_a > n_b ? n_a : n_b;
    size_t shorter = n_a < n_b ? n_a : n_b;
    unsigned n = 100 * shorter < PGK_NAMES_ALIKE * longer
                     ? (unsigned)shorter
                     : common(plain_a ? plain_a : linkage_a, n_a, plain_b ? plain_b : linkage_b,
                              n_b);
    pgk_mem_free(plain_a);
    pgk_mem_free(plain_b);
    return longer ? (unsigned)(100 * n / longer) : 0;
}
