/* Which compiler builds, and the flags it takes: for a build to be recorded, and one that uses the
 * profile. */
#include "pgo.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *pgo_text(const char *fmt, ...)
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
    char *command = pgo_text("%s %s 2>/dev/null", cc, option);
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
    return pgo_text("%.*s%s%s", (int)(at - cc), cc, clang ? "clang++" : "g++", end);
}

const char *pgo_compiler_of_c(const char *name)
{
    static const char *const pairs[][2] = {{"clang++", "clang"}, {"g++", "gcc"}, {"c++", "cc"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const char *at = strstr(name, pairs[i][0]);
        if (at)
            return pgo_text("%.*s%s%s", (int)(at - name), name, pairs[i][1],
                            at + strlen(pairs[i][0]));
    }
    return pgo_text("%s", name);
}

static const char *environment(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value && *value ? strdup(value) : otherwise;
}

/* What a compiler says of itself. */
struct known {
    bool clang;
    unsigned long release;
};

static struct known know(const char *cc)
{
    char answer[256] = "", safe[128];
    struct known k = {0};
    if (!ask(cc, "--version", answer, sizeof answer))
        pgo_stop("the compiler '%s' does not answer to --version; name another with --cc",
                 pgk_human_text(safe, sizeof safe, cc));
    k.clang = strstr(answer, "clang") != NULL;
    if (!ask(cc, "-dumpversion", answer, sizeof answer))
        pgo_stop("the compiler '%s' does not answer to -dumpversion; name another with --cc",
                 pgk_human_text(safe, sizeof safe, cc));
    k.release = strtoul(answer, NULL, 10);
    return k;
}

/* NULL: neither is there. */
static const char *usual_compiler(bool is_rust, bool is_debian)
{
    static const char *const usual[] = {"clang", "gcc", "clang"};
    char answer[256];
    for (size_t i = is_debian ? 1 : 0; i < (is_rust ? 1 : is_debian ? 3 : 2); i++)
        if (ask(usual[i], "--version", answer, sizeof answer))
            return usual[i];
    return NULL;
}

static void find_cc(struct pgo_compiler *c, const char *name)
{
    const struct known k = know(c->cc);
    c->by_variables = strchr(c->cc, '/') != NULL; /* not through PATH */
    c->clang = k.clang;
    c->release = k.release;
    c->cxx = environment("CXX", NULL);
    if (!c->cxx || name)
        c->cxx = cxx_of(c->cc, c->clang);
}

void pgo_find_compiler(struct pgo_compiler *c, const char *name, const struct pgo_project *project)
{
    static const struct pgo_project unknown;
    const struct pgo_project *p = project ? project : &unknown;
    const char *asked = name ? name : environment("CC", NULL);
    *c = (struct pgo_compiler){
        .cc = asked ? asked : usual_compiler(p->is_rust, p->is_debian),
        .clang = p->is_rust,
        .is_debian = p->is_debian,
        .is_usual = !asked && !p->is_rust,
        .flags = environment("CFLAGS", p->has_own_level ? "" : "-O2"),
    };
    c->flags_cxx = environment("CXXFLAGS", c->flags);
    if (!c->cc && !p->is_rust)
        pgo_stop("there is neither clang nor gcc; install one, or name a compiler with --cc");
    if (c->cc)
        find_cc(c, name);
    if (!c->clang && p->is_rust)
        pgo_stop("rustc takes profiles for clang, not those for gcc; give --cc clang, or no --cc");
    if (!c->clang && c->release < 12)
        pgo_stop("gcc %lu takes no profile that pgokit makes; take gcc 12 or newer, or clang",
                 c->release);
    c->use = !c->clang && c->release == 12 ? PGO_GCC_LEAN : "";
    c->use_rust = "";
}

char *pgo_rust_flags(const char *rust, const char *more)
{
    char *all = pgo_text("%s", rust), *copy = pgo_text("%s", more), *rest = copy;
    for (char *flag; (flag = strsep(&rest, " ")) != NULL;) {
        if (strncmp(flag, "-Wl,", 4) != 0)
            continue; /* rustc has sections for functions by itself */
        char *longer = pgo_text("%s -Clink-arg=%s", all, flag);
        free(all);
        all = longer;
    }
    free(copy);
    return all;
}

void pgo_form_of(const struct pgo_compiler *c, char form[PGO_FORM])
{
    const unsigned long newest = 16;
    if (c->clang)
        snprintf(form, PGO_FORM, "extbinary");
    else
        snprintf(form, PGO_FORM, "gcc%lu", c->release > newest ? newest : c->release);
}

void pgo_change_compiler(struct pgo_compiler *c, const char *name)
{
    const struct pgo_compiler was = *c;
    pgo_find_compiler(c, name, NULL);
    c->align = was.align;
    c->by_variables = was.by_variables;
    c->flags = was.flags;
    c->flags_cxx = was.flags_cxx;
    c->is_debian = was.is_debian;
}

bool pgo_takes_same_profile(const struct pgo_compiler *c, const char *name)
{
    if (!strcmp(name, PGO_RUSTC))
        return c->clang;
    const struct known k = know(name);
    return k.clang == c->clang && (k.clang || k.release == c->release);
}

static void set(const char *name, char *value)
{
    if (setenv(name, value, 1))
        pgo_stop("out of memory");
    free(value);
}

/* Empty is not the same as none: configure then has flags of its own. */
static void set_or_not(const char *name, char *value)
{
    if (*value) {
        set(name, value);
        return;
    }
    unsetenv(name);
    free(value);
}

/* LLVM's inliner defers what its caller may take whole as soon as code is compiled for profiles,
 * also where there is none yet: functions get up to a quarter larger (14 to 23). Without this the
 * build that is recorded is not the project's own, with which the other is compared. */
#define NO_DEFERRAL "-enable-npm-pgo-inline-deferral=false"

/* What a compiler gets from us; `profile` NULL: it takes none, or there is none yet. Debug
 * information changes no code, so the first build is also what the second is measured against. gcc
 * would write the path of the profile into it. */
static char *flags_of(const struct pgo_compiler *c, bool clang, const char *profile)
{
    return pgo_text("%s%s%s%s%s",
                clang ? "-gline-tables-only -fdebug-info-for-profiling -mllvm " NO_DEFERRAL
                      : "-g -gno-record-gcc-switches",
                c->align ? PGO_ALIGN : "",
                !profile ? ""
                : clang  ? " -fprofile-sample-use="
                         : " -fauto-profile=",
                profile ? profile : "", profile ? c->use : "");
}

char *pgo_flags(const struct pgo_compiler *c, const char *profile)
{
    return flags_of(c, c->clang, profile);
}

/* Flags of the compilers in front of PATH; the other one compiles as in the first build. Clang
 * warns of flags that a link does not use. */
static void set_wrapped(const struct pgo_compiler *c, const char *profile)
{
    static const char *lto; /* as the user has it */
    static bool asked;
    if (!asked)
        lto = environment("CARGO_PROFILE_RELEASE_LTO", NULL);
    asked = true;
    char *by_clang = flags_of(c, true, c->clang ? profile : NULL);
    char *by_gcc = flags_of(c, false, c->clang ? NULL : profile);
    char *clang = pgo_text("%s -Wl,--build-id -Wno-unused-command-line-argument", by_clang);
    char *gcc = pgo_text("%s -Wl,--build-id", by_gcc);
    char *rust = pgo_text("-Zdebug-info-for-profiling -Cllvm-args=" NO_DEFERRAL
                      " -Clink-arg=-Wl,--build-id%s%s%s%s",
                      c->align ? PGO_ALIGN_RUST : "", profile ? " -Zprofile-sample-use=" : "",
                      profile ? profile : "", profile ? c->use_rust : "");
    pgo_wrapper_flags(clang, gcc, rust);
    free(by_clang);
    free(by_gcc);
    free(clang);
    free(gcc);
    free(rust);
    /* Lines alone; a build without them is stripped by newer releases of cargo. */
    set("CARGO_PROFILE_RELEASE_DEBUG", pgo_text("1"));
    set("CARGO_PROFILE_RELEASE_STRIP", pgo_text("none"));
    if (c->lto)
        set("CARGO_PROFILE_RELEASE_LTO", pgo_text("thin"));
    else if (lto)
        set("CARGO_PROFILE_RELEASE_LTO", pgo_text("%s", lto));
    else
        unsetenv("CARGO_PROFILE_RELEASE_LTO");
}

/* The variables of dpkg-buildflags, with which debhelper fills those that are not set. */
static void set_debian(const char *ours)
{
    static const char *options, *appended[3];
    static const char *const names[] = {"DEB_CFLAGS_APPEND", "DEB_CXXFLAGS_APPEND",
                                        "DEB_LDFLAGS_APPEND"};
    if (!options) {
        options = environment("DEB_BUILD_OPTIONS", "");
        for (int i = 0; i < 3; i++)
            appended[i] = environment(names[i], "");
    }
    for (int i = 0; i < 3 && *ours; i++)
        set(names[i], pgo_text("%s%s%s", appended[i], *appended[i] ? " " : "",
                           i < 2 ? ours : "-Wl,--build-id"));
    /* What is tested is the same in both builds, and --run is what is recorded. */
    char *parallel = pgo_text(" parallel=%ld", sysconf(_SC_NPROCESSORS_ONLN));
    set("DEB_BUILD_OPTIONS",
        pgo_text("%s%snocheck nodoc nopgo nostrip%s", options, *options ? " " : "",
                 strstr(options, "parallel=") ? "" : parallel));
    free(parallel);
}

void pgo_set_flags(const struct pgo_compiler *c, const char *profile)
{
    static const char *linker;
    char *ours = flags_of(c, c->clang, profile);
    if (!linker)
        linker = environment("LDFLAGS", "");
    if (c->cc) {
        set("CC", pgo_text("%s", c->cc));
        set("CXX", pgo_text("%s", c->cxx));
    }
    set_wrapped(c, profile);
    const char *space = *c->flags ? " " : "", *space_cxx = *c->flags_cxx ? " " : "";
    const char *mine = c->by_variables ? ours : "";
    if (c->is_debian) {
        set_debian(mine);
    } else {
        set_or_not("CFLAGS", pgo_text("%s%s%s", c->flags, *mine ? space : "", mine));
        set_or_not("CXXFLAGS", pgo_text("%s%s%s", c->flags_cxx, *mine ? space_cxx : "", mine));
        if (c->by_variables)
            set("LDFLAGS", pgo_text("%s%s-Wl,--build-id", linker, *linker ? " " : ""));
    }
    free(ours);
}
