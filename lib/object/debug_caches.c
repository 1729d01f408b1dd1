/* Caches of other tools, by build id:
 *
 *     PERF/.build-id/xx/yyyy/elf and debug     perf: a link to a folder with what it copied
 *     PERF/.build-id/xx/yyyy                   perf before 4.4: a link to the file
 *     DEBUGINFOD/xxyyyy/debuginfo and executable
 *
 * PERF is PERF_BUILDID_DIR, which perf sets for its scripts, else buildid.dir of perf's
 * configuration, else ~/.debug. DEBUGINFOD is DEBUGINFOD_CACHE_PATH, else
 * ~/.debuginfod_client_cache if it exists, else debuginfod_client in the user's folder of caches;
 * an empty file says that no server had it. */
#include "debug_caches.h"

#include "binary_set.h"
#include "hex.h"
#include "mem.h"
#include "message.h"
#include "pgokit/human.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct pgk_debug_caches {
    char perf[PATH_MAX], debuginfod[PATH_MAX];
    struct pgk_debuginfod *servers; /* NULL: none */
};

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* "" if it does not fit. */
static void join(char to[PATH_MAX], const char *folder, const char *name)
{
    const int n = snprintf(to, PATH_MAX, "%s/%s", folder, name);
    if (n < 0 || n >= PATH_MAX)
        to[0] = '\0';
}

/* ---- where they are ---- */

/* Without blanks around it, a comment, and quotes, as in git's configuration. */
static char *value_of(char *text)
{
    char *to = text, *from = text + strspn(text, " \t");
    for (bool quoted = false; *from && (quoted || !strchr("#;\n", *from)); from++) {
        if (*from == '"')
            quoted = !quoted;
        else
            *to++ = *from;
    }
    while (to > text && isspace((unsigned char)to[-1]))
        to--;
    *to = '\0';
    return text;
}

/* buildid.dir of a file; leaves `dir` as it is if that is not there. */
static void read_perf_config(char dir[PATH_MAX], const char *path)
{
    char line[PATH_MAX + 64];
    bool in_section = false;
    FILE *in = fopen(path, "re");
    if (!in)
        return;
    while (fgets(line, sizeof line, in)) {
        char *at = line + strspn(line, " \t"), *equals = strchr(at, '=');
        if (*at == '[')
            in_section = !strncmp(at, "[buildid]", 9);
        else if (in_section && equals && !strncmp(at, "dir", 3) && strcspn(at, " \t=") == 3) {
            const char *value = value_of(equals + 1);
            if (*value && strlen(value) < PATH_MAX)
                strcpy(dir, value);
        }
    }
    fclose(in);
}

static void find_perf(char dir[PATH_MAX])
{
    const char *given = getenv("PERF_BUILDID_DIR"), *home = getenv("HOME"),
               *config = getenv("PERF_CONFIG");
    char path[PATH_MAX];
    if (given && *given && strlen(given) < PATH_MAX) {
        strcpy(dir, given);
        return;
    }
    if (home)
        join(dir, home, ".debug");
    if (config) { /* perf then reads this one alone */
        read_perf_config(dir, config);
        return;
    }
    read_perf_config(dir, "/etc/perfconfig");
    if (home) {
        join(path, home, ".perfconfig");
        read_perf_config(dir, path);
    }
}

static void find_debuginfod(char dir[PATH_MAX])
{
    const char *given = getenv("DEBUGINFOD_CACHE_PATH"), *home = getenv("HOME"),
               *caches = getenv("XDG_CACHE_HOME");
    if (given && *given) {
        if (strlen(given) < PATH_MAX)
            strcpy(dir, given);
        return;
    }
    if (home) {
        join(dir, home, ".debuginfod_client_cache");
        if (is_folder(dir))
            return;
    }
    dir[0] = '\0';
    if (caches && *caches)
        join(dir, caches, "debuginfod_client");
    else if (home)
        join(dir, home, ".cache/debuginfod_client");
}

struct pgk_debug_caches *pgk_debug_caches_new(bool download)
{
    struct pgk_debug_caches *c = pgk_mem_zalloc(1, sizeof *c);
    if (!c)
        return NULL;
    find_perf(c->perf);
    find_debuginfod(c->debuginfod);
    c->servers = download ? pgk_debuginfod_new() : NULL;
    return c;
}

