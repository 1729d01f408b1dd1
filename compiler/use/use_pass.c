/* Reads the profiles and passes each to the code that uses it. If a profile cannot be read, or is
 * of another program, one warning says so, and the module is compiled as without it. */
#include "use_pass.h"

#include "use_heap.h"
#include "use_hint.h"
#include "use_types.h"

#include <llvm-c/Analysis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void warn(LLVMModuleRef module, const char *path, const struct pgk_err *err)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);
    if (!out)
        return;
    pgk_err_print(err, out);
    fclose(out);
    pgc_warn(module, path, text);
    free(text);
}

/* The functions that a module names, but for `main`, which each program has. */
struct names {
    size_t all, known;
    bool has_main; /* with code */
};

/* Is anything known of a function? */
typedef bool knows_fn(const void *profile, uint64_t function);

static struct names look_up(LLVMModuleRef module, knows_fn *knows, const void *profile)
{
    struct names names = {0};
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        size_t n;
        const char *name = LLVMGetValueName2(f, &n);
        if (n == 4 && !memcmp(name, "main", 4)) {
            names.has_main = !LLVMIsDeclaration(f);
        } else if (!LLVMGetIntrinsicID(f)) {
            names.all++;
            names.known += knows(profile, pgc_function_id(f));
        }
    }
    return names;
}

enum { FEW = 3 }; /* functions that a profile of the program may lack altogether */

/* Asked once for a program, where its `main` is: any other module may just not have been run. */
static bool is_foreign(LLVMModuleRef module, knows_fn *knows, const void *profile)
{
    struct names names = look_up(module, knows, profile);
    return names.has_main && names.all > FEW && !names.known;
}

static void warn_foreign(LLVMModuleRef module, const char *path)
{
    pgc_warn(module, path, "the profile has no function of this program");
}

/* ---- each kind ---- */

static bool types_know(const void *profile, uint64_t function)
{
    return pgc_types_know(profile, function);
}

static void use_sample(LLVMModuleRef module, const char *path, struct pgk_file *file,
                       const struct pgc_use_options *options)
{
    struct pgk_err err;
    bool all = options->report != NULL;
    struct pgc_type_profile *profile = pgc_types_read(file, module, all, &err);
    if (profile && !all && is_foreign(module, types_know, profile)) {
        pgc_types_close(profile); /* call targets may still show that it is not */
        profile = pgc_types_read(file, module, true, &err);
    }
    if (!profile) {
        warn(module, path, &err);
        return;
    }
    struct pgc_report *report = pgc_report_new(options->report, module, path);
    if (is_foreign(module, types_know, profile))
        warn_foreign(module, path);
    else
        pgc_hint_types(module, profile, report);
    pgc_report_close(report, module);
    pgc_types_close(profile);
}

static bool heap_knows(const void *profile, uint64_t function)
{
    size_t allocating, others;
    pgc_heap_calls(profile, function, true, &allocating);
    pgc_heap_calls(profile, function, false, &others);
    return allocating || others;
}

static void use_heap(LLVMModuleRef module, const char *path, struct pgk_file *file,
                     const struct pgc_use_options *options)
{
    struct pgk_err err;
    struct pgc_heap_profile profile;
    if (!pgc_heap_read(&profile, file, module, &options->limits, &err)) {
        warn(module, path, &err);
        return;
    }
    struct pgc_report *report = pgc_report_new(options->report, module, path);
    if (!pgc_mark_allocations(module, &profile, options, report) &&
        is_foreign(module, heap_knows, &profile))
        warn_foreign(module, path);
    pgc_report_close(report, module);
    pgc_heap_close(&profile);
}

/* Build systems repeat flags. */
static bool is_repeated(const struct pgc_use_options *options, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (!strcmp(options->profiles[before], options->profiles[i]))
            return true;
    return false;
}

typedef void use_fn(LLVMModuleRef module, const char *path, struct pgk_file *file,
                    const struct pgc_use_options *options);

/* Passes the profiles of a kind to the code that uses it. `warns`: warn about a file that cannot be
 * opened. */
static void use_each(LLVMModuleRef module, const struct pgc_use_options *options,
                     enum pgk_kind kind, use_fn *use, bool warns)
{
    for (size_t i = 0; i < options->n; i++) {
        if (is_repeated(options, i))
            continue;
        struct pgk_err err;
        struct pgk_file *file = NULL;
        if (pgk_file_open(&file, options->profiles[i], &err)) {
            if (warns)
                warn(module, options->profiles[i], &err);
        } else if (pgk_file_holds(file, kind)) {
            use(module, options->profiles[i], file, options);
        }
        pgk_file_close(&file);
    }
}

static bool checked(LLVMModuleRef module, const struct pgc_use_options *options, bool changed)
{
    if (options->verify)
        LLVMVerifyModule(module, LLVMAbortProcessAction, NULL);
    return changed;
}

bool pgc_use_types(LLVMModuleRef module, const struct pgc_use_options *options)
{
    use_each(module, options, PGK_KIND_SAMPLE, use_sample, true);
    return checked(module, options, options->n != 0);
}

bool pgc_use_heap(LLVMModuleRef module, const struct pgc_use_options *options)
{
    use_each(module, options, PGK_KIND_HEAP, use_heap, false);
    return checked(module, options, options->n != 0);
}

/* A linker loads the plugin without a profile, after the pass that copies functions by their
 * contexts. */
bool pgc_use_hints(LLVMModuleRef module, const struct pgc_use_options *options)
{
    bool early = options->n && pgc_is_for_link(module);
    if (early) {
        pgc_report_in_link(module, options->report);
        return checked(module, options, false);
    }
    const char *folder = options->n ? NULL : pgc_report_of_link(module);
    struct pgc_report *report = pgc_report_new(folder, module, "link");
    bool changed = pgc_add_hints(module, report);
    pgc_report_of(report, "link", 0, 0);
    pgc_report_tables(module, report);
    pgc_report_close(report, module);
    return checked(module, options, changed);
}
