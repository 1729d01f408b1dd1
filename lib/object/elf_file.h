/* A mapped ELF file: segments, sections, symbols, build id. Read-only after
 * opening, so any number of threads may use it. Decoding rests on libelf. */
#ifndef PGK_ELF_FILE_H
#define PGK_ELF_FILE_H

#include "fail.h"

#include <stdbool.h>
#include <stdint.h>

struct pgk_machine;
struct pgk_elf;

struct pgk_segment { /* one PT_LOAD */
    uint64_t vaddr, memsz, offset, filesz;
    bool executable;
};

struct pgk_elf_sym {
    const char *name; /* linkage name, points into the mapping */
    uint64_t addr, size;
    bool function, local;
};

/* Opens an ELF file for x86-64 or AArch64, executable or shared object.
 * PGK_E_FORMAT (not ELF, wrong class/machine), PGK_E_IO, PGK_E_CORRUPT. */
int pgk_elf_open(struct pgk_elf **elf, const char *path, struct pgk_err *err);
void pgk_elf_close(struct pgk_elf **elf);

const char *pgk_elf_path(const struct pgk_elf *elf);
bool pgk_elf_is_pie(const struct pgk_elf *elf); /* ET_DYN */
const struct pgk_machine *pgk_elf_machine(const struct pgk_elf *elf); /* never NULL */
/* PT_LOAD segments in file order. */
const struct pgk_segment *pgk_elf_segments(const struct pgk_elf *elf, size_t *count);
/* GNU build id; *size 0 and NULL if the file has none. */
const uint8_t *pgk_elf_build_id(const struct pgk_elf *elf, size_t *size);
/* Whether that is the build id of the file; false if it has none, or `size` is 0. */
bool pgk_elf_has_build_id(const struct pgk_elf *elf, const uint8_t *id, size_t size);
/* Recordings of perf have 20 bytes for a build id: perf before 5.11 fills up a shorter one with
 * zeros and does not say its size, and a longer one is cut. Such ids are equal, as for perf; ids of
 * no bytes are not. */
bool pgk_build_ids_equal(const uint8_t *a, size_t a_size, const uint8_t *b, size_t b_size);
/* Section contents, decompressed where needed (SHF_COMPRESSED, .zdebug_);
 * *size 0 and NULL if there is no such section (or it is SHT_NOBITS). Valid until the file
 * is closed. Sections are decompressed on first use, under a lock. */
const uint8_t *pgk_elf_section(const struct pgk_elf *elf, const char *name, size_t *size);
/* As pgk_elf_section, of the section of this name number `nth`, from 0: objects may have
 * several. */
const uint8_t *pgk_elf_section_nth(const struct pgk_elf *elf, const char *name, size_t nth,
                                   size_t *size);
/* Headers of all sections, number 0 (the null section) included. */
struct pgk_elf_section_info {
    const char *name;
    uint64_t addr, offset, size; /* size as in the header, also of SHT_NOBITS */
    uint64_t flags;              /* SHF_... */
    uint32_t type;               /* SHT_... */
    const uint8_t *bytes;        /* as stored; NULL without bytes in the file */
};
size_t pgk_elf_section_count(const struct pgk_elf *elf);
struct pgk_elf_section_info pgk_elf_section_at(const struct pgk_elf *elf, size_t number);
/* Entries of .symtab (of the program, else of its debug file, else .dynsym), of any type, as they
 * stand there; a section's symbol has the section's name. `fn` returns 0 to go on, else its result
 * is returned. */
struct pgk_elf_entry {
    const char *name;
    uint64_t addr, size;
    uint32_t section; /* SHN_... or the section's number in the program */
    uint8_t type;     /* STT_... */
    bool local;
};
typedef int pgk_elf_entry_fn(void *ctx, const struct pgk_elf_entry *entry);
int pgk_elf_entries(const struct pgk_elf *elf, pgk_elf_entry_fn *fn, void *ctx);
/* Function and object symbols of the same table, sorted by address; loaded on first use. */
int pgk_elf_symbols(const struct pgk_elf *elf, const struct pgk_elf_sym **syms, size_t *count,
                    struct pgk_err *err);
/* Lets go of the pages of the file that were read; they come back when they are needed. */
void pgk_elf_trim(const struct pgk_elf *elf);

/* ---- a program that was stripped, and its debug file ---- */

/* Places of debug information outside of the program itself. */
struct pgk_debug_places {
    const char *const *dirs; /* debug folders, searched before /usr/lib/debug */
    size_t n_dirs;
    const char *const *packages; /* .dwp files, tried before the one next to the program */
    size_t n_packages;
    struct pgk_debug_caches *caches; /* of other tools, tried last; NULL: none */
};
/* To be called before anything is looked up; `places` and its strings must outlive `elf`. */
void pgk_elf_look_in(struct pgk_elf *elf, const struct pgk_debug_places *places);
/* Takes debug information from the file at `path`, and symbols and probes that the program does not
 * have. PGK_E_MISMATCH if both have a build id, but not the same. */
int pgk_elf_use_debug(struct pgk_elf *elf, const char *path, struct pgk_err *err);
/* The separate debug file: the one in use, else the one that is found by build id or
 * .gnu_debuglink, looked for at the first call; NULL if there is none. */
const struct pgk_elf *pgk_elf_debug(const struct pgk_elf *elf);
/* The file with the bytes of that section: the program itself, else its debug file; NULL if
 * neither has them. */
const struct pgk_elf *pgk_elf_with(const struct pgk_elf *elf, const char *section);
/* Whether there is a whole table of symbols, and not only that of what is exported. */
bool pgk_elf_has_symbols(const struct pgk_elf *elf);

#endif
