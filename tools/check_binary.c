/* pgokit check for binaries: their pseudo probes. */
#include "cli.h"

#include <inttypes.h>
#include <stdio.h>

static int run(const char *path, const struct cli_common *common, struct pgk_err *err)
{
    struct pgk_probes *probes;
    struct pgk_probe_index *index = NULL;
    struct pgk_file *file;
    (void)common;
    int status = cli_open(&file, path, err);
    if (!status)
        status = pgk_probes_open(&probes, path, err);
    if (status)
        return status;
    status = pgk_probe_index_all(&index, probes, err); /* finds functions without descriptor */
    if (!status)
        status = pgk_probes_check(probes, err);
    if (!status) {
        char safe[512], readers[256];
        char n[PGK_HUMAN_SIZE], functions[PGK_HUMAN_SIZE], size[PGK_HUMAN_SIZE];
        struct pgk_probes_totals t = pgk_probes_totals(probes);
        printf("%s: %ssound%s: pseudo probes, %s, %s probes of %s functions; read by %s\n",
               pgk_human_text(safe, sizeof safe, path), CLI_STYLE(CLI_GOOD), CLI_STYLE(CLI_PLAIN),
               pgk_human_bytes(size, (double)(t.probe_bytes + t.desc_bytes)),
               pgk_human_count(n, t.probes), pgk_human_count(functions, t.roots),
               pgk_file_info_readers(pgk_file_info(file), readers, sizeof readers));
    }
    pgk_probe_index_close(&index);
    pgk_probes_close(&probes);
    return status;
}

const struct cli_check check_binary = {PGK_KIND_BINARY, run};
