/* A mapped ELF file. libelf decodes headers; contents are taken from the mapping after
 * checking every range, because libelf 0.188 knows no zstd and is not thread-safe. */
#include "elf_priv.h"

#include "compressed.h"
#include "filemap.h"
#include "hash.h"
#include "machine.h"
#include "mem.h"
#include "message.h"
#include "vec.h"

#include <assert.h>
#include <gelf.h>
#include <inttypes.h>
#include <libelf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

struct section {
    const char *name; /* in the mapping, terminated; "" if damaged */
    const uint8_t *bytes;
    uint64_t size; /* 0 when NOBITS or outside of the file */
    uint64_t addr, header_size, offset, flags, entsize;
    uint32_t type, link;
};

/* Parts made on first use, under a lock, so that the file itself stays const. */
struct lazy {
    pthread_mutex_t lock;
    struct plain {
        uint8_t *bytes;
        size_t size;
        bool tried;
    } *plain; /* by section */
    struct pgk_elf_sym *syms;
    size_t n_syms;
    bool syms_loaded;
    struct pgk_elf_debug debug; /* with a lock of its own */
};

struct pgk_elf {
    char *path;
    struct pgk_filemap map;
    bool mapped;
    bool pie;
    const struct pgk_machine *machine;
    PGK_VEC(struct pgk_segment) segments;
    PGK_VEC(struct section) sections;
    const uint8_t *build_id;
    size_t build_id_size;
    struct lazy *lazy;
};

static const char FORMAT[] = "ELF";

static bool in_file(const struct pgk_elf *elf, uint64_t offset, uint64_t size)
{
    return offset <= elf->map.size && size <= elf->map.size - offset;
}

static int check_ident(const struct pgk_elf *elf, struct pgk_err *err)
{
    const uint8_t *b = elf->map.bytes;
    if (elf->map.size < EI_NIDENT || memcmp(b, ELFMAG, SELFMAG) != 0)
        return pgk_fail(err, PGK_E_FORMAT, .file = elf->path, .format = FORMAT,
                        .offset = &(uint64_t){0}, .field = "magic",
                        .found = elf->map.size < SELFMAG
                                     ? PGK_F("%zu bytes", elf->map.size)
                                     : PGK_F("%02x %02x %02x %02x", b[0], b[1], b[2], b[3]),
                        .expected = "7f 45 4c 46 (an ELF file)",
                        .hint = "give the program or shared library itself");
    if (b[EI_CLASS] != ELFCLASS64)
        return pgk_fail(err, PGK_E_FORMAT, .file = elf->path, .format = FORMAT,
                        .offset = &(uint64_t){EI_CLASS}, .field = "class",
                        .found = b[EI_CLASS] == ELFCLASS32 ? "32-bit" : PGK_F("%u", b[EI_CLASS]),
                        .expected = "64-bit");
    if (b[EI_DATA] != ELFDATA2LSB)
        return pgk_fail(err, PGK_E_FORMAT, .file = elf->path, .format = FORMAT,
                        .offset = &(uint64_t){EI_DATA}, .field = "data encoding",
                        .found = b[EI_DATA] == ELFDATA2MSB ? "big-endian"
                                                           : PGK_F("%u", b[EI_DATA]),
                        .expected = "little-endian",
                        .hint = "give a build for x86-64 or little-endian AArch64");
    if (elf->map.size < sizeof(Elf64_Ehdr))
        return pgk_fail(err, PGK_E_TRUNCATED, .file = elf->path, .format = FORMAT,
                        .offset = &(uint64_t){elf->map.size}, .field = "file header",
                        .found = PGK_F("%zu bytes", elf->map.size),
                        .expected = PGK_F("%zu bytes", sizeof(Elf64_Ehdr)));
    return 0;
}

/* They stand at the end of most files, so a file that was cut lacks them. libelf says
 * "no sections" then, which would look like a program without debug information. */
