/* What llvm-profdata says of errors, besides pgokit's own message: scripts look for these words. */
#include "compat.h"

#include <stdio.h>
#include <stdlib.h>
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
    {PGK_E_MISMATCH, NULL, "merged", "counters", NULL,
     "%s: function basic block count change detected (counter mismatch)\n"
     "Make sure that all profile data to be merged is generated from the same binary."},
    {PGK_E_MISMATCH, NULL, "merged", "bitmap bytes", NULL,
     "%s: function bitmap size change detected (bitmap size mismatch)"},
    {PGK_E_LIMIT, "counters", "merged", NULL, NULL, "%s: counter overflow"},
    {PGK_E_LIMIT, "samples", "merged", NULL, NULL, "%s: Counter overflow"},
    {PGK_E_CORRUPT, "counters", "merged", "value", NULL, "invalid profile created"},
    {PGK_E_MISMATCH, NULL, NULL, "instrumentation", NULL,
     "Merge IR generated profile with Clang generated profile.\n"
     "unsupported instrumentation profile format version"},
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

static bool merges;      /* where inputs that cannot be read are warnings */
static char *said;       /* lines, which follow pgokit's own messages at the end */
static size_t said_size;

static void put_said(void)
{
    if (said)
        fputs(said, stderr);
    if (said && merges)
        fputs("error: no profile can be merged\n", stderr);
    free(said);
}

static void say(const char *line)
{
    char *grown = realloc(said, said_size + strlen(line) + 1);
    if (!grown)
        return;
    if (!said)
        atexit(put_said);
    strcpy(grown + said_size, line);
    said = grown;
    said_size += strlen(line);
}

void compat_say_llvm_words(const char *words)
{
    say(compat_text("error: %s\n", words));
}

void compat_llvm_merges(void)
{
    merges = true;
}

void compat_llvm_done(void)
{
    if (!merges && said)
        *said = '\0'; /* errors that would have been */
    merges = false;
}

/* LLVM takes for text what begins with printable characters. */
static bool begins_as_text(const char *path)
{
    unsigned char bytes[8];
    FILE *in = fopen(path, "re");
    size_t n = in ? fread(bytes, 1, sizeof bytes, in) : 0;
    if (in)
        fclose(in);
    for (size_t i = 0; i < n; i++)
        if ((bytes[i] < ' ' || bytes[i] > '~') && !strchr("\t\n\v\f\r", bytes[i]))
            return false;
    return n > 0;
}

/* "number of counters 2 is greater than the maximum number of counters 0" */
static const char *counter_words(const struct pgk_err *err)
{
    enum { BYTES = 8 };
    unsigned long bytes, at, all;
    if (sscanf(err->found, "%lu bytes at 0x%lx", &bytes, &at) != 2 ||
        sscanf(err->expected, "a range of its own in %lu bytes", &all) != 1)
        return NULL;
    return compat_text("malformed instrumentation profile data: number of counters %lu is greater "
                       "than the maximum number of counters %lu", bytes / BYTES,
                       at < all ? (all - at) / BYTES : 0);
}

static const char *words_for(const struct pgk_err *err)
{
    const char *counters = counter_words(err);
    if (counters)
        return counters;
    if (err->status == PGK_E_IO)
        return strerror(err->sys_errno);
    if (err->status == PGK_E_FORMAT && begins_as_text(err->file))
        return "malformed instrumentation profile data";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (fits(&rows[i], err))
            return rows[i].words;
    return NULL;
}

void compat_say_llvm(const struct pgk_err *err, bool warning)
{
    char file[sizeof err->file], found[64];
    const char *words = words_for(err), *hole = words ? strstr(words, "%s") : NULL;
    if (!words)
        return;
    pgk_human_text(file, sizeof file, err->file);
    pgk_human_text(found, sizeof found, err->found);
    if (hole)
        found[strcspn(found, " ,")] = '\0';
    say(compat_text("%s: %s%s%.*s%s%s\n", warning || merges ? "warning" : "error", file,
                    *file ? ": " : "", hole ? (int)(hole - words) : (int)strlen(words), words,
                    hole ? found : "", hole ? hole + 2 : ""));
}
