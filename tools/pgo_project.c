/* How a folder is built, by the files in it: for `pgokit pgo` without --build. */
#include "pgo.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAKE         "make -j$(nproc)"
#define BUILD_FOLDER "pgo-build"

/* With the options of the last time, but not the compiler and flags of it. */
#define CONFIGURE_AGAIN                                                                     \
    "eval \"set -- $(./config.status --config)\"; n=$#; "                                   \
    "while [ $n -gt 0 ]; do case $1 in CC=*|CXX=*|CFLAGS=*|CXXFLAGS=*|LDFLAGS=*) ;; "       \
    "*) set -- \"$@\" \"$1\";; esac; shift; n=$((n - 1)); done; ./configure \"$@\" && " MAKE
/* Into the virtual environment, where there is one, as then --run uses the module there. */
#define MATURIN                                                                             \
    "if [ -n \"$VIRTUAL_ENV\" ] || [ -d .venv ]; then maturin develop --release; "          \
    "else maturin build --release; fi"
#define DEBIAN_HINT "\npgokit: what it needs is installed by: apt-get build-dep ."

/* In the order in which they count: a project of CMake or Meson may have a Makefile for those who
 * do not know them, and configure makes one. Flags reach Make by the compilers' names
 * (pgo_wrapper.c), all others by the environment, too. */
static const struct pgo_project projects[] = {
    {.file = "pyproject.toml", .name = "maturin", .build = MATURIN,
     .shown = "maturin, as a release", .clean = "cargo clean --release", .is_rust = true,
     .has_own_level = true, .holds = "maturin"},
    {.file = "Cargo.toml", .name = "Cargo", .build = "cargo build --release",
     .clean = "cargo clean --release", .is_rust = true, .has_own_level = true},
    {.file = "meson.build", .name = "Meson",
     .build = "meson setup pgo-build --buildtype=release && ninja -C pgo-build",
     .clean = "rm -rf pgo-build", .folder = BUILD_FOLDER, .has_own_level = true},
    {.file = "CMakeLists.txt", .name = "CMake",
     .build = "cmake -S . -B pgo-build -DCMAKE_BUILD_TYPE=Release && "
              "cmake --build pgo-build --parallel $(nproc)",
     .clean = "rm -rf pgo-build", .folder = BUILD_FOLDER, .has_own_level = true},
    {.file = "config.status", .name = "configure", .build = CONFIGURE_AGAIN,
     .shown = "./configure with the options of its last run, and " MAKE,
     .clean = "[ ! -e Makefile ] || make clean", .needs = "configure"},
    {.file = "configure", .name = "configure", .build = "./configure && " MAKE,
     .clean = "[ ! -e Makefile ] || make clean"},
    {.file = "GNUmakefile", .name = "make", .build = MAKE, .clean = "make clean"},
    {.file = "Makefile", .name = "make", .build = MAKE, .clean = "make clean"},
    {.file = "makefile", .name = "make", .build = MAKE, .clean = "make clean"},
    {.file = "debian/rules", .name = "debian/rules", .build = "debian/rules build-arch",
     .clean = "debian/rules clean", .is_debian = true, .has_own_level = true,
     .hint = DEBIAN_HINT},
};

/* A Makefile with nothing that removes what was built. */
static const struct pgo_project without_clean = {.file = "Makefile", .name = "make",
                                                 .build = "make -B -j$(nproc)"};

/* A line of a file, from the text that is looked for; "": it is not in it. */
static void line_with(const char *path, const char *text, char *line, int size)
{
    FILE *f = fopen(path, "re");
    char *at = NULL;
    while (f && !at && fgets(line, size, f))
        at = strstr(line, text);
    if (f)
        fclose(f);
    if (!at) {
        *line = '\0';
        return;
    }
    memmove(line, at, strlen(at) + 1);
    line[strcspn(line, "\n")] = '\0';
}

static bool fits(const struct pgo_project *p)
{
    char line[512];
    if (access(p->file, R_OK) || (p->needs && access(p->needs, X_OK)))
        return false;
    if (p->holds)
        line_with(p->file, p->holds, line, sizeof line);
    return !p->holds || *line;
}