static int check_section_headers(const struct pgk_elf *elf, const GElf_Ehdr *h,
                                 struct pgk_err *err)
{
    uint64_t count = h->e_shnum, one = sizeof(Elf64_Shdr);
    if (!h->e_shoff)
        return 0;
    if (!count && in_file(elf, h->e_shoff, one)) { /* too many for the header: in the first */
        Elf64_Shdr first;
        memcpy(&first, elf->map.bytes + h->e_shoff, sizeof first);
        count = first.sh_size;
    }
    if (in_file(elf, h->e_shoff, one) && count <= (elf->map.size - h->e_shoff) / one)
        return 0;
    return pgk_fail(err, PGK_E_TRUNCATED, .file = elf->path, .format = FORMAT,
                    .offset = &(uint64_t){offsetof(Elf64_Ehdr, e_shoff)},
                    .field = "section header offset",
                    .found = PGK_F("%" PRIu64 " headers of %" PRIu64 " bytes at offset %" PRIu64,
                                   count, one, h->e_shoff),
                    .expected = PGK_F("an end within the file's %zu bytes", elf->map.size),
                    .hint = "the file was cut off; copy it again");
}

static int check_header(const struct pgk_elf *elf, const GElf_Ehdr *h, enum pgk_elf_kind kind,
                        struct pgk_err *err)
{
    if (kind == PGK_ELF_PROGRAM && h->e_type != ET_EXEC && h->e_type != ET_DYN)
        return pgk_fail(err, PGK_E_FORMAT, .file = elf->path, .format = FORMAT,
                        .offset = &(uint64_t){offsetof(Elf64_Ehdr, e_type)}, .field = "type",
                        .found = h->e_type == ET_REL    ? "an object file"
                                 : h->e_type == ET_CORE ? "a core dump"
                                                        : PGK_F("type %u", h->e_type),
                        .expected = "an executable or a shared library",
                        .hint = "give the linked program");
    if (!pgk_machine_find(h->e_machine))
        return pgk_fail(err, PGK_E_FORMAT, .file = elf->path, .format = FORMAT,
                        .offset = &(uint64_t){offsetof(Elf64_Ehdr, e_machine)},
                        .field = "machine", .found = PGK_F("machine %u", h->e_machine),
                        .expected = pgk_machine_names((char[200]){0}, 200));
    return check_section_headers(elf, h, err);
}

static int fail_libelf(const struct pgk_elf *elf, uint64_t offset, const char *field,
                       struct pgk_err *err)
{
    const char *why = elf_errmsg(-1);
    return pgk_fail(err, PGK_E_CORRUPT, .file = elf->path, .format = FORMAT, .offset = &offset,
                    .field = field, .found = why ? why : "unreadable", .expected = "a valid table");
}

static int read_segments(struct pgk_elf *elf, Elf *libelf, const GElf_Ehdr *h,
                         struct pgk_err *err)
{
    size_t n;
    if (elf_getphdrnum(libelf, &n) != 0)
        return fail_libelf(elf, h->e_phoff, "program headers", err);
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr p;
        if (!gelf_getphdr(libelf, (int)i, &p))
            return fail_libelf(elf, h->e_phoff, "program headers", err);
        if (p.p_type != PT_LOAD)
            continue;
        if (!pgk_vec_push(&elf->segments, (struct pgk_segment){
                                              .vaddr = p.p_vaddr,
                                              .memsz = p.p_memsz,
                                              .offset = p.p_offset,
                                              .filesz = p.p_filesz,
                                              .executable = (p.p_flags & PF_X) != 0,
                                          }))
            return pgk_fail_nomem(err);
    }
    return 0;
}

static const char *section_name(const struct section *strtab, uint64_t at)
{
    if (!strtab || at >= strtab->size ||
        !memchr(strtab->bytes + at, 0, (size_t)(strtab->size - at)))
        return "";
    return (const char *)strtab->bytes + at;
}

