/* The file of a history: SQLite reads it, what it holds is asked for in every way there is. */
#include "history_movers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[] = "/tmp/pgk-fuzz-history-XXXXXX";
static char path[64], journal[64];
static FILE *nowhere;

static void delete_folder(void)
{
    unlink(path);
    unlink(journal);
    rmdir(folder);
}

static void make_folder(void)
{
    if (nowhere)
        return;
    nowhere = fopen("/dev/null", "w");
    if (!nowhere || !mkdtemp(folder))
        abort();
    snprintf(path, sizeof path, "%s/history.sqlite", folder);
    snprintf(journal, sizeof journal, "%s/history.sqlite-journal", folder);
    atexit(delete_folder);
}

static int extract(void *ctx, const struct pgk_history_entry *e)
{
    (void)pgk_history_extract(ctx, e->id, "/dev/null", NULL);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pgk_history *history = NULL;
    size_t deleted;
    int64_t id;
    make_folder();
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    close(fd);
    if (!pgk_history_open(&history, folder, size & 1, NULL)) {
        (void)pgk_history_print_table(history, NULL, 5, nowhere, NULL);
        (void)pgk_history_print_json(history, NULL, 5, nowhere, NULL);
        (void)pgk_history_walk(history, NULL, extract, history, NULL);
        (void)pgk_history_find(history, "v1", &id, NULL);
        (void)pgk_history_keep(history, 1, &deleted, NULL);
        pgk_history_close(&history);
    }
    unlink(journal);
    return 0;
}
