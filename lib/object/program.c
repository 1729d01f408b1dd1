/* Properties of a program file that matter for recording a profile of it.
 *
 * A runtime that was linked into a program starts from its .preinit_array and has the name of
 * its options among its constants; that holds for stripped and for static programs, too. */
#include "pgokit/program.h"

#include "elf_priv.h"
#include "filemap.h"
#include "machine.h"
#include "opts.h"

#include <elf.h>
#include <string.h>

static bool has_section(const struct pgk_elf *elf, const char *name)
{
    size_t size;
    return pgk_elf_section(elf, name, &size) != NULL;
}

static bool constants_hold(const struct pgk_elf *elf, const char *text)
{
    size_t size;
    const uint8_t *bytes = pgk_elf_section(elf, ".rodata", &size);
    return bytes && memmem(bytes, size, text, strlen(text) + 1);
}

/* True if a DT_NEEDED library's name begins with `name`. */
static bool needs_library(const struct pgk_elf *elf, const char *name)
{
    size_t size, n_strings, length = strlen(name);
    const uint8_t *dynamic = pgk_elf_section(elf, ".dynamic", &size);
    const uint8_t *strings = pgk_elf_section(elf, ".dynstr", &n_strings);
    for (size_t at = 0; dynamic && strings && size - at >= sizeof(Elf64_Dyn);
         at += sizeof(Elf64_Dyn)) {
        Elf64_Dyn entry;
        memcpy(&entry, dynamic + at, sizeof entry);
        if (entry.d_tag == DT_NEEDED && entry.d_un.d_val < n_strings &&
            n_strings - entry.d_un.d_val > length &&
            !memcmp(strings + entry.d_un.d_val, name, length))
            return true;
    }
    return false;
}

static enum pgk_heap_runtime runtime_of(const struct pgk_elf *elf)
{
    if (needs_library(elf, "libpgokit_heap.so"))
        return PGK_HEAP_RUNTIME_PGOKIT;
    if (needs_library(elf, "libclang_rt.memprof"))
        return PGK_HEAP_RUNTIME_LLVM_SHARED;
    if (has_section(elf, ".preinit_array")) {
        if (constants_hold(elf, "PGOKIT_HEAP_OPTIONS"))
            return PGK_HEAP_RUNTIME_PGOKIT;
        if (constants_hold(elf, "MEMPROF_OPTIONS"))
            return PGK_HEAP_RUNTIME_LLVM;
    }
    return PGK_HEAP_RUNTIME_NONE;
}

/* The byte at an address of the program's file, or -1. */
static int byte_at(const struct pgk_elf *elf, uint64_t addr)
{
    size_t n, size;
    const struct pgk_segment *s = pgk_elf_segments(elf, &n);
    const uint8_t *bytes = pgk_elf_bytes(elf, &size);
    for (size_t i = 0; i < n; i++)
        if (addr >= s[i].vaddr && addr - s[i].vaddr < s[i].filesz &&
            s[i].offset < size && addr - s[i].vaddr < size - s[i].offset)
            return bytes[s[i].offset + (addr - s[i].vaddr)];
    return -1;
}

static int find_histogram(struct pgk_program *program, const struct pgk_elf *elf,
                          struct pgk_err *err)
{
    const struct pgk_elf_sym *syms;
    size_t n;
    if (!has_section(elf, ".symtab"))
        return 0;
    program->histogram_known = true;
    PGK_TRY(pgk_elf_symbols(elf, &syms, &n, err));
    for (size_t i = 0; i < n; i++)
        if (!strcmp(syms[i].name, "__memprof_histogram"))
            program->histogram = byte_at(elf, syms[i].addr) > 0;
    return 0;
}

