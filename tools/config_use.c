/* pgokit config use: flags by which clang and lld use profiles, with pgokit's plugin. */
#include "config.h"

#include "sample_input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FIRST_WITH_TYPES = 22 }; /* clang, that reads a sample profile with types in it */

#define PLUGIN "-fplugin=%s -Xclang -fpass-plugin=%s"
/* Virtual calls are marked in objects for ThinLTO, and the plugin's types are compared by what LLVM
 * has for types of instrumented profiles. */
#define TYPES_CFLAGS "-flto=thin -fwhole-program-vtables -fno-split-lto-unit"
/* Classes may have virtual functions overridden in libraries that the linker does not see: so no
 * call becomes a direct one without a comparison (wholeprogramdevirt-skip). Types and targets are
 * sampled apart from one another: their shares need not be the same to the percent. */
#define TYPES_LDFLAGS                                                                    \
    "-flto=thin -fuse-ld=lld -Wl,--lto-whole-program-visibility "                        \
    "-Wl,-mllvm,-wholeprogramdevirt-skip=* -Wl,-mllvm,-enable-vtable-profile-use "       \
    "-Wl,-mllvm,-icp-vtable-percentage-threshold=0.8"

/* Places in the source, of which columns are a part. */
#define HEAP_CFLAGS "-g -fdebug-info-for-profiling"
/* In a link with LTO functions are copied for callers that differ; the plugin gives hints there. */
#define LINK_PLUGIN "-Wl,--load-pass-plugin=%s"
#define HEAP_LDFLAGS                                                                     \
    "-fuse-ld=lld "                                                                      \
    "-Wl,-mllvm,-enable-memprof-context-disambiguation -Wl,-mllvm,-supports-hot-cold-new"

/* What the profiles need. */
struct need {
    char plugin[PATH_MAX];
    bool types, heap;
};

static void find_plugin(const struct config *c, struct need *need)
{
    char file[64];
    if (!c->clang || !c->release)
        cli_usage(&cmd_config, "profiles are used by a plugin for a release of clang: name it, as "
                               "in --cc clang-22");
    snprintf(file, sizeof file, "pgokit_use_clang_%lu.so", c->release);
    if (!heap_runtime_find(need->plugin, file)) {
        fprintf(stderr,
                "pgokit: this pgokit has no plugin for clang %lu that uses profiles. They are "
                "built for releases from 19 on whose development files (llvm-22-dev) are "
                "installed\n",
                c->release);
        exit(EXIT_FAILED);
    }
    config_check_path(need->plugin);
}

static void say(const struct config *c, const char *path, const char *what)
{
    char safe[256];
    if (!c->common.quiet)
        fprintf(stderr, "pgokit: %s: %s\n", pgk_human_text(safe, sizeof safe, path), what);
}

/* Flags that name the file, which build systems use from other folders. */
static void use_sample(const struct config *c, struct need *need, const char *path)
{
    struct pgk_sample *profile = NULL;
    struct pgk_sample_info info = {.struct_size = sizeof info};
    struct pgk_err err;
    if (sample_input_read(&profile, path, &c->common, NULL, &err))
        exit(cli_fail(&err));
    pgk_sample_info(profile, &info);
    pgk_sample_close(&profile);
    bool is_read = !info.vtables || c->release >= FIRST_WITH_TYPES;
    need->types |= info.vtables;
    if (!info.vtables)
        say(c, path, "there are no types of objects in it; pgokit gen writes them with --vtables");
    else if (!is_read)
        say(c, path, "this release of clang cannot read types in -fprofile-sample-use; give it "
                     "the same profile without them (pgokit convert --no-vtables)");
    if (!c->cflags)
        return;
    if (info.vtables)
        printf(" -mllvm -pgokit-use=%s", path);
    if (is_read)
        printf(" -fprofile-sample-use=%s", path);
    printf(" %s", info.probes ? "-fpseudo-probe-for-profiling" : "-fdebug-info-for-profiling");
}

static void use_profile(const struct config *c, struct need *need, const char *name)
{
    struct pgk_file *file;
    struct pgk_err err;
    char path[PATH_MAX];
    if (cli_open(&file, name, &err))
        exit(cli_fail(&err));
    if (!realpath(name, path))
        cli_usage(&cmd_config, "--profile needs a file name, not standard input");
    config_check_path(path);
    if (pgk_file_holds(file, PGK_KIND_SAMPLE)) {
        use_sample(c, need, path);
        return;
    }
    if (!pgk_file_holds(file, PGK_KIND_HEAP))
        cli_usage(&cmd_config, "a profile to use is a sample profile or a heap profile");
    need->heap = true;
    if (c->cflags)
        printf(" -mllvm -pgokit-use=%s " HEAP_CFLAGS, path);
}

/* The allocator that knows hints. */
static void print_libs(const struct config *c)
{
    char path[PATH_MAX];
    const char *file = c->shared ? "libpgokit_alloc.so" : "libpgokit_alloc.a";
    if (!heap_runtime_find(path, file)) {
        fprintf(stderr, "pgokit: this pgokit has no allocator (%s)\n", file);
        exit(EXIT_FAILED);
    }
    config_check_path(path);
    printf(" %s", path);
    if (c->shared) {
        *strrchr(path, '/') = 0;
        printf(" -Wl,-rpath,%s", path);
    }
    printf(" -pthread");
}

/* Compilers run in any folder. */
static void print_report(const struct config *c)
{
    char path[PATH_MAX], safe[256];
    if ((mkdir(c->report, 0777) && errno != EEXIST) || !realpath(c->report, path))
        cli_usage(&cmd_config, "cannot make the folder %s: %s",
                  pgk_human_text(safe, sizeof safe, c->report), strerror(errno));
    config_check_path(path);
    printf(" -mllvm -pgokit-use-report=%s", path);
}

void config_use(const struct config *c)
{
    struct need need = {0};
    find_plugin(c, &need);
    for (size_t i = 0; i < c->profiles.n; i++)
        use_profile(c, &need, c->profiles.v[i]);
    if ((need.types || need.heap) && c->cflags)
        printf(" " PLUGIN, need.plugin, need.plugin);
    if ((need.types || need.heap) && c->cflags && c->report)
        print_report(c);
    if (need.types && c->cflags)
        printf(" " TYPES_CFLAGS);
    if (need.types && c->ldflags)
        printf(" " TYPES_LDFLAGS);
    if (need.heap && c->ldflags)
        printf(" " HEAP_LDFLAGS);
    if ((need.heap || (need.types && c->report)) && c->ldflags)
        printf(" " LINK_PLUGIN, need.plugin);
    if (need.heap && c->libs)
        print_libs(c);
}