static int read_sections(struct pgk_elf *elf, Elf *libelf, const GElf_Ehdr *h,
                         struct pgk_err *err)
{
    size_t n, names;
    if (elf_getshdrnum(libelf, &n) != 0)
        return fail_libelf(elf, h->e_shoff, "section headers", err);
    if (elf_getshdrstrndx(libelf, &names) != 0)
        names = 0;
    PGK_VEC(uint32_t) name_at = {0};
    int status = 0;
    for (size_t i = 0; i < n && !status; i++) {
        GElf_Shdr s;
        if (!gelf_getshdr(elf_getscn(libelf, i), &s)) {
            status = fail_libelf(elf, h->e_shoff, "section headers", err);
            break;
        }
        bool here = s.sh_type != SHT_NOBITS && s.sh_type != SHT_NULL &&
                    in_file(elf, s.sh_offset, s.sh_size);
        if (!pgk_vec_push(&name_at, s.sh_name) ||
            !pgk_vec_push(&elf->sections, (struct section){
                                              .name = "",
                                              .bytes = elf->map.bytes + (here ? s.sh_offset : 0),
                                              .size = here ? s.sh_size : 0,
                                              .addr = s.sh_addr,
                                              .header_size = s.sh_size,
                                              .offset = s.sh_offset,
                                              .flags = s.sh_flags,
                                              .entsize = s.sh_entsize,
                                              .type = s.sh_type,
                                              .link = s.sh_link,
                                          }))
            status = pgk_fail_nomem(err);
    }
    const struct section *strtab = names && names < elf->sections.n ? &elf->sections.v[names]
                                                                    : NULL;
    for (size_t i = 0; i < elf->sections.n && !status; i++)
        elf->sections.v[i].name = section_name(strtab, name_at.v[i]);
    pgk_vec_free(&name_at);
    return status;
}

/* Looks for the GNU build id among the notes at `bytes`. */
static bool find_build_id(struct pgk_elf *elf, const uint8_t *bytes, uint64_t size,
                          uint64_t alignment)
{
    uint64_t align = alignment == 8 ? 8 : 4, at = 0;
    while (size - at >= sizeof(Elf64_Nhdr)) {
        Elf64_Nhdr n;
        memcpy(&n, bytes + at, sizeof n);
        uint64_t name = at + sizeof n;
        uint64_t desc = (name + n.n_namesz + align - 1) & ~(align - 1);
        uint64_t next = (desc + n.n_descsz + align - 1) & ~(align - 1);
        if (desc > size || n.n_descsz > size - desc)
            return false;
        if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(bytes + name, "GNU", 4) &&
            n.n_descsz) {
            elf->build_id = bytes + desc;
            elf->build_id_size = n.n_descsz;
            return true;
        }
        if (next > size)
            return false;
        at = next;
    }
    return false;
}

/* From the segments, which survive stripping; else from the sections, because a
 * separate debug file keeps the segments' headers but not their bytes. */
static void read_build_id(struct pgk_elf *elf, Elf *libelf)
{
    size_t n = 0;
    (void)elf_getphdrnum(libelf, &n);
    for (size_t i = 0; i < n; i++) {
        GElf_Phdr p;
        if (gelf_getphdr(libelf, (int)i, &p) && p.p_type == PT_NOTE &&
            in_file(elf, p.p_offset, p.p_filesz) &&
            find_build_id(elf, elf->map.bytes + p.p_offset, p.p_filesz, p.p_align))
            return;
    }
    for (size_t i = 0; i < elf->sections.n; i++) {
        const struct section *s = &elf->sections.v[i];
        if (s->type == SHT_NOTE && find_build_id(elf, s->bytes, s->size, 4))
            return;
    }
}

static int read_elf(struct pgk_elf *elf, enum pgk_elf_kind kind, struct pgk_err *err)
{
    PGK_TRY(check_ident(elf, err));
    if (elf_version(EV_CURRENT) == EV_NONE)
        return fail_libelf(elf, 0, "version", err);
    /* The image is only read: ELF_C_READ is what elf_memory implies. */
    Elf *libelf = elf_memory((char *)(uintptr_t)elf->map.bytes, elf->map.size);
    GElf_Ehdr h;
    int status;
    if (!libelf || !gelf_getehdr(libelf, &h)) {
        status = fail_libelf(elf, 0, "file header", err);
        goto done;
    }
    status = check_header(elf, &h, kind, err);
    if (status < 0)
        goto done;
    elf->pie = h.e_type == ET_DYN;
    elf->machine = pgk_machine_find(h.e_machine);
    status = read_segments(elf, libelf, &h, err);
    if (status >= 0)
        status = read_sections(elf, libelf, &h, err);
    if (status >= 0)
        read_build_id(elf, libelf);
done:
    elf_end(libelf);
    return status;
}

