/* Finding debug information outside of the program's file.
 *
 * Separate debug file, in this order (gdb's):
 *     DIR/.build-id/xx/yyyy.debug             for each debug folder
 *     FOLDER/NAME, FOLDER/.debug/NAME         NAME from .gnu_debuglink, FOLDER the
 *     DIR/FOLDER/NAME                         program's; the checksum must fit
 *     DIR/NAME                                not gdb's: for who gives the folder itself
 * The debug folders are the caller's, then /usr/lib/debug. Last, where the caller has them, caches
 * of other tools and the servers of debuginfod. */
#include "binary_set.h"
#include "debug_caches.h"
#include "dwarf_priv.h"
#include "elf_priv.h"
#include "hex.h"
#include "message.h"
#include "path.h"
#include "pgokit/human.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <zlib.h>

static const char SYSTEM_DIR[] = "/usr/lib/debug";

typedef char path_buf[PATH_MAX];

static void note_tried(struct pgk_dw_search *s, const char *path)
{
    size_t used = strlen(s->tried), space = sizeof s->tried - used;
    size_t need = strlen(path) + (used ? 2 : 0);
    if (need + sizeof ", ..." <= space)
        snprintf(s->tried + used, space, "%s%s", used ? ", " : "", path);
    else if (used && space > sizeof ", ..." && strcmp(s->tried + used - 3, "...") != 0)
        snprintf(s->tried + used, space, ", ...");
}

static struct pgk_debug_caches *caches_of(const struct pgk_dw_search *s)
{
    return s->places ? s->places->caches : NULL;
}

