/* Files that are no profiles: what they are, and which verb or program takes them. */
#include "foreign_files.h"

#include "compiler.h"

#include <stdbool.h>
#include <string.h>

/* The messages of a profile are in any order. A heap profile has bytes of space among its texts, a
 * profile of processor time has these. */
static bool is_cpu_pprof(const uint8_t *bytes, size_t size)
{
    static const char type[] = "\x32\x03"
                               "cpu",
                      unit[] = "\x32\x0b"
                               "nanoseconds";
    return memmem(bytes, size, type, sizeof type - 1) && memmem(bytes, size, unit, sizeof unit - 1);
}

static const struct {
    const char *start;
    struct pgk_foreign_file file;
} rows[] = {
    {"PERFILE2",
     {"a recording of perf", "pgokit gen FILE -b PROGRAM makes a sample profile of it"}},
    {"PGKBRANC",
     {"a recording of pgokit record branches",
      "pgokit gen FILE -b PROGRAM makes a sample profile of it"}},
    {"# ========\n# captured on",
     {"text that perf printed", "pgokit gen FILE -b PROGRAM makes a sample profile of it, if perf "
                                "script printed it with --show-mmap-events"}},
    {"# callgrind format",
     {"output of valgrind --tool=callgrind",
      "use callgrind_annotate; pgokit record branches records a profile for the compiler"}},
    {"version: 1\ncreator: callgrind",
     {"output of valgrind --tool=callgrind",
      "use callgrind_annotate; pgokit record branches records a profile for the compiler"}},
    {"{\"dhatFileVersion\"",
     {"output of valgrind --tool=dhat",
      "use dh_view.html of valgrind; pgokit record heap records a profile that pgokit shows"}},
    {"desc: ",
     {"output of valgrind --tool=massif",
      "use ms_print; pgokit record heap records a profile that pgokit shows"}},
    {"!<arch>\n", {"an archive of object files", "give a profile"}},
    /* Forms of pgokit before its first release. */
    {"PGKBRNCH",
     {"a branch recording of a pgokit before 0.1.0",
      "record it again: pgokit record branches"}},
    {"PGKPLACE",
     {"a plan for the allocator of a pgokit before 0.1.0", "make it again: pgokit plan"}},
    {"\xffpgkhpp\x81",
     {"a partial heap profile of a pgokit before 0.1.0",
      "make it again: pgokit merge --partial"}},
    {"\xffgpaths1",
     {"a heap profile of source positions, of a pgokit before 0.1.0",
      "make a partial heap profile of what it was made of: pgokit merge --partial -b PROGRAM"}},
};

const struct pgk_foreign_file *pgk_foreign_file(const uint8_t *bytes, size_t size)
{
    static const struct pgk_foreign_file cpu = {
        "a pprof file of processor time",
        "use go tool pprof; pgokit reads heap profiles of pprof, and gen reads perf.data"};
    for (size_t i = 0; i < PGK_COUNTOF(rows); i++) {
        const size_t n = strlen(rows[i].start);
        if (size >= n && !memcmp(bytes, rows[i].start, n))
            return &rows[i].file;
    }
    return is_cpu_pprof(bytes, size) ? &cpu : NULL;
}