/* Files that people try and the ELF reader does not know: says whether a recorder can use them. */
static int check_ident(const struct pgk_filemap *map, const char *path, struct pgk_err *err)
{
    const uint8_t *b = map->bytes;
    if (map->size < EI_NIDENT || memcmp(b, ELFMAG, SELFMAG) != 0)
        return pgk_fail(err, PGK_E_FORMAT, .file = path, .format = "program",
                        .offset = &(uint64_t){0}, .field = "magic",
                        .found = map->size < EI_NIDENT
                                     ? PGK_F("%zu bytes", map->size)
                                     : PGK_F("%02x %02x %02x %02x", b[0], b[1], b[2], b[3]),
                        .expected = "an ELF program or a script that begins with #!",
                        .hint = "run a script without #! by its interpreter: sh SCRIPT");
    if (b[EI_CLASS] != ELFCLASS64)
        return pgk_fail(err, PGK_E_FORMAT, .file = path, .format = "program",
                        .offset = &(uint64_t){EI_CLASS}, .field = "class",
                        .found = b[EI_CLASS] == ELFCLASS32 ? "a 32-bit program"
                                                           : PGK_F("%u", b[EI_CLASS]),
                        .expected = "a 64-bit program",
                        .hint = "build it for x86-64, for which there is a runtime");
    return 0;
}

/* glibc's is ld-linux-x86-64.so.2 or ld-linux-aarch64.so.1, musl's ld-musl-x86_64.so.1. */
static void find_linker(struct pgk_program *program, const struct pgk_elf *elf)
{
    size_t size;
    const char *path = (const char *)pgk_elf_section(elf, ".interp", &size);
    if (!path)
        return;
    const size_t n = strnlen(path, size);
    const char *slash = memrchr(path, '/', n), *name = slash ? slash + 1 : path;
    if (n - (size_t)(name - path) < 8 || memcmp(name, "ld-linux", 8) != 0)
        memcpy(program->other_linker, path,
               n < sizeof program->other_linker ? n : sizeof program->other_linker - 1);
}

static uint64_t code_bytes(const struct pgk_elf *elf)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < pgk_elf_section_count(elf); i++) {
        const struct pgk_elf_section_info s = pgk_elf_section_at(elf, i);
        if (s.flags & SHF_EXECINSTR)
            bytes += s.size;
    }
    return bytes;
}

static int inspect_elf(struct pgk_program *program, const char *path, struct pgk_err *err)
{
    struct pgk_elf *elf;
    PGK_TRY(pgk_elf_open(&elf, path, err));
    int status = 0;
    const struct pgk_machine *machine = pgk_elf_machine(elf), *host = pgk_machine_of_host();
    if (machine != host)
        status = pgk_fail(err, PGK_E_FORMAT, .file = path, .format = "program",
                          .offset = &(uint64_t){offsetof(Elf64_Ehdr, e_machine)},
                          .field = "machine", .found = PGK_F("%u", machine->number),
                          .expected = host ? PGK_F("%s (%u)", host->name, host->number)
                                           : "a machine that pgokit records on",
                          .hint = "build it for the machine that records it, or record it there");
    if (!status) {
        program->kind = has_section(elf, ".interp") ? PGK_PROGRAM_DYNAMIC : PGK_PROGRAM_STATIC;
        program->heap_runtime = runtime_of(elf);
        program->go = has_section(elf, ".go.buildinfo") || has_section(elf, ".note.go.buildid");
        program->code_bytes = code_bytes(elf);
        find_linker(program, elf);
        status = find_histogram(program, elf, err);
    }
    pgk_elf_close(&elf);
    return status;
}

/* "#! /usr/bin/env -S python3": the first word. */
static void read_interpreter(struct pgk_program *program, const struct pgk_filemap *map)
{
    size_t at = 2, n = 0;
    const uint8_t *b = map->bytes;
    while (at < map->size && (b[at] == ' ' || b[at] == '\t'))
        at++;
    while (at < map->size && !strchr(" \t\r\n", b[at]) &&
           n < sizeof program->interpreter - 1)
        program->interpreter[n++] = (char)b[at++];
    program->interpreter[n] = 0;
}

int pgk_program_inspect(struct pgk_program *program, const char *path, struct pgk_err *err)
{
    struct pgk_program found = {0};
    struct pgk_filemap map;
    PGK_TRY(pgk_filemap_open(&map, path, err));
    bool script = map.size >= 2 && !memcmp(map.bytes, "#!", 2);
    int status = 0;
    if (script) {
        found.kind = PGK_PROGRAM_SCRIPT;
        read_interpreter(&found, &map);
    } else {
        status = check_ident(&map, path, err);
    }
    pgk_filemap_close(&map);
    if (!status && !script)
        status = inspect_elf(&found, path, err);
    if (!status)
        PGK_RESULT_GIVE(program, &found);
    return status;
}
