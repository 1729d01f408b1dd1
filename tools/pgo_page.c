/* pgokit pgo --page: what became faster and why. The page has the time of both builds by function,
 * so the one that is kept is recorded, too. */
#include "pgo_page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char **paths_of(size_t n)
{
    const char **paths = calloc(n + 1, sizeof *paths);
    if (!paths)
        pgo_stop("out of memory");
    return paths;
}

/* NULL: the page is without it, and a warning says why. */
static struct pgk_built *read_build(const char *which, const struct pgo_files *files,
                                    const struct record_files *recordings)
{
    struct pgk_built *build = NULL;
    struct pgk_err why = {0};
    const char **binaries = paths_of(files->n), **recorded = paths_of(recordings->n);
    for (size_t i = 0; i < files->n; i++)
        binaries[i] = files->v[i].path;
    for (size_t i = 0; i < recordings->n; i++)
        recorded[i] = recordings->v[i].path;
    const struct pgk_built_opts opts = {.struct_size = sizeof opts,
                                        .binaries = binaries,
                                        .n_binaries = files->n,
                                        .recordings = recorded,
                                        .n_recordings = recordings->n};
    if (pgk_built_read(&build, &opts, &why)) {
        fprintf(stderr, "pgokit: warning: the page does not have the functions of the %s build:\n",
                which);
        pgk_err_print(&why, stderr);
    }
    free(binaries);
    free(recorded);
    return build;
}

void pgo_page_before(struct pgo_page *page, const struct pgo_files *files,
                     const struct record_files *recordings)
{
    if (page->path)
        page->before = read_build("plain", files, recordings);
}

static struct pgk_built *read_kept(const struct pgo_layering *l)
{
    const struct record_files *recordings = pgo_record_best(l);
    if (recordings)
        return read_build("faster", l->files, recordings);
    fputs("pgokit: warning: the page does not have the functions of the faster build, because it "
          "is linked statically\n",
          stderr);
    return NULL;
}

/* What the page is about: the largest program that the recorded command names, else of all. */
static const char *title_of(const struct pgo_files *files, const char *run)
{
    uint64_t most = 0;
    bool is_named = false;
    const char *title = files->v[0].path;
    for (size_t i = 0; i < files->n; i++) {
        struct pgk_program p = {.struct_size = sizeof p};
        const bool named = strstr(run, cli_base_name(files->v[i].path)) != NULL;
        if (pgk_program_inspect(&p, files->v[i].path, NULL) || named < is_named ||
            (named == is_named && p.code_bytes <= most))
            continue;
        is_named = named;
        most = p.code_bytes;
        title = files->v[i].path;
    }
    return cli_base_name(title);
}

void pgo_page_write(const struct pgo_page *page, const struct pgk_trial *trial,
                    const struct pgo_layering *l, bool kept, bool quiet)
{
    struct pgk_err why = {0};
    if (!page->path)
        return;
    struct pgk_built *after = kept ? read_kept(l) : NULL;
    const struct pgk_trial_page_opts opts = {.struct_size = sizeof opts,
                                             .title = title_of(l->files, l->load->run)};
    const int status = pgk_trial_write_page(trial, page->before, after, &opts, page->path, &why);
    pgk_built_close(&after);
    if (status) {
        pgk_err_print(&why, stderr);
        pgo_stop("cannot write the page");
    }
    pgo_say(quiet, "what became faster and why is on the page %s", page->path);
}

void pgo_page_free(struct pgo_page *page)
{
    pgk_built_close(&page->before);
}
