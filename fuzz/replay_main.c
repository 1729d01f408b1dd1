/* Runs a fuzz target over files and folders of files, without a fuzzing toolchain:
 * the seeds in every test run, and a crashing input under a debugger.
 *
 *     replay_NAME FILE-OR-FOLDER...
 *
 * The name of each file is printed before it is used. No file at all is a failure. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t files_run;

static int replay_file(const char *path)
{
    printf("%s\n", path);
    fflush(stdout);
    FILE *in = fopen(path, "rb");
    if (!in) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    struct stat st;
    uint8_t *bytes = NULL;
    size_t size = 0;
    int failed = fstat(fileno(in), &st) != 0;
    if (!failed) {
        size = (size_t)st.st_size;
        bytes = malloc(size ? size : 1); /* exact, so that a sanitizer sees every overrun */
        failed = !bytes || fread(bytes, 1, size, in) != size;
    }
    fclose(in);
    if (failed) {
        fprintf(stderr, "%s: cannot be read\n", path);
    } else {
        LLVMFuzzerTestOneInput(bytes, size);
        files_run++;
    }
    free(bytes);
    return failed;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int replay_path(const char *path)
{
    struct dirent **entries;
    int n = scandir(path, &entries, visible, alphasort);
    if (n < 0)
        return replay_file(path);

    int failed = 0;
    for (int i = 0; i < n; i++) {
        char name[PATH_MAX];
        if ((size_t)snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name) < sizeof name)
            failed |= replay_file(name);
        else
            failed = 1;
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++)
        failed |= replay_path(argv[i]);
    if (files_run == 0) {
        fprintf(stderr, "%s: no input\n", argv[0]);
        failed = 1;
    }
    return failed;
}
