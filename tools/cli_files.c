/* An input is never an output: files that a command line names, compared by device and inode before
 * anything is opened for writing. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct named_file {
    const char *path; /* lives as long as the process */
    dev_t device;
    ino_t inode;
};

struct named_files {
    struct named_file *v;
    size_t n;
};
static struct named_files inputs, outputs;
static const char *replaced; /* whose files may be both */

/* False for what cannot be lost by writing: a pipe, a device, or nothing yet. */
static bool find_file(struct named_file *file, const char *path, int fd_of_dash)
{
    struct stat st;
    if (strcmp(path, "-") ? stat(path, &st) : fstat(fd_of_dash, &st))
        return false;
    *file = (struct named_file){path, st.st_dev, st.st_ino};
    return S_ISREG(st.st_mode) || S_ISDIR(st.st_mode);
}

static const struct named_file *find_same(const struct named_files *files,
                                          const struct named_file *file)
{
    for (size_t i = 0; i < files->n; i++)
        if (files->v[i].device == file->device && files->v[i].inode == file->inode)
            return &files->v[i];
    return NULL;
}

static _Noreturn void out_of_memory(void)
{
    fputs("pgokit: out of memory\n", stderr);
    exit(EXIT_FAILED);
}

static void add(struct named_files *files, const struct named_file *file)
{
    struct named_file *grown = realloc(files->v, (files->n + 1) * sizeof *grown);
    if (!grown)
        out_of_memory();
    files->v = grown;
    files->v[files->n++] = *file;
}

/* A folder holds the counters of gcc. What cannot be opened is an error that the verb reports. */
static bool may_be_replaced(const char *path)
{
    struct pgk_file *file;
    const struct pgk_format *format = cli_format(CLI_GCOV, PGK_KIND_GCOV);
    if (!replaced || !strcmp(path, "-"))
        return false;
    if (!cli_is_folder(path)) {
        if (cli_open(&file, path, NULL))
            return true;
        format = pgk_file_info_format(pgk_file_info(file));
    }
    return strstr(format->made_by, replaced) != NULL;
}

static void compare(const struct named_file *input, const struct named_file *output)
{
    char in[256], out[256];
    if (!input || !output || may_be_replaced(input->path))
        return;
    fprintf(stderr,
            "pgokit: the output %s is the same file as the input %s, which would be lost; name "
            "another output. Nothing was written\n",
            pgk_human_text(out, sizeof out, output->path),
            pgk_human_text(in, sizeof in, input->path));
    exit(EXIT_FAILED);
}

void cli_reads(const char *path)
{
    struct named_file file;
    if (!find_file(&file, path, STDIN_FILENO))
        return;
    compare(&file, find_same(&outputs, &file));
    add(&inputs, &file);
}

void cli_writes(const char *path)
{
    struct named_file file;
    cli_for_data(path);
    if (!find_file(&file, path, STDOUT_FILENO))
        return;
    compare(find_same(&inputs, &file), &file);
    file.path = strdup(path);
    if (!file.path)
        out_of_memory();
    add(&outputs, &file);
}

void cli_replaces(const char *writer)
{
    replaced = writer;
}
