/* Opening ELF images other than the program itself: debug files, objects, memory. */
#ifndef PGK_ELF_PRIV_H
#define PGK_ELF_PRIV_H

#include "elf_file.h"

#include <pthread.h>

enum pgk_elf_kind {
    PGK_ELF_PROGRAM, /* executable or shared object, of a known machine */
    PGK_ELF_DEBUG,   /* any ELF file that may hold debug sections */
};

int pgk_elf_open_as(struct pgk_elf **elf, const char *path, enum pgk_elf_kind kind,
                    struct pgk_err *err);
/* Does not copy the image, which must outlive `elf`. `name` stands for the path. */
int pgk_elf_open_memory(struct pgk_elf **elf, const void *image, size_t size, const char *name,
                        enum pgk_elf_kind kind, struct pgk_err *err);
/* All bytes of the file. */
const uint8_t *pgk_elf_bytes(const struct pgk_elf *elf, size_t *size);

/* A section's bytes as they lie in the file, perhaps compressed; NULL if it has none there. */
const uint8_t *pgk_elf_raw_section(const struct pgk_elf *elf, const char *name, size_t *size);
/* State of a program's separate debug file. */
struct pgk_elf_debug {
    pthread_mutex_t lock;
    const struct pgk_debug_places *places; /* NULL: none but the system's */
    struct pgk_elf *file;                  /* owned */
    bool settled, given;                   /* looked for; by the user */
    char tried[200];                       /* where in vain, for messages */
};
struct pgk_elf_debug *pgk_elf_debug_state(const struct pgk_elf *elf);
/* Frees the decompressed sections of the debug file; no caller may still hold them. */
void pgk_elf_forget_debug(const struct pgk_elf *elf);

/* Over names, offsets and sizes of all debug sections. */
uint64_t pgk_elf_raw_debug_hash(const struct pgk_elf *elf);

#endif
