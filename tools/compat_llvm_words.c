/* What llvm-profdata says of errors, besides pgokit's own message: scripts look for these words. */
#include "compat.h"

#include <stdio.h>
#include <string.h>

/* The first row that fits counts; NULL fits all. Texts are found anywhere in those of the error. */
static const struct row {
    int status; /* 0: any */
    const char *format, *record, *field, *found;
    const char *words; /* with %s: what was found */
} rows[] = {
    {PGK_E_VERSION, "raw counters", NULL, "version", NULL,
     "raw profile version mismatch: Profile uses raw profile format version = %s; expected version "
     "= 10\nPLEASE update this tool to version in the raw profile, or regenerate raw profile with "
     "expected version."},
    {PGK_E_VERSION, "indexed profile", NULL, "version", NULL,
     "unsupported instrumentation profile format version"},
    {PGK_E_TRUNCATED, "raw counters", "image 1, header", NULL, NULL,
     "invalid instrumentation profile data (file header is corrupt)"},
    {PGK_E_TRUNCATED, "raw counters", "binary ids", NULL, NULL,
     "malformed instrumentation profile data: not enough data to read binary id data"},
    {PGK_E_TRUNCATED, "raw counters", "header", "magic", NULL,
     "malformed instrumentation profile data: not enough space for another header"},
    {PGK_E_CORRUPT, "raw counters", NULL, "n_counters", NULL,
     "malformed instrumentation profile data: number of counters is zero"},
    {0, "raw counters", "function", "counter ", NULL,
     "malformed instrumentation profile data: excessively large counter value suggests corrupted "
     "profile data: %s"},
    {PGK_E_CORRUPT, "text counters", NULL, "number of bitmap bytes", NULL,
     "malformed instrumentation profile data: number of bitmap bytes is not a valid integer"},
    {PGK_E_CORRUPT, "text counters", NULL, "bitmap byte", NULL,
     "malformed instrumentation profile data: bitmap byte is not a valid integer"},
    {PGK_E_MISMATCH, NULL, NULL, "instrumentation", NULL,
     "Merge IR generated profile with Clang generated profile."},
    {PGK_E_TRUNCATED, "counters", NULL, NULL, NULL, "truncated profile data"},
    {PGK_E_CORRUPT, "counters", NULL, NULL, NULL, "malformed instrumentation profile data"},
    {PGK_E_CORRUPT, "indexed profile", NULL, NULL, NULL,
     "malformed instrumentation profile data"},
    {PGK_E_TRUNCATED, "indexed profile", NULL, NULL, NULL, "truncated profile data"},
    {PGK_E_MISMATCH, "raw heap profile", NULL, "build id", NULL,
     "No matching executable segments found in binary"},
    {PGK_E_ARG, NULL, NULL, "traces to test with", NULL,
     "--num-test-traces must be smaller than the total number of traces"},
    {PGK_E_FORMAT, NULL, NULL, NULL, NULL,
     "unrecognized instrumentation profile encoding format\n"
     "Perhaps you forgot to use the --sample or --memory option?"},
};

static bool has(const char *text, const char *part)
{
    return !part || strstr(text, part);
}

static bool fits(const struct row *row, const struct pgk_err *err)
{
    return (!row->status || row->status == err->status) && has(err->format, row->format) &&
           has(err->record, row->record) && has(err->field, row->field) &&
           has(err->found, row->found);
}

void compat_say_llvm_words(const char *words)
{
    fprintf(stderr, "error: %s\n", words);
}

void compat_say_llvm(const struct pgk_err *err, bool warning)
{
    char file[sizeof err->file], found[64];
    pgk_human_text(file, sizeof file, err->file);
    pgk_human_text(found, sizeof found, err->found);
    found[strcspn(found, " ,")] = '\0';
    const char *kind = warning ? "warning" : "error";
    if (err->status == PGK_E_IO) {
        fprintf(stderr, "%s: %s: %s\n", kind, file, strerror(err->sys_errno));
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!fits(&rows[i], err))
            continue;
        const char *words = rows[i].words, *hole = strstr(words, "%s");
        int before = hole ? (int)(hole - words) : (int)strlen(words);
        fprintf(stderr, "%s: %s%s%.*s%s%s\n", kind, file, *file ? ": " : "", before, words,
                hole ? found : "", hole ? hole + 2 : "");
        return;
    }
}