static int open_image(struct pgk_elf **out, struct pgk_filemap map, bool mapped,
                      const char *path, enum pgk_elf_kind kind, struct pgk_err *err)
{
    struct pgk_elf *elf = pgk_mem_zalloc(1, sizeof *elf);
    int status;
    if (!elf) {
        if (mapped)
            pgk_filemap_close(&map);
        return pgk_fail_nomem(err);
    }
    elf->map = map;
    elf->mapped = mapped;
    elf->path = pgk_mem_strdup(path);
    elf->lazy = pgk_mem_zalloc(1, sizeof *elf->lazy);
    if (elf->lazy) {
        pthread_mutex_init(&elf->lazy->lock, NULL);
        pthread_mutex_init(&elf->lazy->debug.lock, NULL);
    }
    if (!elf->path || !elf->lazy) {
        status = pgk_fail_nomem(err);
        goto error;
    }
    status = read_elf(elf, kind, err);
    if (status < 0)
        goto error;
    elf->lazy->plain = pgk_mem_zalloc(elf->sections.n + 1, sizeof *elf->lazy->plain);
    if (!elf->lazy->plain) {
        status = pgk_fail_nomem(err);
        goto error;
    }
    *out = elf;
    return 0;

error:
    pgk_elf_close(&elf);
    return status;
}

int pgk_elf_open_as(struct pgk_elf **elf, const char *path, enum pgk_elf_kind kind,
                    struct pgk_err *err)
{
    struct pgk_filemap map;
    PGK_TRY(pgk_filemap_open(&map, path, err));
    return open_image(elf, map, true, path, kind, err);
}

int pgk_elf_open(struct pgk_elf **elf, const char *path, struct pgk_err *err)
{
    return pgk_elf_open_as(elf, path, PGK_ELF_PROGRAM, err);
}

int pgk_elf_open_memory(struct pgk_elf **elf, const void *image, size_t size, const char *name,
                        enum pgk_elf_kind kind, struct pgk_err *err)
{
    struct pgk_filemap map = {.bytes = image, .size = size};
    return open_image(elf, map, false, name, kind, err);
}

static void forget_plain(struct pgk_elf *elf)
{
    for (size_t i = 0; elf->lazy->plain && i < elf->sections.n; i++) {
        pgk_mem_free(elf->lazy->plain[i].bytes);
        elf->lazy->plain[i] = (struct plain){0};
    }
}

void pgk_elf_close(struct pgk_elf **elf_at)
{
    struct pgk_elf *elf = *elf_at;
    if (!elf)
        return;
    *elf_at = NULL;
    if (elf->lazy) {
        forget_plain(elf);
        pgk_mem_free(elf->lazy->plain);
        pgk_mem_free(elf->lazy->syms);
        pgk_elf_close(&elf->lazy->debug.file);
        pthread_mutex_destroy(&elf->lazy->debug.lock);
        pthread_mutex_destroy(&elf->lazy->lock);
        pgk_mem_free(elf->lazy);
    }
    pgk_vec_free(&elf->segments);
    pgk_vec_free(&elf->sections);
    if (elf->mapped)
        pgk_filemap_close(&elf->map);
    pgk_mem_free(elf->path);
    pgk_mem_free(elf);
}

const char *pgk_elf_path(const struct pgk_elf *elf)
{
    return elf->path;
}

bool pgk_elf_is_pie(const struct pgk_elf *elf)
{
    return elf->pie;
}

const struct pgk_machine *pgk_elf_machine(const struct pgk_elf *elf)
{
    return elf->machine;
}

const struct pgk_segment *pgk_elf_segments(const struct pgk_elf *elf, size_t *count)
{
    *count = elf->segments.n;
    return elf->segments.v;
}

const uint8_t *pgk_elf_build_id(const struct pgk_elf *elf, size_t *size)
{
    *size = elf->build_id_size;
    return elf->build_id;
}

bool pgk_build_ids_equal(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size)
{
    enum { RECORDED = 20 };
    if (a_size > b_size)
        return pgk_build_ids_equal(b, b_size, a, a_size);
    if (!a_size || memcmp(a, b, a_size))
        return false;
    size_t zeros = a_size;
    while (zeros < b_size && !b[zeros])
        zeros++;
    return zeros == b_size || a_size == RECORDED;
}

bool pgk_elf_has_build_id(const struct pgk_elf *elf, const uint8_t *id, size_t size)
{
    return pgk_build_ids_equal(elf->build_id, elf->build_id_size, id, size);
}

