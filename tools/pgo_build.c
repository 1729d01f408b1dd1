/* Builds the program for `pgokit pgo`, without the profile and with it, by the commands of the
 * user or of the build system that was found. */
#include "pgo.h"

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

struct timespec pgo_build(const struct pgo_builder *b, const char *profile)
{
    struct record_ended ended;
    char bin[PATH_MAX + 8];
    pgo_set_flags(b->compiler, profile);
    if (b->clean)
        pgo_shell(b->removes ? "removing what an earlier build made" : "the command of --clean",
                  b->clean, &ended);
    struct timespec started = now();
    pgo_say(b->quiet, "builds %s the profile: %s", profile ? "with" : "without", b->build);
    char *path = pgo_saved("PATH");
    snprintf(bin, sizeof bin, "%s/bin", b->scratch);
    record_join("PATH", bin, record_environment("PATH"));
    pgo_shell(profile ? "the build with the profile" : "the build", b->build, &ended);
    pgo_put_back("PATH", path);
    return started;
}

static bool takes_profile(void *ctx, const char *name)
{
    const struct pgo_builder *b = ctx;
    return pgo_takes_same_profile(b->compiler, name);
}

static bool take_any(void *ctx, const char *name)
{
    char **found = ctx;
    *found = strdup(name);
    return true;
}

struct timespec pgo_build_first(struct pgo_builder *b)
{
    char *used = NULL;
    struct timespec started = pgo_build(b, NULL);
    if (pgo_any_used(b->scratch, takes_profile, b) || !pgo_any_used(b->scratch, take_any, &used))
        return started;
    const char *name = pgo_compiler_of_c(used);
    free(used);
    if (b->cc)
        pgo_stop("the build uses %s, not %s; change that, or give --cc %s", name, b->cc, name);
    pgo_say(b->quiet, "the build uses %s, so the profile is for that", name);
    pgo_change_compiler(b->compiler, name);
    return pgo_build(b, NULL);
}