void pgk_debug_caches_close(struct pgk_debug_caches **caches)
{
    if (*caches)
        pgk_debuginfod_close(&(*caches)->servers);
    pgk_mem_free(*caches);
    *caches = NULL;
}

const char *pgk_debug_caches_perf(const struct pgk_debug_caches *caches)
{
    return caches->perf;
}

const char *pgk_debug_caches_debuginfod(const struct pgk_debug_caches *caches)
{
    return caches->debuginfod;
}

/* ---- what they have ---- */

static bool has(const struct pgk_elf *elf, const char *section)
{
    size_t size;
    return pgk_elf_raw_section(elf, section, &size) != NULL;
}

struct wanted {
    enum pgk_id_file what;
    enum pgk_elf_kind kind;
    const uint8_t *id;
    size_t size;
};

/* Opens a file that exists; *elf stays NULL if it is not what is wanted. */
static int try_open(const char *path, const struct wanted *w, struct pgk_elf **elf,
                    struct pgk_err *err)
{
    struct stat st;
    struct pgk_elf *found = NULL;
    if (!*path || stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
        return 0;
    struct pgk_err why = {0};
    const int status = pgk_elf_open_as(&found, path, w->kind, &why);
    if (status == PGK_E_NOMEM)
        return pgk_fail_nomem(err);
    if (status) {
        pgk_warn("%s is not used: %s; remove it, so that it is fetched again", path,
                 *why.found ? why.found : pgk_status_text(status));
        return 0;
    }
    const bool right = pgk_elf_has_build_id(found, w->id, w->size);
    if (!right)
        pgk_warn("%s is not used: its build id is not that of its name; remove it, so that it is "
                 "fetched again",
                 path);
    if (right && (w->what == PGK_ID_PROGRAM || has(found, ".debug_info") || has(found, ".symtab")))
        *elf = found;
    else
        pgk_elf_close(&found);
    return 0;
}

static int in_perf(const char *folder, const char *hex, const struct wanted *w,
                   struct pgk_elf **elf, struct pgk_err *err)
{
    static const char *const names[] = {"/debug", "/elf", ""};
    char part[2 * 64 + 32], path[PATH_MAX];
    for (size_t i = w->what == PGK_ID_PROGRAM; i < PGK_COUNTOF(names) && !*elf; i++) {
        snprintf(part, sizeof part, ".build-id/%.2s/%s%s", hex, hex + 2, names[i]);
        join(path, folder, part);
        PGK_TRY(try_open(path, w, elf, err));
    }
    return 0;
}

static int in_debuginfod(const char *folder, const char *hex, const struct wanted *w,
                         struct pgk_elf **elf, struct pgk_err *err)
{
    char part[2 * 64 + 32], path[PATH_MAX];
    snprintf(part, sizeof part, "%s/%s", hex,
             w->what == PGK_ID_DEBUG ? "debuginfo" : "executable");
    join(path, folder, part);
    return try_open(path, w, elf, err);
}

int pgk_debug_caches_open(struct pgk_debug_caches *caches, enum pgk_id_file what,
                          enum pgk_elf_kind kind, const uint8_t *id, size_t size,
                          struct pgk_elf **elf, struct pgk_err *err)
{
    const struct wanted w = {what, kind, id, size};
    char hex[PGK_BUILD_ID_TEXT];
    if (!caches || size < 2 || size > 64)
        return 0;
    pgk_human_hex(hex, sizeof hex, id, size);
    if (caches->debuginfod[0])
        PGK_TRY(in_debuginfod(caches->debuginfod, hex, &w, elf, err));
    if (!*elf && caches->perf[0])
        PGK_TRY(in_perf(caches->perf, hex, &w, elf, err));
    if (*elf || !caches->servers)
        return 0;
    char *path = pgk_debuginfod_fetch(caches->servers, what, id, size);
    const int status = path ? try_open(path, &w, elf, err) : 0;
    free(path); /* the client's own memory */
    return status;
}
