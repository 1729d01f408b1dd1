/* The versions of gcc's sample profiles, and what its releases read: records/gcc_profile.def. */
#include "sample_gcc.h"

#include "format_row.h"

static const struct pgk_gcc_profile_row profiles[] = {
#define PGK_GCC_PROFILE(n, shown, lay, strs, who)                                          \
    {.number = (n), .version = (shown), .layout = PGK_GCC_##lay, .strings = PGK_GCC_##strs,   \
     .readers = (who)},
#include "gcc_profile.def"
#undef PGK_GCC_PROFILE
};

static const struct {
    uint32_t number;
    struct pgk_gcc_compiler compiler;
} compilers[] = {
#define PGK_GCC_COMPILER(gcc, reads, by, head, cut)                                         \
    {(reads), {.release = (gcc), .lines = PGK_GCC_##by, .heads = PGK_GCC_##head,            \
               .clones = PGK_GCC_##cut}},
#include "gcc_profile.def"
#undef PGK_GCC_COMPILER
};
_Static_assert(PGK_COUNTOF(compilers) == PGK_GCC_NEWEST - PGK_GCC_OLDEST + 1,
               "a row for each release from the first to the last");

const struct pgk_gcc_profile_row *pgk_gcc_profile_row(uint32_t number)
{
    for (size_t i = 0; i < PGK_COUNTOF(profiles); i++)
        if (profiles[i].number == number)
            return &profiles[i];
    return NULL;
}

const struct pgk_gcc_profile_row *pgk_gcc_profile_of_version(uint32_t version)
{
    for (size_t i = 0; i < PGK_COUNTOF(profiles); i++)
        if (profiles[i].version == version)
            return &profiles[i];
    return NULL;
}

bool pgk_gcc_compiler(unsigned release, struct pgk_gcc_compiler *compiler)
{
    for (size_t i = 0; i < PGK_COUNTOF(compilers); i++) {
        if (compilers[i].compiler.release != release)
            continue;
        *compiler = compilers[i].compiler;
        compiler->profile = pgk_gcc_profile_row(compilers[i].number);
        return true;
    }
    return false;
}
