/* pgokit merge for heap profiles. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Raw profiles (*.profraw), indexed ones (*.profdata) and YAML become one indexed profile for\n"
    "-fmemory-profile-use=. Raw profiles need the binaries that were run. Contexts with equal\n"
    "call stacks are added up, whichever file they come from.\n\n"
    "      --to NAME            who shall read it: any (default), llvm16, llvm19, llvm22; or\n"
    "                           yaml, the text form of LLVM 22\n"
    "      --index-version N    8 to 13, instead of what --to means\n"
    "      --memprof-version N  0 to 4, instead of what --to means\n"
    "      --full-schema        keep all fields, not only those the compiler uses\n"
    "\nExamples:\n"
    "  pgokit merge memprof.profraw.* -b ./app -o app.profdata\n"
    "  pgokit merge run1.profraw old.profdata -b ./app -b ./libapp.so --to llvm22 -o "
    "new.profdata\n";

struct merge {
    struct cli_common common;
    const char *output;
    struct pgk_indexed_write_opts write;
    bool yaml; /* instead of an indexed profile */
    char **inputs;
    size_t n_inputs;
    struct pgk_file_info *infos; /* of the inputs that were read */
    struct pgk_heap_symbolised symbolised;
};

enum { OPT_TO = 256, OPT_INDEX, OPT_MEMPROF, OPT_FULL };

static const struct option options[] = {
    {"output", required_argument, NULL, 'o'},
    {"to", required_argument, NULL, OPT_TO},
    {"index-version", required_argument, NULL, OPT_INDEX},
    {"memprof-version", required_argument, NULL, OPT_MEMPROF},
    {"full-schema", no_argument, NULL, OPT_FULL},
    CLI_COMMON_LONG,
    {0},
};

static void parse(struct merge *m, int argc, char **argv)
{
    const struct pgk_indexed_target *to = pgk_indexed_target("any");
    enum { NOT_GIVEN = 99 };
    unsigned long index = NOT_GIVEN, memprof = NOT_GIVEN;
    for (int c; (c = cli_next_option(&cmd_merge, argc, argv, "o:", options, &m->common)) != -1;) {
        switch (c) {
        case 'o':
            m->output = optarg;
            break;
        case OPT_TO:
            m->yaml = !strcmp(optarg, "yaml");
            to = m->yaml ? pgk_indexed_target("any") : pgk_indexed_target(optarg);
            if (!to)
                cli_usage(&cmd_merge, "--to takes any, llvm16, llvm19, llvm22 or yaml, not '%s'",
                          optarg);
            break;
        case OPT_INDEX:
            index = cli_number("--index-version", optarg, 8, 13);
            break;
        case OPT_MEMPROF:
            memprof = cli_number("--memprof-version", optarg, 0, 4);
            break;
        case OPT_FULL:
            m->write.full_schema = true;
            break;
        }
    }
    m->write.struct_size = sizeof m->write;
    m->write.target = *to;
    if (index != NOT_GIVEN)
        m->write.target.index_version = (uint32_t)index;
    if (memprof != NOT_GIVEN)
        m->write.target.memprof_version = (uint32_t)memprof;
    /* What only LLVM 22 reads is ordered by its own frame ids. */
    if (m->write.target.index_version >= 13 || m->write.target.memprof_version >= 4)
        m->write.target.frame_ids = 2;
    if (optind == argc)
        cli_usage(&cmd_merge, "nothing to merge: name one input at least");
    if (!m->output)
        cli_usage(&cmd_merge, "where to? name the output with -o");
    m->inputs = argv + optind;
    m->n_inputs = (size_t)(argc - optind);
}

static int read_inputs(struct merge *m, struct pgk_heap *heap, struct pgk_err *err)
{
    struct pgk_progress progress;
    m->infos = calloc(m->n_inputs, sizeof *m->infos);
    if (!m->infos) {
        *err = (struct pgk_err){.status = PGK_E_NOMEM, .offset = PGK_NO_OFFSET};
        return err->status;
    }
    pgk_progress_start(&progress, "reading", "files", m->n_inputs);
    int status = 0;
    for (size_t i = 0; i < m->n_inputs && !status; i++) {
        status = pgk_heap_read(heap, m->inputs[i], &m->infos[i], err);
        pgk_progress_add(&progress, 1);
    }
    pgk_progress_end(&progress);
    return status;
}

/* Replaces addresses by source frames, where there are any. */
static int symbolise(struct merge *m, struct pgk_heap **heap, struct pgk_err *err)
{
    struct pgk_binaries *binaries;
    struct pgk_heap *named;
    if (!pgk_heap_needs_binaries(*heap))
        return 0;
    if (!m->common.binaries.n)
        cli_usage(&cmd_merge, "raw profiles hold addresses: give the binary that was run with -b");
    int status = cli_open_binaries(&m->common, &binaries, err);
    if (status)
        return status;
    status = pgk_heap_symbolise(&named, *heap, binaries, &m->symbolised, err);
    pgk_binaries_close(&binaries);
    if (status)
        return status;
    pgk_heap_close(heap);
    *heap = named;
    return 0;
}

/* What is not in the output although it was in the input; only said once the output is
 * there, because a failure is the one thing to say. */
static int report(const struct merge *m, size_t callees)
{
    int exit_code = EXIT_DONE;
    if (!m->common.quiet)
        cli_note_symbolised(&m->symbolised);
    for (size_t i = 0; i < m->n_inputs; i++)
        if (cli_warn_not_carried(m->inputs[i], &m->infos[i]))
            exit_code = EXIT_INCOMPLETE;
    if (callees && !m->yaml && m->write.target.memprof_version < 4) {
        fprintf(stderr,
                "pgokit: warning: %zu targets of indirect calls are not written, because MemProf "
                "V%u cannot hold them; --to llvm22 keeps them\n",
                callees, m->write.target.memprof_version);
        exit_code = EXIT_INCOMPLETE;
    }
    return exit_code;
}

static int run(int argc, char **argv)
{
    struct merge m = {0};
    struct pgk_heap *heap = NULL;
    struct pgk_err err = {0};
    size_t callees = 0;
    parse(&m, argc, argv);
    int status = pgk_heap_new(&heap, &err);
    if (!status)
        status = read_inputs(&m, heap, &err);
    if (!status)
        status = symbolise(&m, &heap, &err);
    if (!status) {
        callees = pgk_heap_callees(heap);
        status = m.yaml ? pgk_heap_yaml_save(heap, m.output, &err)
                        : pgk_indexed_write(heap, m.output, &m.write, &err);
    }
    pgk_heap_close(&heap);
    int exit_code = status ? cli_fail(&err) : report(&m, callees);
    free(m.infos);
    cli_common_free(&m.common);
    return exit_code;
}

const struct cli_action merge_heap = {PGK_KIND_HEAP, help, "o:", options, run};
