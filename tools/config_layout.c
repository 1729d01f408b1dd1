/* pgokit config layout: flags by which a build gets an order of its code, or the addresses of its
 * blocks, from which pgokit gen makes one. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FUNCTIONS " -ffunction-sections"
#define LLD       " -fuse-ld=lld -Wl,--no-warn-symbol-ordering,--symbol-ordering-file=%s%s"

/* Releases of clang: the first that has a map of blocks, and the first with a flag of its own for
 * it. */
enum { FIRST_MAP = 12, MAP_FLAG = 19 };

enum form { SYMBOLS, SECTIONS, SCRIPT, BLOCKS };

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* By how it begins; the forms are those of gen. */
static enum form form_of(const char *path)
{
    char line[16] = "";
    FILE *f = fopen(path, "re");
    if (!f || !fgets(line, sizeof line, f)) {
        char safe[256];
        fprintf(stderr, "pgokit: %s: %s; give a file of pgokit gen --format order or propeller\n",
                pgk_human_text(safe, sizeof safe, path), f ? "it is empty" : strerror(errno));
        exit(EXIT_FAILED);
    }
    fclose(f);
    return begins(line, "SECTIONS")                     ? SCRIPT
           : begins(line, ".text.")                     ? SECTIONS
           : begins(line, "!") || !strcmp(line, "v1\n") ? BLOCKS
                                                        : SYMBOLS;
}

static void print_order(const char *path, enum form form)
{
    char symbols[PATH_MAX + 16];
    switch (form) {
    case SYMBOLS:
        printf(LLD, path, "");
        break;
    case SECTIONS:
        printf(" -fuse-ld=gold -Wl,--section-ordering-file=%s", path);
        break;
    case SCRIPT:
        printf(" -Wl,-T,%s", path);
        break;
    case BLOCKS: /* of functions, next to the list */
        snprintf(symbols, sizeof symbols, "%s.order", path);
        if (!access(symbols, R_OK))
            printf(LLD, path, ".order");
        break;
    }
}

/* To record the build. */
static void print_for_recording(const struct config *c)
{
    if (c->cflags)
        fputs(FUNCTIONS, stdout);
    if (c->cflags && c->clang && (!c->release || c->release >= MAP_FLAG))
        fputs(" -fbasic-block-address-map", stdout);
    else if (c->cflags && c->clang && c->release >= FIRST_MAP)
        fputs(" -fbasic-block-sections=labels", stdout);
    if (c->ldflags)
        fputs(" -Wl,--build-id", stdout);
}

void config_layout(const struct config *c)
{
    if (!c->profiles.n) {
        print_for_recording(c);
        return;
    }
    const char *path = c->profiles.v[0];
    config_check_path(path);
    enum form form = form_of(path);
    if (form == BLOCKS && !c->clang)
        cli_usage(&cmd_config, "gcc takes no list of blocks: give it an order of functions "
                               "(pgokit gen --format order-ld)");
    if (c->cflags)
        fputs(FUNCTIONS, stdout);
    if (c->cflags && form == BLOCKS)
        printf(" -fbasic-block-sections=list=%s", path);
    if (c->ldflags)
        print_order(path, form);
}