const uint8_t *pgk_elf_bytes(const struct pgk_elf *elf, size_t *size)
{
    *size = elf->map.size;
    return elf->map.bytes;
}

/* The best ratios the two methods can reach; a header that claims more lies, and
 * must not make us ask for memory. */
enum { ZLIB_RATIO = 1040, ZSTD_RATIO = 40000 };

static bool inflate_zlib(const uint8_t *in, size_t in_size, uint8_t *out, size_t out_size)
{
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)in, .next_out = out};
    if (inflateInit(&z) != Z_OK)
        return false;
    size_t in_left = in_size, out_left = out_size;
    int rc = Z_OK;
    while (rc == Z_OK) {
        uInt give = in_left < (1u << 30) ? (uInt)in_left : 1u << 30;
        uInt space = out_left < (1u << 30) ? (uInt)out_left : 1u << 30;
        z.avail_in = give;
        z.avail_out = space;
        rc = inflate(&z, Z_NO_FLUSH);
        in_left -= give - z.avail_in;
        out_left -= space - z.avail_out;
        if (z.avail_in == give && z.avail_out == space)
            break;
    }
    (void)inflateEnd(&z);
    return rc == Z_STREAM_END && out_left == 0;
}

/* Decompresses `in`, of method ELFCOMPRESS_..., into new memory; NULL with a reason. */
static uint8_t *decompress(uint32_t method, const uint8_t *in, size_t in_size, uint64_t out_size,
                           const char **why)
{
    uint64_t ratio = method == ELFCOMPRESS_ZLIB ? ZLIB_RATIO : ZSTD_RATIO;
    *why = "its compression method is unknown";
    if (method != ELFCOMPRESS_ZLIB && method != ELFCOMPRESS_ZSTD)
        return NULL;
    *why = "it claims more bytes than can be in it";
    if (out_size / ratio > in_size || out_size > PTRDIFF_MAX)
        return NULL;
    *why = "it would become more than 200 times as large, and was made to exhaust memory";
    static_assert(PGK_BOMB_RATIO == 200, "as the message has it");
    if (pgk_is_bomb(out_size, in_size))
        return NULL;
    *why = "out of memory";
    uint8_t *out = pgk_mem_alloc((size_t)out_size + 1, 1);
    if (!out)
        return NULL;
    bool ok = method == ELFCOMPRESS_ZLIB
                  ? inflate_zlib(in, in_size, out, (size_t)out_size)
                  : ZSTD_decompress(out, (size_t)out_size, in, in_size) == (size_t)out_size;
    if (ok)
        return out;
    *why = "its compressed bytes are damaged";
    pgk_mem_free(out);
    return NULL;
}

static void make_plain(const struct pgk_elf *elf, const struct section *s, struct plain *p)
{
    const char *why = "it is too short";
    uint32_t method = ELFCOMPRESS_ZLIB;
    uint64_t header = 0, size = 0;
    if (s->flags & SHF_COMPRESSED) {
        Elf64_Chdr h;
        header = sizeof h;
        if (s->size >= header) {
            memcpy(&h, s->bytes, sizeof h);
            method = h.ch_type;
            size = h.ch_size;
        }
    } else { /* "ZLIB", then the size as 8 bytes, big-endian */
        header = 12;
        for (size_t i = 4; s->size >= header && i < header; i++)
            size = size << 8 | s->bytes[i];
    }
    if (s->size >= header)
        p->bytes = decompress(method, s->bytes + header, (size_t)(s->size - header), size, &why);
    p->size = p->bytes ? (size_t)size : 0;
    if (!p->bytes)
        pgk_warn("%s: section %s at offset %" PRIu64 " is left out: %s", elf->path, s->name,
                 s->offset, why);
}

/* GNU's older form: section .zdebug_x holds .debug_x after a header. */
static bool is_zdebug(const struct section *s, const char *name)
{
    return !strncmp(name, ".debug_", 7) && !strncmp(s->name, ".zdebug_", 8) &&
           !strcmp(s->name + 8, name + 7);
}

static const struct section *find_section(const struct pgk_elf *elf, const char *name, size_t nth)
{
    for (size_t i = 0; i < elf->sections.n; i++) {
        const struct section *s = &elf->sections.v[i];
        if (s->name[0] == '.' && (!strcmp(s->name, name) || is_zdebug(s, name)) && !nth--)
            return s;
    }
    return NULL;
}

