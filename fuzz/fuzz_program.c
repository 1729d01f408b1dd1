/* Fuzz target: a program file, as the recorder looks at it. */
#include "pgokit/log.h"
#include "pgokit/program.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore_message(void *ctx, enum pgk_log_level level, const char *text)
{
    (void)ctx, (void)level, (void)text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pgk_program program = {.struct_size = sizeof program};
    char path[40];
    int fd = memfd_create("program", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    pgk_log_set(ignore_message, NULL);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!pgk_program_inspect(&program, path, NULL) && program.kind == PGK_PROGRAM_SCRIPT &&
        strlen(program.interpreter) >= sizeof program.interpreter)
        abort();
    close(fd);
    return 0;
}