/* What is no project, but looks like one, or will be one. */
static void refuse_others(void)
{
    static const char *const sources[] = {"configure.ac", "configure.in"};
    static const char home[] = "CMAKE_HOME_DIRECTORY:INTERNAL=";
    char line[PATH_MAX + 64] = "";
    if (!access("CMakeCache.txt", R_OK) && access("CMakeLists.txt", F_OK)) {
        line_with("CMakeCache.txt", home, line, sizeof line);
        pgo_stop("this folder is one that CMake builds in, with its compiler fixed. Give the "
                 "command in the folder of the sources%s%s, where it builds in " BUILD_FOLDER,
                 *line ? ", " : "", *line ? line + strlen(home) : "");
    }
    if (!access("meson-private", F_OK) && access("meson.build", F_OK))
        pgo_stop("this folder is one that Meson builds in, with its compiler fixed. Give the "
                 "command in the folder of the sources, where it builds in " BUILD_FOLDER);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (!access(sources[i], F_OK) && access("configure", F_OK) && access("Makefile", F_OK) &&
            access("debian/rules", F_OK))
            pgo_stop("configure is not made yet, only %s is there: type %s first", sources[i],
                     !access("autogen.sh", X_OK)     ? "./autogen.sh"
                     : !access("bootstrap", X_OK)    ? "./bootstrap"
                     : !access("bootstrap.sh", X_OK) ? "./bootstrap.sh"
                                                     : "autoreconf -fi");
}

static const struct pgo_project *find(bool refuses)
{
    for (size_t i = 0; i < sizeof projects / sizeof *projects; i++) {
        if (!fits(&projects[i]))
            continue;
        const bool is_make = !strcmp(projects[i].name, "make");
        if (is_make && refuses)
            refuse_others();
        return is_make && system("make -n clean >/dev/null 2>&1") ? &without_clean : &projects[i];
    }
    if (refuses)
        refuse_others();
    return NULL;
}

const struct pgo_project *pgo_other_project(const struct pgo_project *project)
{
    const size_t n = sizeof projects / sizeof *projects;
    size_t i = 0;
    while (i < n && project != &projects[i])
        i++;
    for (; i < n; i++)
        if (!projects[i].shown && strcmp(project->name, projects[i].name) != 0 &&
            fits(&projects[i]))
            return &projects[i];
    return NULL;
}

static bool has_any(const char *command, const char *const *words, size_t n)
{
    while (n-- > 0)
        if (strstr(command, words[n]))
            return true;
    return false;
}

const struct pgo_project *pgo_find_project(const char *command)
{
    static const char *const package[] = {"debian/rules", "dpkg-buildpackage", "debuild"};
    static const char *const rust[] = {"cargo", "maturin"};
    static struct pgo_project own; /* of the user's command */
    if (!command)
        return find(true);
    const struct pgo_project *found = find(false);
    own = (struct pgo_project){.name = "--build", .build = command};
    own.is_debian = has_any(command, package, sizeof package / sizeof *package);
    own.has_own_level = own.is_debian;
    own.hint = own.is_debian ? DEBIAN_HINT : NULL;
    own.is_rust = has_any(command, rust, sizeof rust / sizeof *rust) ||
                  (found && found->is_rust && !own.is_debian);
    return &own;
}

/* Asked once; cargo knows of workspaces, its configuration and $CARGO_TARGET_DIR. */
const char *pgo_target_folder(void)
{
    static char folder[PATH_MAX];
    static bool asked;
    static const char key[] = "\"target_directory\":\"";
    char *line = NULL;
    size_t size = 0;
    if (asked || access("Cargo.toml", F_OK))
        return folder;
    asked = true;
    FILE *f = popen("cargo metadata --no-deps --offline --format-version 1 2>/dev/null", "re");
    const char *at = f && getline(&line, &size, f) > 0 ? strstr(line, key) : NULL;
    if (at)
        snprintf(folder, sizeof folder, "%.*s", (int)strcspn(at + strlen(key), "\""),
                 at + strlen(key));
    if (f)
        pclose(f);
    free(line);
    char here[PATH_MAX];
    size_t n = getcwd(here, sizeof here) ? strlen(here) : 0;
    if (n && !strncmp(folder, here, n) && folder[n] == '/')
        *folder = '\0'; /* is looked through with all that is here */
    return folder;
}