void pgk_elf_trim(const struct pgk_elf *elf)
{
    struct pgk_elf *debug = elf->lazy->debug.file;
    if (elf->mapped)
        pgk_filemap_done(&elf->map, 0, elf->map.size);
    if (debug)
        pgk_elf_trim(debug);
}

void pgk_elf_forget_debug(const struct pgk_elf *elf)
{
    if (elf->lazy->debug.file)
        forget_plain(elf->lazy->debug.file);
}

struct pgk_elf_debug *pgk_elf_debug_state(const struct pgk_elf *elf)
{
    return &elf->lazy->debug;
}

const uint8_t *pgk_elf_raw_section(const struct pgk_elf *elf, const char *name, size_t *size)
{
    const struct section *s = find_section(elf, name, 0);
    *size = s ? (size_t)s->size : 0;
    return *size ? s->bytes : NULL;
}

uint64_t pgk_elf_raw_debug_hash(const struct pgk_elf *elf)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < elf->sections.n; i++) {
        const struct section *s = &elf->sections.v[i];
        if (strncmp(s->name, ".debug_", 7) && strncmp(s->name, ".zdebug_", 8))
            continue;
        hash = pgk_hash_pair(hash, pgk_md5_low64(s->name, strlen(s->name)));
        hash = pgk_hash_pair(hash, s->offset);
        hash = pgk_hash_pair(hash, s->size);
    }
    return hash;
}

const uint8_t *pgk_elf_section(const struct pgk_elf *elf, const char *name, size_t *size)
{
    return pgk_elf_section_nth(elf, name, 0, size);
}

const uint8_t *pgk_elf_section_nth(const struct pgk_elf *elf, const char *name, size_t nth,
                                   size_t *size)
{
    const struct section *s = find_section(elf, name, nth);
    *size = 0;
    if (!s || !s->size)
        return NULL;
    bool old_z = is_zdebug(s, name) && s->size >= 4 && !memcmp(s->bytes, "ZLIB", 4);
    if (!(s->flags & SHF_COMPRESSED) && !old_z) {
        *size = (size_t)s->size;
        return s->bytes;
    }
    struct plain *p = &elf->lazy->plain[s - elf->sections.v];
    pthread_mutex_lock(&elf->lazy->lock);
    if (!p->tried) {
        p->tried = true;
        make_plain(elf, s, p);
    }
    pthread_mutex_unlock(&elf->lazy->lock);
    *size = p->size;
    return p->size ? p->bytes : NULL;
}

size_t pgk_elf_section_count(const struct pgk_elf *elf)
{
    return elf->sections.n;
}

struct pgk_elf_section_info pgk_elf_section_at(const struct pgk_elf *elf, size_t number)
{
    assert(number < pgk_elf_section_count(elf));
    const struct section *s = &elf->sections.v[number];
    return (struct pgk_elf_section_info){
        .name = s->name,
        .addr = s->addr,
        .offset = s->offset,
        .size = s->header_size,
        .flags = s->flags,
        .type = s->type,
        .bytes = s->size ? s->bytes : NULL,
    };
}

static const struct section *section_of_type(const struct pgk_elf *elf, uint32_t type)
{
    for (size_t i = 0; i < elf->sections.n; i++) {
        const struct section *s = &elf->sections.v[i];
        if (s->size && s->type == type)
            return s->link < elf->sections.n && !(s->flags & SHF_COMPRESSED) ? s : NULL;
    }
    return NULL;
}

/* A table of symbols, and the file that it is in. */
struct table {
    const struct pgk_elf *elf;
    const struct section *entries, *names; /* entries: NULL if there is no table */
};

static struct table table_in(const struct pgk_elf *elf, uint32_t type)
{
    const struct section *s = elf ? section_of_type(elf, type) : NULL;
    return (struct table){elf, s, s ? &elf->sections.v[s->link] : NULL};
}

/* Exported symbols are a poor substitute for all symbols, which may be in the debug file. */
static struct table symbol_table(const struct pgk_elf *elf)
{
    struct table t = table_in(elf, SHT_SYMTAB);
    if (!t.entries)
        t = table_in(pgk_elf_debug(elf), SHT_SYMTAB);
    return t.entries ? t : table_in(elf, SHT_DYNSYM);
}

