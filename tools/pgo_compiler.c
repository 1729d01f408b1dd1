/* Which compiler builds, and the flags it takes: for a build to be recorded, and one that uses the
 * profile. */
#include "pgo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* gcc 12 turns on further passes for all functions, which cost about what the profile gains:
 * docs/formats/sample-gcc.md. */
#define GCC_12_LEAN                                                                            \
    " -fno-gcse-after-reload -fno-ipa-cp-clone -fno-loop-interchange -fno-loop-unroll-and-jam" \
    " -fno-peel-loops -fno-predictive-commoning -fno-split-loops -fno-tracer"                  \
    " -fno-tree-loop-distribution -fno-unswitch-loops -fno-version-loops-for-strides"          \
    " -fno-unroll-loops -fvect-cost-model=very-cheap"

static char *text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static char *text(const char *fmt, ...)
{
    char *made;
    va_list args;
    va_start(args, fmt);
    int n = vasprintf(&made, fmt, args);
    va_end(args);
    if (n < 0)
        pgo_stop("out of memory");
    return made;
}

/* The version text of a compiler; false if it cannot be run. */
static bool ask(const char *cc, const char *option, char *answer, int size)
{
    char *command = text("%s %s 2>/dev/null", cc, option);
    FILE *f = popen(command, "r");
    bool ok = f && fgets(answer, size, f);
    char rest[256];
    while (f && fgets(rest, sizeof rest, f))
        continue;
    if (f && pclose(f))
        ok = false;
    free(command);
    return ok;
}

/* "clang++-19" for "clang-19", "g++" for "gcc"; the compiler itself where its name is another. */
static const char *cxx_of(const char *cc, bool clang)
{
    const char *name = clang ? "clang" : "gcc", *at = strstr(cc, name), *next;
    while (at && (next = strstr(at + 1, name)) != NULL)
        at = next;
    if (!at)
        return cc;
    const char *end = at + strlen(name);
    return text("%.*s%s%s", (int)(at - cc), cc, clang ? "clang++" : "g++", end);
}

static const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? strdup(value) : otherwise;
}

void pgo_find_compiler(struct pgo_compiler *c, const char *name)
{
    static const char *const usual[] = {"clang", "gcc"};
    char answer[256] = "", safe[128];
    c->cc = name ? name : environment("CC", NULL);
    for (size_t i = 0; !c->cc && i < sizeof usual / sizeof *usual; i++)
        if (ask(usual[i], "--version", answer, sizeof answer))
            c->cc = usual[i];
    if (!c->cc)
        pgo_stop("there is neither clang nor gcc; install one, or name a compiler with --cc");
    if (!ask(c->cc, "--version", answer, sizeof answer))
        pgo_stop("the compiler '%s' does not answer to --version; name another with --cc",
                 pgk_human_text(safe, sizeof safe, c->cc));
    c->clang = strstr(answer, "clang") != NULL;
    if (!ask(c->cc, "-dumpversion", answer, sizeof answer))
        pgo_stop("the compiler '%s' does not answer to -dumpversion; name another with --cc",
                 pgk_human_text(safe, sizeof safe, c->cc));
    c->release = strtoul(answer, NULL, 10);
    if (!c->clang && c->release < 12)
        pgo_stop("gcc %lu takes no profile that pgokit makes; take gcc 12 or newer, or clang",
                 c->release);
    c->cxx = environment("CXX", NULL);
    if (!c->cxx || name)
        c->cxx = cxx_of(c->cc, c->clang);
    c->flags = environment("CFLAGS", "-O2");
    c->flags_cxx = environment("CXXFLAGS", c->flags);
}

static void set(const char *name, char *value)
{
    if (setenv(name, value, 1))
        pgo_stop("out of memory");
    free(value);
}

/* Debug information changes no code, so the first build is also what the second is measured
 * against. */
void pgo_set_flags(const struct pgo_compiler *c, const char *profile)
{
    static const char *linker;
    char *ours =
        text("%s%s%s%s", c->clang ? "-gline-tables-only -fdebug-info-for-profiling" : "-g",
             !profile   ? ""
             : c->clang ? " -fprofile-sample-use="
                        : " -fauto-profile=",
             profile ? profile : "", profile && !c->clang && c->release == 12 ? GCC_12_LEAN : "");
    if (!linker)
        linker = environment("LDFLAGS", "");
    set("CC", text("%s", c->cc));
    set("CXX", text("%s", c->cxx));
    set("CFLAGS", text("%s %s", c->flags, ours));
    set("CXXFLAGS", text("%s %s", c->flags_cxx, ours));
    set("LDFLAGS", text("%s%s-Wl,--build-id", linker, *linker ? " " : ""));
    free(ours);
}
