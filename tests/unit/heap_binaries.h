/* Binaries that modules of heap profiles are, in a folder of their own. */
#ifndef HEAP_BINARIES_H
#define HEAP_BINARIES_H

#include "binary_set.h"
#include "elf_image.h"

struct test_binaries {
    char folder[TEST_PATH_SIZE];
    struct pgk_binaries *set;
};

static inline struct test_binaries test_binaries(void)
{
    struct test_binaries b = {0};
    test_folder(b.folder);
    assert_int_equal(pgk_binaries_new(&b.set, NULL, NULL), 0);
    return b;
}

static inline void test_binaries_end(struct test_binaries *b)
{
    pgk_binaries_close(&b->set);
    test_folder_remove(b->folder);
}

/* Adds a binary whose code, at TEST_CODE, is `size` bytes at `off` of its file. It has the build
 * id, unless that is empty. */
static inline void test_binaries_add(struct test_binaries *b, const char *name, const char *id,
                                     uint16_t type, uint64_t off, uint64_t size)
{
    char path[TEST_PATH_SIZE];
    struct test_bytes note = test_build_id(id, strlen(id));
    struct test_section s = {
        .name = ".note.gnu.build-id", .type = SHT_NOTE, .bytes = note.v, .size = note.n};
    struct test_bytes image = test_elf(type, &s, *id ? 1 : 0);
    Elf64_Phdr code;
    memcpy(&code, image.v + sizeof(Elf64_Ehdr), sizeof code);
    code.p_offset = off;
    code.p_filesz = code.p_memsz = size;
    memcpy(image.v + sizeof(Elf64_Ehdr), &code, sizeof code);
    test_write_file(test_join(path, b->folder, name), image.v, image.n);
    assert_int_equal(pgk_binaries_add(b->set, path, NULL), 0);
    tb_free(&image);
    tb_free(&note);
}

#endif
