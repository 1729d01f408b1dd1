/* Files that are no profiles: what they are, and which verb or program takes them. */
#include "foreign_files.h"

#include "compiler.h"
#include "gen_input.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool is_text(const uint8_t *bytes, size_t size)
{
    enum { LOOKED_AT = 4096 };
    size_t n = size < LOOKED_AT ? size : LOOKED_AT;
    for (size_t i = 0; i < n; i++)
        if (bytes[i] < ' ' && !isspace(bytes[i]) && bytes[i] != '\033' && bytes[i] != '\b')
            return false;
    return n != 0;
}

/* Both say at their beginning what they are. */
static bool has_near(const uint8_t *bytes, size_t size, const char *text)
{
    enum { NEAR = 512 };
    return memmem(bytes, size < NEAR ? size : NEAR, text, strlen(text)) != NULL;
}

static bool is_our_json(const uint8_t *bytes, size_t size)
{
    return size && *bytes == '{' &&
           (has_near(bytes, size, "\"schema\":\"pgokit-") ||
            has_near(bytes, size, "\"schema\": \"pgokit-") ||
            has_near(bytes, size, "\"format\": \"pgokit-") ||
            has_near(bytes, size, "\"format\":\"pgokit-"));
}

static bool is_html(const uint8_t *bytes, size_t size)
{
    static const char doctype[] = "<!doctype html";
    return size >= sizeof doctype &&
           !strncasecmp((const char *)bytes, doctype, sizeof doctype - 1);
}

static bool is_script(const uint8_t *bytes, size_t size)
{
    return size > 2 && !memcmp(bytes, "#!", 2);
}

/* "2", and then as many ranges "150-174:101": what gen --raw and record branches write. Those with
 * contexts begin with one in brackets. */
static bool is_counts(const uint8_t *bytes, size_t size)
{
    size_t i = 0;
    if (size && *bytes == '[')
        while (i < size && bytes[i] != '\n')
            i++;
    while (i < size && isspace(bytes[i]))
        i++;
    const size_t number = i;
    while (i < size && isdigit(bytes[i]))
        i++;
    if (i == number || i == size || bytes[i++] != '\n')
        return false;
    while (i < size && bytes[i] == ' ')
        i++;
    const size_t first = i;
    while (i < size && isxdigit(bytes[i]))
        i++;
    if (i == first || i == size || bytes[i] != '-')
        return false;
    for (i++; i < size && isxdigit(bytes[i]);)
        i++;
    return i < size && bytes[i] == ':';
}

/* The messages of a profile are in any order. A heap profile has bytes of space among its texts, a
 * profile of processor time has these. */
static const struct {
    const char *start;
    struct pgk_foreign_file file;
} rows[] = {
    {"PERFILE2",
     {"a recording of perf", "pgokit gen FILE -o app.afdo makes a sample profile of it"}},
    {"PGKBRANC",
     {"a recording of pgokit record branches",
      "pgokit gen FILE -o app.afdo makes a sample profile of it"}},
    {"# ========\n# captured on",
     {"text that perf printed", "pgokit gen FILE -o app.afdo makes a sample profile of it, if perf "
                                "script printed it with --show-mmap-events"}},
    {"PGKAPLAN",
     {"a plan for the allocator",
      "pgokit run --plan FILE -- PROGRAM uses it; pgokit plan PROFILE --plan FILE --explain shows "
      "it"}},
    {"pgokit-use-record ",
     {"a record of what a compile used",
      "pgokit match PROFILE --used DIR adds up those of a folder"}},
    {"\x89PNG\r\n", {"a picture", "give a profile"}},
    {"JAVA PROFILE ", {"a heap dump of Java", "use a tool for Java, such as Eclipse MAT"}},
    {"PK\3\4", {"a ZIP archive", "unpack it"}},
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
    static const struct {
        bool (*is)(const uint8_t *bytes, size_t size);
        struct pgk_foreign_file file;
    } looks[] = {
        {pgk_gen_is_stacks,
         {"call stacks of another profiler, as of processor time",
          "pgokit gen FILE -b PROGRAM -o app.afdo makes a sample profile of a CPU profile"}},
        {is_our_json,
         {"JSON of pgokit", "it is for programs, such as jq; show the profile it was made of"}},
        {is_html, {"an HTML page", "open it in a browser"}},
        {is_counts,
         {"counts of addresses, of pgokit record branches or gen --raw",
          "pgokit gen FILE -b PROGRAM -o app.afdo makes a sample profile of it"}},
        {is_script,
         {"a script", "pgokit record heap -- FILE records what it runs"}},
        {is_text, {"text of no format that pgokit knows", "pgokit formats lists what is read"}},
    };
    for (size_t i = 0; i < PGK_COUNTOF(rows); i++) {
        const size_t n = strlen(rows[i].start);
        if (size >= n && !memcmp(bytes, rows[i].start, n))
            return &rows[i].file;
    }
    for (size_t i = 0; i < PGK_COUNTOF(looks); i++)
        if (looks[i].is(bytes, size))
            return &looks[i].file;
    return NULL;
}
