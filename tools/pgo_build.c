/* Builds the program for `pgokit pgo`, without the profile and with it, by the commands of the
 * user or of the build system that was found. */
#include "pgo.h"

#include "perf_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct timespec now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME_COARSE, &t); /* as the system dates files */
    return t;
}

/* A build that calls a compiler by its path gets the flags of another. */
static const char *hint(const struct pgo_builder *b)
{
    if (b->compiler->clang && pgo_log_has("-gline-tables-only"))
        return "\npgokit: if the build calls gcc by its path, give --gcc";
    if (!b->compiler->clang && pgo_log_has("-fauto-profile"))
        return "\npgokit: if the build calls clang by its path, give --clang";
    if (b->project && b->project->hint)
        return b->project->hint;
    const struct pgo_project *other = b->project ? pgo_other_project(b->project) : NULL;
    char *text;
    if (other && asprintf(&text,
                          "\npgokit: the folder can also be built by %s: give --build '%s' "
                          "--clean '%s'",
                          other->name, other->build, other->clean) > 0)
        return text;
    if (b->compiler->is_usual)
        return b->compiler->clang ? "\npgokit: this was clang, as none was named. If it builds by "
                                    "gcc, give --gcc"
                                  : "\npgokit: this was gcc, as there is no clang. If it needs "
                                    "another compiler, name that with --cc";
    return "";
}

const char *pgo_shown_build(const struct pgo_builder *b)
{
    return b->project && b->project->build == b->build && b->project->shown ? b->project->shown
                                                                            : b->build;
}

static struct timespec begin(const struct pgo_builder *b, const char *profile)
{
    pgo_set_flags(b->compiler, profile);
    if (b->clean)
        pgo_build_shell(b->removes ? "removing what an earlier build made"
                                   : "the command of --clean",
                        b->clean, NULL, NULL);
    if (b->removes_since.tv_sec)
        pgo_remove_made(b->removes_since);
    pgo_say(b->quiet, "builds %s the profile: %s", profile ? "with" : "without",
            pgo_shown_build(b));
    return now();
}

struct timespec pgo_build(const struct pgo_builder *b, const char *profile)
{
    const struct timespec started = begin(b, profile);
    char *path = pgo_use_links();
    pgo_build_shell(profile ? "the build with the profile" : "the build", b->build, hint, b);
    pgo_put_back("PATH", path);
    return started;
}

bool pgo_build_layer(const struct pgo_builder *b, const char *profile)
{
    (void)begin(b, profile);
    char *path = pgo_use_links();
    const bool built = pgo_try_build(b->build);
    pgo_put_back("PATH", path);
    return built;
}

/* What the first build used: calls of compilers that take the profile, and of the other one that
 * was called most often. */
struct used {
    const struct pgo_builder *builder;
    long ours, others, most;
    char *name; /* of the other one; NULL: there is none */
};

static void count(void *ctx, const char *name, long times)
{
    struct used *used = ctx;
    if (pgo_takes_same_profile(used->builder->compiler, name)) {
        used->ours += times;
        return;
    }
    used->others += times;
    if (times <= used->most)
        return;
    used->most = times;
    free(used->name);
    used->name = strdup(name);
}

struct timespec pgo_build_new(const struct pgo_builder *b, const char *profile)
{
    if (b->project && b->project->folder && b->project->build == b->build)
        pgo_undo_folder(b->project->folder);
    struct timespec started = pgo_build(b, profile);
    pgo_keep_folder();
    return started;
}

bool pgo_follow_compiler(struct pgo_builder *b, bool *mixed)
{
    struct used used = {.builder = b};
    pgo_each_used(b->scratch, count, &used);
    if (!used.name)
        return false;
    const char *name = pgo_compiler_of_c(used.name);
    free(used.name);
    if (b->cc && !used.ours)
        pgo_stop("the build uses %s, not %s; change that, or give --cc %s", name, b->cc, name);
    if (used.ours >= used.others) {
        pgo_say(b->quiet,
                "the build also uses %s, %ld of %ld times; what that compiles stays "
                "without a profile",
                name, used.others, used.ours + used.others);
        return false;
    }
    pgo_say(b->quiet, "the build uses %s, so the profile is for that", name);
    pgo_change_compiler(b->compiler, name);
    *mixed = used.ours > 0;
    return true;
}

static void note_any(void *ctx, const char *name, long times)
{
    (void)name;
    *(bool *)ctx |= times > 0;
}

bool pgo_needs_variables(const struct pgo_builder *b)
{
    bool any = false;
    pgo_each_used(b->scratch, note_any, &any);
    if (any || b->compiler->by_variables)
        return false;
    pgo_say(b->quiet, "the build found no compiler in PATH, so its flags are given by variables");
    b->compiler->by_variables = true;
    return true;
}

struct timespec pgo_build_first(struct pgo_builder *b)
{
    bool mixed;
    struct timespec started = pgo_build_new(b, NULL);
    if (pgo_needs_variables(b))
        started = pgo_build_new(b, NULL);
    /* What other compilers made has to be made by this one in both builds. */
    return pgo_follow_compiler(b, &mixed) && mixed ? pgo_build(b, NULL) : started;
}

static const char *first_static(const struct pgo_files *files)
{
    for (size_t i = 0; i < files->n; i++) {
        struct pgk_program found = {.struct_size = sizeof found};
        struct pgk_err why = {0};
        const char *path = files->v[i].path;
        if (!pgk_program_inspect(&found, path, &why) && found.kind == PGK_PROGRAM_STATIC &&
            !strstr(cli_base_name(path), ".so"))
            return path;
    }
    return NULL;
}

bool pgo_needs_archive(const struct pgo_files *files)
{
    return first_static(files) && !perf_check_branches();
}

void pgo_build_recorded(const struct pgo_builder *b, const struct pgo_files *files)
{
    char archive[PATH_MAX];
    const char *path = first_static(files);
    if (!pgo_needs_archive(files))
        return;
    if (!heap_runtime_find(archive, "libpgokit_branches_static.a"))
        pgo_stop("%s is linked statically, and libpgokit_branches_static.a, which records such "
                 "programs, is not installed. Link it dynamically, at least to record it",
                 path);
    pgo_say(b->quiet, "%s is linked statically, so the recorder is linked into it to record", path);
    pgo_wrapper_archive(archive);
    (void)pgo_build(b, NULL);
    pgo_wrapper_archive("");
}
