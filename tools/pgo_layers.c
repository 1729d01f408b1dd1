/* What is tried on top of a build with a profile and takes another recording, of that build: the
 * order of its functions, which the linker follows, and llvm-bolt, which rewrites the programs. */
#include "pgo_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BOLT "llvm-bolt"

/* Runs what stands in the tree; false: the recorder cannot be preloaded into it. */
static bool record(const struct pgo_layering *l, const char *name,
                   struct record_files *recordings)
{
    struct pgo_load load = *l->load;
    load.name = name;
    if (pgo_needs_archive(l->files))
        return false;
    (void)pgo_record(&load, recordings);
    return true;
}

const struct record_files *pgo_record_best(const struct pgo_layering *l)
{
    struct pgo_best *best = l->best;
    char name[32];
    pgo_place(l->files, false);
    if (!best->is_recorded) {
        snprintf(name, sizeof name, "best%u", best->times++);
        best->is_recorded = record(l, name, &best->recordings);
    }
    return best->is_recorded ? &best->recordings : NULL;
}

void pgo_forget_best(const struct pgo_layering *l)
{
    record_files_free(&l->best->recordings);
    l->best->is_recorded = false;
}

/* Why nothing came of another recording. */
static const char *why_none(const struct pgo_layering *l, const char *else_why)
{
    return pgo_needs_archive(l->files)
               ? "the best build is linked statically, so it cannot be recorded as it is"
               : else_why;
}

/* What gen makes of the recordings for one of the files. */
static bool generate(const struct pgo_layering *l, const struct record_files *recordings, size_t i,
                     const char *form, const char *output)
{
    const struct pgo_files one = {&l->files->v[i], 1};
    return pgo_generate(&(struct pgo_generated){.recordings = recordings,
                                                .files = &one,
                                                .form = form,
                                                .output = output,
                                                .quiet = true,
                                                .errors_too = true});
}

/* ---- the order of functions ---- */

bool pgo_order_functions(const struct pgo_layering *l, char **flags, const char **why)
{
    char path[2 * PATH_MAX];
    size_t n = 0;
    const struct record_files *recordings = pgo_record_best(l);
    char *all = pgo_text(" -ffunction-sections");
    for (size_t i = 0; recordings && i < l->files->n; i++) {
        if (l->files->n == 1)
            snprintf(path, sizeof path, "%s.ld", l->profile);
        else
            snprintf(path, sizeof path, "%s.%zu.ld", l->profile, i);
        if (!generate(l, recordings, i, "order-ld", path))
            continue; /* it did not run */
        char *longer = pgo_text("%s -Wl,-T,%s", all, path);
        free(all);
        all = longer;
        n++;
    }
    *flags = all;
    *why = why_none(l, "no order could be made of another recording");
    return n > 0;
}

/* ---- llvm-bolt ---- */

/* "llvm-bolt", or the newest of those with a release in their names. */
static void note_bolt(void *ctx, const char *name)
{
    char *best = ctx;
    const size_t n = strlen(BOLT);
    if (strncmp(name, BOLT, n) != 0)
        return;
    const unsigned long release = name[n] == '-' ? strtoul(name + n + 1, NULL, 10) : 1000;
    const unsigned long former =
        !*best ? 0 : best[n] == '-' ? strtoul(best + n + 1, NULL, 10) : 1000;
    if ((name[n] == '-' ? strspn(name + n + 1, "0123456789") == strlen(name + n + 1) : !name[n]) &&
        release > former && strlen(name) < PGO_BOLT_NAME)
        strcpy(best, name);
}

bool pgo_find_bolt(char name[PGO_BOLT_NAME])
{
    *name = '\0';
    cli_each_in_path(note_bolt, name);
    return *name;
}

/* In the place of the file. */
static bool rewrite(const char *bolt, const char *path, const char *counts, const char *scratch)
{
    char out[PATH_MAX + 16], data[2 * PATH_MAX];
    struct record_ended ended;
    snprintf(out, sizeof out, "%s/bolted", scratch);
    snprintf(data, sizeof data, "-data=%s", counts);
    char program[PATH_MAX];
    bool seen = false;
    const char *const words[] = {bolt, path, "-o", out, data, "-reorder-blocks=ext-tsp",
                                 "-reorder-functions=cdsort", "-split-functions",
                                 "-split-all-cold", "-icf=1", "-use-old-text",
                                 "-update-debug-sections", NULL}; /* it would drop them */
    const bool ok = record_find_in_path(program, bolt, &seen) &&
                    pgo_log_run(program, words, true, &ended) && !ended.signal &&
                    !ended.exit_code && pgo_replace(out, path, false);
    unlink(out);
    return ok;
}

bool pgo_run_bolt(const struct pgo_layering *l, const char **why)
{
    struct record_files recordings = {0};
    char bolt[PGO_BOLT_NAME], counts[PATH_MAX + 16];
    size_t n = 0;
    *why = why_none(l, "no counts for it could be made of another recording");
    if (!pgo_find_bolt(bolt) || !record(l, "bolt", &recordings))
        return false;
    snprintf(counts, sizeof counts, "%s/fdata", l->load->scratch);
    for (size_t i = 0; i < l->files->n; i++) {
        if (!generate(l, &recordings, i, "bolt", counts))
            continue; /* it did not run */
        if (!rewrite(bolt, l->files->v[i].path, counts, l->load->scratch)) {
            *why = "llvm-bolt does not take the program";
            n = 0;
            break;
        }
        n++;
    }
    record_files_free(&recordings);
    return n > 0;
}
