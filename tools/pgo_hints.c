/* Hints for the allocator, as a layer of `pgokit pgo`: a build that counts accesses makes a heap
 * profile, by which clang's plugin of pgokit marks the calls whose objects are rarely used. */
#include "pgo_layers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A library goes to the linker alone, as compilers get these flags, too. */
static char *as_flags(char *text)
{
    char *all = pgo_text("%s", "");
    for (char *rest = text, *word; (word = strsep(&rest, " \n")) != NULL;) {
        const size_t n = strlen(word);
        if (!n)
            continue;
        const bool library = n > 2 && *word == '/' && !strcmp(word + n - 2, ".a");
        char *longer = pgo_text("%s %s%s", all, library ? "-Wl," : "", word);
        free(all);
        all = longer;
    }
    return all;
}

/* What `pgokit config` says for compiling and linking, to be freed; NULL: nothing for this
 * compiler. */
static char *config(const struct pgo_layering *l, const char *what, const char *profile)
{
    char self[PATH_MAX], *command, *line = NULL;
    size_t size = 0;
    if (!realpath("/proc/self/exe", self) ||
        asprintf(&command,
                 "'%s' config -q --cflags --ldflags --libs --cc clang-%lu %s %s%s 2>/dev/null",
                 self, l->builder->compiler->release, what, profile ? "--profile " : "",
                 profile ? profile : "") < 0)
        pgo_stop("out of memory");
    FILE *f = popen(command, "re");
    bool any = f && getline(&line, &size, f) > 0;
    any = f && !pclose(f) && any;
    char *flags = any ? as_flags(line) : NULL;
    free(command);
    free(line);
    return flags;
}

/* The best build, counting. */
static bool build_counting(const struct pgo_layering *l)
{
    struct pgo_compiler *c = l->builder->compiler;
    const char *best = c->use;
    char *counting = config(l, "heap", NULL), *all = NULL;
    if (!counting)
        return false;
    all = pgo_text("%s%s", best, counting);
    c->use = all;
    const bool built = pgo_build_layer(l->builder, l->profile);
    c->use = best;
    free(all);
    free(counting);
    return built;
}

/* One run of the load; each of its processes writes a file. */
static void record(const struct pgo_layering *l, struct record_files *recordings)
{
    struct record_ended ended;
    char options[2 * PATH_MAX], template[2 * PATH_MAX];
    char *users = pgo_saved("PGOKIT_HEAP_OPTIONS");
    const char quote = record_quote(l->load->scratch);
    snprintf(options, sizeof options, "log_path=%c%s/heap%c", quote, l->load->scratch, quote);
    snprintf(template, sizeof template, "%s/heap.%%p", l->load->scratch);
    record_join("PGOKIT_HEAP_OPTIONS", users ? users : "", options);
    pgo_say(l->load->quiet, "records the heap: %s", l->load->run);
    record_files_before(recordings, template);
    if (l->load->for_s > 0)
        pgo_shell_for("the recorded command", l->load->run, l->load->for_s, &ended);
    else
        pgo_shell("the recorded command", l->load->run, &ended);
    record_files_after(recordings, template);
    pgo_put_back("PGOKIT_HEAP_OPTIONS", users);
}

static bool merge(const struct pgo_layering *l, const struct record_files *recordings,
                  const char *output)
{
    struct record_ended ended;
    const char **words = calloc(recordings->n + 2 * l->files->n + 6, sizeof *words);
    size_t n = 0;
    if (!words)
        pgo_stop("out of memory");
    words[n++] = "pgokit";
    words[n++] = "merge";
    words[n++] = "-q";
    words[n++] = "-o";
    words[n++] = output;
    for (size_t i = 0; i < recordings->n; i++)
        words[n++] = recordings->v[i].path;
    for (size_t i = 0; i < l->files->n; i++) {
        words[n++] = "-b";
        words[n++] = l->files->v[i].path;
    }
    const bool ok = pgo_log_run("/proc/self/exe", words, true, &ended) && !ended.signal &&
                    ended.exit_code <= EXIT_INCOMPLETE;
    free(words);
    return ok;
}

bool pgo_hint_objects(const struct pgo_layering *l, char **flags, const char **why)
{
    struct record_files recordings = {0};
    char profile[PATH_MAX + 16];
    if ((size_t)snprintf(profile, sizeof profile, "%s.memprofdata", l->profile) >= sizeof profile)
        pgo_stop("the name is too long: %s", l->profile);
    char plugin[64], path[PATH_MAX];
    snprintf(plugin, sizeof plugin, "pgokit_use_clang_%lu.so", l->builder->compiler->release);
    *why = "no plugin of pgokit uses heap profiles by this compiler";
    if (!l->builder->compiler->cc || !heap_runtime_find(path, plugin))
        return false;
    *why = "it cannot be built so that accesses are counted";
    if (!build_counting(l))
        return false;
    record(l, &recordings);
    *why = "nothing was recorded of the heap";
    const bool ok = recordings.n && merge(l, &recordings, profile);
    record_files_free(&recordings);
    if (!ok)
        return false;
    *why = "pgokit config has no flags for the heap profile";
    *flags = config(l, "use", profile);
    return *flags != NULL;
}
