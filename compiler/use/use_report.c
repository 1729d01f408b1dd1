/* Writes records of what was used, one file for each module and profile, so that compiles that run
 * side by side do not meet. A file is there as a whole or not at all. */
#include "use_report.h"

#include "plan_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct pgc_report {
    char *folder, *text;
    size_t n;
    FILE *out; /* into `text` */
    uint64_t calls[PGC_UNLOCATED + 1];
    uint64_t id; /* of the compile, the module and the profile */
};

static uint64_t key_of_bytes(uint64_t key, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        key = pgk_use_key(key, (unsigned char)bytes[i]);
    return key;
}

/* A source may be compiled several times, with other flags or in another folder. */
static uint64_t key_of_command(void)
{
    char some[4096];
    uint64_t key = 0;
    if (getcwd(some, sizeof some))
        key = key_of_bytes(key, some, strlen(some));
    FILE *in = fopen("/proc/self/cmdline", "r");
    if (!in)
        return pgk_use_key(key, (uint64_t)getpid());
    for (size_t n; (n = fread(some, 1, sizeof some, in));)
        key = key_of_bytes(key, some, n);
    fclose(in);
    return key;
}

struct pgc_report *pgc_report_new(const char *folder, LLVMModuleRef module, const char *profile)
{
    if (!folder)
        return NULL;
    size_t n;
    const char *name = LLVMGetModuleIdentifier(module, &n);
    struct pgc_report *r = pgc_zeroed(1, sizeof *r);
    r->folder = strdup(folder);
    r->out = open_memstream(&r->text, &r->n);
    if (!r->folder || !r->out)
        abort();
    r->id = key_of_bytes(key_of_command(), name, n);
    r->id = key_of_bytes(r->id, profile, strlen(profile));
    fputs("pgokit-use-record 1\nmodule ", r->out);
    for (size_t i = 0; i < n && i < 200; i++)
        fputc(name[i] < ' ' ? '?' : name[i], r->out);
    fputc('\n', r->out);
    return r;
}

void pgc_report_of(struct pgc_report *r, const char *kind, uint64_t items, uint64_t weight)
{
    if (r)
        fprintf(r->out, "profile %s %" PRIu64 " %" PRIu64 "\n", kind, items, weight);
}

void pgc_report_limits(struct pgc_report *r, const struct pgk_use_limits *limits)
{
    if (r)
        fprintf(r->out, "limits %.17g %.17g %.17g %.17g\n", limits->cold_lifetime,
                limits->cold_share, limits->cold_density, limits->hot_density);
}

void pgc_report_use(struct pgc_report *r, enum pgk_use use, uint64_t key, uint64_t place)
{
    if (r)
        fprintf(r->out, "use %d %" PRIx64 " %" PRIx64 "\n", (int)use, key, place);
}

void pgc_report_count(struct pgc_report *r, enum pgc_report_call what)
{
    if (r)
        r->calls[what]++;
}

uint64_t pgc_place_key(const struct pgc_place *chain, size_t n, uint64_t type)
{
    uint64_t key = type;
    for (size_t i = 0; i < n; i++)
        key = pgk_use_key(pgk_use_key(key, chain[i].function),
                          (uint64_t)chain[i].line_offset << 32 | chain[i].column);
    return key;
}

void pgc_report_linked(struct pgc_report *r, const char *what, LLVMValueRef at, uint64_t type)
{
    struct pgc_place chain[PGC_PLACES];
    if (!r)
        return;
    r->calls[*what == 'h' ? PGC_GIVEN : PGC_MISSED]++;
    size_t n = pgc_places(at, chain, PGC_PLACES);
    for (size_t i = 1; i <= n; i++)
        fprintf(r->out, "%s %" PRIx64 "\n", what, pgc_place_key(chain, i, type));
}

static bool write_file(const char *path, const char *text, size_t n)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return false;
    bool written = fwrite(text, 1, n, out) == n;
    return !fclose(out) && written;
}

static bool put(const struct pgc_report *r)
{
    size_t n = strlen(r->folder) + 64;
    char *path = pgc_zeroed(n, 1), *unfinished = pgc_zeroed(n, 1);
    snprintf(path, n, "%s/%016" PRIx64 ".used", r->folder, r->id);
    snprintf(unfinished, n, "%s/.%016" PRIx64 ".%ld", r->folder, r->id, (long)getpid());
    mkdir(r->folder, 0777);
    bool done = write_file(unfinished, r->text, r->n) && !rename(unfinished, path);
    if (!done)
        unlink(unfinished);
    free(path);
    free(unfinished);
    return done;
}

void pgc_report_close(struct pgc_report *r, LLVMModuleRef module)
{
    if (!r)
        return;
    fprintf(r->out, "calls %" PRIu64 " %" PRIu64 " %" PRIu64 "\nend\n", r->calls[PGC_GIVEN],
            r->calls[PGC_MISSED], r->calls[PGC_UNLOCATED]);
    fclose(r->out);
    if (!put(r))
        pgc_warn(module, r->folder, "the record of what was used cannot be written there");
    free(r->folder);
    free(r->text);
    free(r);
}

/* ---- links ---- */

static const char in_link[] = "pgokit.use.report";

void pgc_report_in_link(LLVMModuleRef module, const char *folder)
{
    if (!folder || LLVMGetNamedMetadataNumOperands(module, in_link))
        return;
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMMetadataRef text = LLVMMDStringInContext2(context, folder, strlen(folder));
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, &text, 1);
    LLVMAddNamedMetadataOperand(module, in_link, LLVMMetadataAsValue(context, node));
}

const char *pgc_report_of_link(LLVMModuleRef module)
{
    unsigned n = LLVMGetNamedMetadataNumOperands(module, in_link), length = 0;
    if (!n)
        return NULL;
    LLVMValueRef *nodes = pgc_zeroed(n, sizeof *nodes), text = NULL;
    LLVMGetNamedMetadataOperands(module, in_link, nodes);
    if (LLVMGetMDNodeNumOperands(nodes[0]) == 1)
        LLVMGetMDNodeOperands(nodes[0], &text);
    free(nodes);
    return text ? LLVMGetMDString(text, &length) : NULL; /* of the context, ends with a NUL */
}