/* A name comes from the file and may be that of a pipe or a device, which would hang. */
bool pgk_dw_is_regular(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Opens a candidate; *elf stays NULL if it does not exist or is no ELF file. */
static int try_open(struct pgk_dw_search *s, const char *path, struct pgk_elf **elf,
                    struct pgk_err *err)
{
    if (s)
        note_tried(s, path);
    if (!pgk_dw_is_regular(path))
        return 0;
    struct pgk_err why = {0};
    int status = pgk_elf_open_as(elf, path, PGK_ELF_DEBUG, &why);
    if (status == PGK_E_NOMEM)
        return pgk_fail_nomem(err);
    if (status < 0)
        pgk_warn("debug file %s cannot be used: %s", path, pgk_status_text(status));
    return 0;
}

static bool format(path_buf buf, const char *a, const char *b, const char *c, const char *d)
{
    int n = snprintf(buf, sizeof(path_buf), "%s%s%s%s", a, b, c, d);
    return n >= 0 && (size_t)n < sizeof(path_buf);
}

/* The folder of `path`, with the slash at its end; "" for the current one. */
static void folder_of(path_buf folder, const char *path)
{
    size_t n = (size_t)(pgk_base_name(path) - path);
    if (n >= sizeof(path_buf))
        n = 0;
    memcpy(folder, path, n);
    folder[n] = '\0';
}

static size_t dir_count(const struct pgk_dw_search *s)
{
    return (s->places ? s->places->n_dirs : 0) + 1;
}

static const char *dir_at(const struct pgk_dw_search *s, size_t i)
{
    return i + 1 < dir_count(s) ? s->places->dirs[i] : SYSTEM_DIR;
}

static bool has(const struct pgk_elf *elf, const char *section)
{
    size_t size;
    return pgk_elf_raw_section(elf, section, &size) != NULL;
}

/* The debug file below .build-id in one of the debug folders; *found stays NULL if there is none.
 * */
static int by_build_id(struct pgk_dw_search *s, const uint8_t *id, size_t size,
                       struct pgk_elf **found, struct pgk_err *err)
{
    char hex[PGK_BUILD_ID_TEXT];
    if (size < 2 || size > 64)
        return 0;
    pgk_human_hex(hex, sizeof hex, id, size);
    for (size_t i = 0; i < dir_count(s) && !*found; i++) {
        path_buf path, name;
        snprintf(name, sizeof name, "/.build-id/%.2s/%s.debug", hex, hex + 2);
        if (!format(path, dir_at(s, i), name, "", ""))
            continue;
        PGK_TRY(try_open(s, path, found, err));
        if (*found && !pgk_elf_has_build_id(*found, id, size)) {
            pgk_warn("debug file %s is not used: its build id is not that of its name", path);
            pgk_elf_close(found);
        }
    }
    return 0;
}

/* False where one of them has no build id. */
static bool is_of_another_build(const struct pgk_elf *debug, const struct pgk_elf *elf)
{
    size_t size, debug_size;
    const uint8_t *id = pgk_elf_build_id(elf, &size);
    pgk_elf_build_id(debug, &debug_size);
    return size && debug_size && !pgk_elf_has_build_id(debug, id, size);
}

static bool checksum_fits(const struct pgk_elf *elf, uint32_t want)
{
    size_t size;
    const uint8_t *bytes = pgk_elf_bytes(elf, &size);
    uLong crc = crc32(0, NULL, 0);
    while (size) {
        uInt n = size < (1u << 30) ? (uInt)size : 1u << 30;
        crc = crc32(crc, bytes, n);
        bytes += n;
        size -= n;
    }
    return crc == want;
}

/* The file that .gnu_debuglink names: next to the program, in .debug there, and in the debug
 * folders, each with and without the program's folder. It must have the checksum of the link. */
static int by_link(struct pgk_dw_search *s, const struct pgk_elf *elf, const char *name,
                   uint32_t crc, struct pgk_elf **found, struct pgk_err *err)
{
    path_buf folder, real, path;
    folder_of(folder, pgk_elf_path(elf));
    /* Below a debug folder the program's absolute folder is repeated. */
    if (!realpath(folder[0] ? folder : ".", real))
        real[0] = '\0';
    size_t n = dir_count(s);
    for (size_t i = 0; i < 2 * n + 2 && !*found; i++) {
        bool ok = i == 0      ? format(path, folder, name, "", "")
                  : i == 1    ? format(path, folder, ".debug/", name, "")
                  : i < n + 2 ? real[0] && format(path, dir_at(s, i - 2), real, "/", name)
                              : format(path, dir_at(s, i - n - 2), "/", name, "");
        if (!ok || strcmp(path, pgk_elf_path(elf)) == 0)
            continue;
        PGK_TRY(try_open(s, path, found, err));
        if (*found && !checksum_fits(*found, crc)) {
            pgk_warn("debug file %s is not used: its checksum is not the one noted in %s", path,
                     pgk_elf_path(elf));
            pgk_elf_close(found);
        } else if (*found && is_of_another_build(*found, elf)) {
            pgk_warn("debug file %s is not used: its build id is not that of %s", path,
                     pgk_elf_path(elf));
            pgk_elf_close(found);
        }
    }
    return 0;
}

/* The debug file of a stripped program, as gdb looks for it; *debug is NULL if there is none. */
static int find_separate(struct pgk_dw_search *s, const struct pgk_elf *elf,
                         struct pgk_elf **debug, struct pgk_err *err)
{
    size_t id_size, size;
    const uint8_t *id = pgk_elf_build_id(elf, &id_size);
    struct pgk_elf *found = NULL;
    PGK_TRY(by_build_id(s, id, id_size, &found, err));
    /* A name, zeros up to a multiple of 4, a checksum. */
    const uint8_t *link = pgk_elf_raw_section(elf, ".gnu_debuglink", &size);
    size_t len = link ? strnlen((const char *)link, size) : 0;
    size_t crc_at = (len + 4) & ~(size_t)3;
    if (!found && len && len < size && crc_at <= size && size - crc_at >= 4) {
        uint32_t crc;
        memcpy(&crc, link + crc_at, sizeof crc);
        PGK_TRY(by_link(s, elf, (const char *)link, crc, &found, err));
    }
    if (!found)
        PGK_TRY(pgk_debug_caches_open(caches_of(s), PGK_ID_DEBUG, PGK_ELF_DEBUG, id, id_size,
                                      &found, err));
    if (found && !has(found, ".debug_info") && !has(found, ".symtab")) {
        pgk_warn("debug file %s is not used: it holds neither .debug_info nor .symtab",
                 pgk_elf_path(found));
        pgk_elf_close(&found);
    }
    *debug = found;
    return 0;
}

/* ---- the debug file of a program ---- */

void pgk_elf_look_in(struct pgk_elf *elf, const struct pgk_debug_places *places)
{
    pgk_elf_debug_state(elf)->places = places;
}

int pgk_elf_use_debug(struct pgk_elf *elf, const char *path, struct pgk_err *err)
{
    struct pgk_elf_debug *d = pgk_elf_debug_state(elf);
    struct pgk_elf *debug;
    size_t size, debug_size;
    PGK_TRY(pgk_elf_open_as(&debug, path, PGK_ELF_DEBUG, err));
    const uint8_t *id = pgk_elf_build_id(elf, &size);
    const uint8_t *debug_id = pgk_elf_build_id(debug, &debug_size);
    int status = 0;
    if (is_of_another_build(debug, elf)) {
        char want[PGK_BUILD_ID_TEXT], found[PGK_BUILD_ID_TEXT];
        status = pgk_fail(err, PGK_E_MISMATCH, .file = path, .format = "ELF", .field = "build id",
                          .found = pgk_build_id_text(found, debug_id, debug_size),
                          .expected = PGK_F("%s, as %s has", pgk_build_id_text(want, id, size),
                                            pgk_elf_path(elf)),
                          .hint = "give the debug file that was split off exactly this program");
    } else if (!has(debug, ".debug_info") && !has(debug, ".symtab")) {
        status = pgk_fail(err, PGK_E_NODEBUG, .file = path, .format = "ELF", .field = "sections",
                          .found = "neither .debug_info nor .symtab",
                          .expected = "debug information or symbols",
                          .hint = "give the file that objcopy --only-keep-debug made, or the "
                                  "program before it was stripped");
    }
    if (status) {
        pgk_elf_close(&debug);
        return status;
    }
    pgk_elf_close(&d->file);
    d->file = debug;
    d->settled = d->given = true;
    return 0;
}

const struct pgk_elf *pgk_elf_debug(const struct pgk_elf *elf)
{
    struct pgk_elf_debug *d = pgk_elf_debug_state(elf);
    pthread_mutex_lock(&d->lock);
    if (has(elf, ".debug_info") && has(elf, ".symtab"))
        d->settled = true; /* nothing was stripped */
    if (!d->settled) {
        struct pgk_dw_search search = {.places = d->places};
        d->settled = find_separate(&search, elf, &d->file, NULL) == 0; /* else: out of memory */
        memcpy(d->tried, search.tried, sizeof d->tried);
    }
    const struct pgk_elf *file = d->file;
    pthread_mutex_unlock(&d->lock);
    return file;
}

const struct pgk_elf *pgk_elf_with(const struct pgk_elf *elf, const char *section)
{
    if (has(elf, section))
        return elf;
    const struct pgk_elf *debug = pgk_elf_debug(elf);
    return debug && has(debug, section) ? debug : NULL;
}

/* The user's choice counts, even where the program has some itself. */
const struct pgk_elf *pgk_dw_file_of(const struct pgk_elf *elf)
{
    const struct pgk_elf_debug *d = pgk_elf_debug_state(elf);
    if (d->given && has(d->file, ".debug_info"))
        return d->file;
    return pgk_elf_with(elf, ".debug_info");
}

int pgk_dw_find_alt(struct pgk_dw_search *s, const struct pgk_elf *elf, struct pgk_elf **alt,
                    struct pgk_err *err)
{
    /* A name, zero, the build id of the file of that name. */
    size_t size;
    const uint8_t *link = pgk_elf_section(elf, ".gnu_debugaltlink", &size);
    size_t len = link ? strnlen((const char *)link, size) : 0;
    if (!len || len == size)
        return 0;
    const char *name = (const char *)link;
    const uint8_t *id = link + len + 1;
    size_t id_size = size - len - 1;
    path_buf folder, path, real;
    struct pgk_elf *found = NULL;
    /* The name is relative to the real place of the file, because the given name may be a link. */
    folder_of(folder, realpath(pgk_elf_path(elf), real) ? real : pgk_elf_path(elf));
    if (format(path, name[0] == '/' ? "" : folder, name, "", "")) {
        PGK_TRY(try_open(s, path, &found, err));
        if (found && id_size && !pgk_elf_has_build_id(found, id, id_size))
            pgk_elf_close(&found);
    }
    if (!found)
        PGK_TRY(by_build_id(s, id, id_size, &found, err));
    if (!found)
        PGK_TRY(pgk_debug_caches_open(caches_of(s), PGK_ID_DEBUG, PGK_ELF_DEBUG, id, id_size,
                                      &found, err));
    if (!found)
        pgk_warn("%s: its common debug file %s was not found; some names will be missing",
                 pgk_elf_path(elf), name);
    *alt = found;
    return 0;
}

int pgk_dw_find_dwo(const struct pgk_dw_unit *u, const char *binary, struct pgk_elf **dwo,
                    struct pgk_err *err)
{
    path_buf folder, path;
    const char *name = u->dwo_name, *base = pgk_base_name(name);
    folder_of(folder, binary);
    struct pgk_elf *found = NULL;
    for (int i = 0; i < 3 && !found; i++) {
        bool ok = false;
        if (i == 0 && name[0] == '/')
            ok = format(path, name, "", "", "");
        else if (i == 0)
            ok = format(path, u->comp_dir ? u->comp_dir : ".", "/", name, "");
        else if (i == 1 && name[0] != '/')
            ok = format(path, folder, name, "", "");
        else if (i == 2)
            ok = format(path, folder, base, "", "");
        if (ok)
            PGK_TRY(try_open(NULL, path, &found, err));
    }
    *dwo = found;
    return 0;
}
