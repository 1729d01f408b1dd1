/* Reports in files: they take their names when they are whole. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A pipe, a device or a link is written to as it is. */
static bool is_own_file(const char *path)
{
    struct stat s;
    return lstat(path, &s) ? errno == ENOENT : S_ISREG(s.st_mode);
}

bool cli_report_open(struct cli_report *report, const char *path)
{
    *report = (struct cli_report){.path = path};
    if (!strcmp(path, "-")) {
        report->out = stdout;
        return true;
    }
    if (is_own_file(path) && asprintf(&report->part, "%s.part%ld", path, (long)getpid()) < 0)
        report->part = NULL;
    report->out = fopen(report->part ? report->part : path, "we");
    return report->out != NULL;
}

bool cli_report_close(struct cli_report *report)
{
    bool ok = !ferror(report->out);
    ok = (report->out == stdout ? !fflush(stdout) : !fclose(report->out)) && ok;
    if (report->part) {
        ok = ok && !rename(report->part, report->path);
        const int why = errno;
        if (!ok)
            unlink(report->part);
        errno = why;
    }
    free(report->part);
    return ok;
}
