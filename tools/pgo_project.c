/* How a folder is built, by the files in it: for `pgokit pgo` without --build. */
#include "pgo.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the order in which they count: a project of CMake or Meson may have a Makefile for those who
 * do not know them, and configure makes one. Flags reach Make by the compilers' names
 * (pgo_wrapper.c), all others by the environment, too. */
static const struct pgo_project projects[] = {
    {"Cargo.toml", "Cargo", "cargo build --release", "cargo clean --release", true},
    {"meson.build", "Meson",
     "meson setup pgo-build --buildtype=release && ninja -C pgo-build", "rm -rf pgo-build", false},
    {"CMakeLists.txt", "CMake",
     "cmake -S . -B pgo-build -DCMAKE_BUILD_TYPE=Release && "
     "cmake --build pgo-build --parallel $(nproc)", "rm -rf pgo-build", false},
    {"configure", "configure", "./configure && make -j$(nproc)", "[ ! -e Makefile ] || make clean",
     false},
    {"GNUmakefile", "make", "make -j$(nproc)", "make clean", false},
    {"Makefile", "make", "make -j$(nproc)", "make clean", false},
    {"makefile", "make", "make -j$(nproc)", "make clean", false},
};

/* A Makefile with nothing that removes what was built. */
static const struct pgo_project without_clean = {"Makefile", "make", "make -B -j$(nproc)", NULL,
                                                 false};

const struct pgo_project *pgo_find_project(void)
{
    for (size_t i = 0; i < sizeof projects / sizeof *projects; i++) {
        if (access(projects[i].file, R_OK))
            continue;
        const bool is_make = !strcmp(projects[i].name, "make");
        return is_make && system("make -n clean >/dev/null 2>&1") ? &without_clean : &projects[i];
    }
    return NULL;
}