bool pgk_elf_has_symbols(const struct pgk_elf *elf)
{
    struct table t = symbol_table(elf);
    return t.entries && t.entries->type == SHT_SYMTAB;
}

/* The program's number of a section of `t`. Tools that split a program keep the numbers of what is
 * loaded, but need not. */
static uint32_t section_in(const struct pgk_elf *elf, const struct table *t, uint32_t number)
{
    if (t->elf == elf || number >= t->elf->sections.n)
        return number;
    const struct section *s = &t->elf->sections.v[number];
    for (size_t i = 0, n = elf->sections.n; i < n; i++) {
        size_t at = (number + i) % n;
        if (elf->sections.v[at].addr == s->addr && !strcmp(elf->sections.v[at].name, s->name))
            return (uint32_t)at;
    }
    return SHN_ABS; /* of the debug file alone */
}

int pgk_elf_entries(const struct pgk_elf *elf, pgk_elf_entry_fn *fn, void *ctx)
{
    const struct table t = symbol_table(elf);
    int status = 0;
    for (uint64_t at = sizeof(Elf64_Sym); t.entries && !status && at <= t.entries->size &&
                                          t.entries->size - at >= sizeof(Elf64_Sym);
         at += sizeof(Elf64_Sym)) {
        Elf64_Sym s;
        memcpy(&s, t.entries->bytes + at, sizeof s);
        struct pgk_elf_entry e = {section_name(t.names, s.st_name), s.st_value, s.st_size,
                                  section_in(elf, &t, s.st_shndx), ELF64_ST_TYPE(s.st_info),
                                  ELF64_ST_BIND(s.st_info) == STB_LOCAL};
        if (e.type == STT_SECTION && s.st_shndx < t.elf->sections.n)
            e.name = t.elf->sections.v[s.st_shndx].name;
        status = fn(ctx, &e);
    }
    return status;
}

static int compare_syms(const void *a, const void *b)
{
    const struct pgk_elf_sym *x = a, *y = b;
    if (x->addr != y->addr)
        return x->addr < y->addr ? -1 : 1;
    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    int c = strcmp(x->name, y->name);
    return c ? c : (int)y->local - (int)x->local;
}

static bool load_symbols(const struct pgk_elf *elf, struct lazy *lazy)
{
    const struct table t = symbol_table(elf);
    PGK_VEC(struct pgk_elf_sym) syms = {0};
    for (uint64_t at = 0; t.entries && t.entries->size - at >= sizeof(Elf64_Sym);
         at += sizeof(Elf64_Sym)) {
        Elf64_Sym s;
        memcpy(&s, t.entries->bytes + at, sizeof s);
        unsigned type = ELF64_ST_TYPE(s.st_info);
        bool function = type == STT_FUNC || type == STT_GNU_IFUNC;
        const char *name = section_name(t.names, s.st_name);
        if (s.st_shndx == SHN_UNDEF || (!function && type != STT_OBJECT) || !*name)
            continue;
        if (!pgk_vec_push(&syms, (struct pgk_elf_sym){
                                     .name = name,
                                     .addr = s.st_value,
                                     .size = s.st_size,
                                     .function = function,
                                     .local = ELF64_ST_BIND(s.st_info) == STB_LOCAL,
                                 })) {
            pgk_vec_free(&syms);
            return false;
        }
    }
    if (syms.n)
        qsort(syms.v, syms.n, sizeof *syms.v, compare_syms);
    lazy->syms = syms.v;
    lazy->n_syms = syms.n;
    return true;
}

int pgk_elf_symbols(const struct pgk_elf *elf, const struct pgk_elf_sym **syms, size_t *count,
                    struct pgk_err *err)
{
    struct lazy *lazy = elf->lazy;
    pthread_mutex_lock(&lazy->lock);
    if (!lazy->syms_loaded)
        lazy->syms_loaded = load_symbols(elf, lazy);
    bool ok = lazy->syms_loaded;
    pthread_mutex_unlock(&lazy->lock);
    if (!ok)
        return pgk_fail_nomem(err);
    *syms = lazy->syms;
    *count = lazy->n_syms;
    return 0;
}
