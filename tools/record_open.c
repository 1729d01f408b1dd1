/* record --open: from a recording to a page in the browser. */
#include "record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    const char *name;
    char *value; /* NULL: not set */
} kept[] = {{"LD_PRELOAD", NULL},          {"LD_LIBRARY_PATH", NULL},
            {"PGOKIT_HEAP_OPTIONS", NULL}, {"PGOKIT_BRANCHES_OPTIONS", NULL},
            {"MEMPROF_OPTIONS", NULL}};
enum { KEPT = sizeof kept / sizeof *kept };

static _Noreturn void out_of_memory(void)
{
    fputs("pgokit: out of memory\n", stderr);
    exit(EXIT_RECORD_FAILED);
}

void record_keep_environment(void)
{
    for (size_t i = 0; i < KEPT; i++) {
        const char *value = getenv(kept[i].name);
        kept[i].value = value ? strdup(value) : NULL;
        if (value && !kept[i].value)
            out_of_memory();
    }
}

static void put_back_environment(void)
{
    for (size_t i = 0; i < KEPT; i++)
        if (kept[i].value ? setenv(kept[i].name, kept[i].value, 1) : unsetenv(kept[i].name))
            out_of_memory();
}

bool record_run_pgokit(const char *const *words)
{
    struct record_ended ended;
    put_back_environment();
    char **argv = (char **)(uintptr_t)words; /* which record_run does not change */
    return record_run("/proc/self/exe", argv, &ended) && !ended.signal &&
           ended.exit_code <= EXIT_INCOMPLETE;
}

static bool has_display(void)
{
    return *record_environment("DISPLAY") || *record_environment("WAYLAND_DISPLAY");
}

/* It may be the browser itself, which nobody waits for, so it gets a parent that ends at once. */
static bool start_browser(const char *opener, const char *page)
{
    const pid_t first = fork();
    if (!first) {
        const pid_t second = fork();
        if (!second) {
            setsid();
            execl(opener, opener, page, (char *)NULL);
            _exit(EXIT_NOT_EXECUTABLE);
        }
        _exit(second < 0);
    }
    int status = 0;
    return first > 0 && waitpid(first, &status, 0) == first && !status;
}

void record_open_page(const char *page)
{
    char path[PATH_MAX], opener[PATH_MAX], safe[2 * PATH_MAX];
    bool seen;
    if (!realpath(page, path))
        snprintf(path, sizeof path, "%s", page);
    const bool opened = has_display() && record_find_in_path(opener, "xdg-open", &seen) &&
                        start_browser(opener, path);
    fprintf(stderr, "page%s: %s\n", opened ? " (opens now)" : "",
            pgk_human_text(safe, sizeof safe, path));
}
