/* Finds the program that was recorded, if the user did not name it: its path and build id are in
 * the recording. */
#include "binary_set.h"
#include "branch_view.h"
#include "gen_folder.h"
#include "hex.h"
#include "mem.h"
#include "opts.h"
#include "path.h"
#include "perf_input.h"
#include "pgokit/gen.h"
#include "process_map.h"
#include "saturate.h"
#include "vec.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define NO_FILE UINT32_MAX
/* A program with less than a tenth of what was counted only calls a library that is of use. */
enum { NAMED_PROGRAMS = 3, TENTHS = 9, TENTH = 10 };

/* The program that a process runs from a time on: the file that was mapped first after its
 * start. */
struct program_of {
    int32_t pid;
    uint32_t file; /* NO_FILE: nothing was mapped yet */
    uint64_t from;
};

struct finder {
    const struct pgk_gen_opts *opts;
    struct pgk_process_map *map;
    PGK_VEC(struct program_of) programs;
    PGK_VEC(uint64_t) in_file, of_program; /* samples: there, and of processes that run the file */
    uint64_t samples; /* of all programs */
    struct pgk_err *err;
};

/* ---- what runs where ---- */

static struct program_of *program_at(struct finder *f, int32_t pid, uint64_t time)
{
    for (size_t i = f->programs.n; i-- > 0;) {
        struct program_of *p = &f->programs.v[i];
        if ((p->pid == pid && p->from <= time) || (pid == PGK_PID_UNKNOWN && !i))
            return p;
    }
    return NULL;
}

static int add_program(struct finder *f, int32_t pid, uint64_t from, uint32_t file)
{
    return pgk_vec_push(&f->programs, ((struct program_of){pid, file, from}))
               ? 0
               : pgk_fail_nomem(f->err);
}

static uint32_t file_of(const struct finder *f, const struct pgk_perf_mapping *m)
{
    size_t n;
    const struct pgk_process_file *files = pgk_process_map_files(f->map, &n);
    while (n-- > 0)
        if (strlen(files[n].path) == m->path_len && !memcmp(files[n].path, m->path, m->path_len))
            return (uint32_t)n;
    return NO_FILE;
}

/* Names in brackets and "//anon" are no files. */
static bool is_code_of_file(const struct pgk_perf_mapping *m)
{
    return m->pid >= 0 && m->prot & PGK_PROT_EXEC && m->path_len > 1 && m->path[0] == '/' &&
           m->path[1] != '/';
}

static int on_mapping(void *ctx, const struct pgk_perf_mapping *m)
{
    struct finder *f = ctx;
    PGK_TRY(pgk_process_map_add(f->map, m, f->err));
    if (!is_code_of_file(m))
        return 0;
    struct program_of *p = program_at(f, m->pid, UINT64_MAX);
    if (!p)
        return add_program(f, m->pid, 0, file_of(f, m));
    if (p->file == NO_FILE)
        p->file = file_of(f, m);
    return 0;
}

static int on_task(void *ctx, const struct pgk_perf_task *task)
{
    struct finder *f = ctx;
    PGK_TRY(pgk_process_map_task(f->map, task, f->err));
    if (task->kind == PGK_PERF_EXEC)
        return add_program(f, task->pid, task->time, NO_FILE);
    if (task->kind == PGK_PERF_FORK && task->parent != task->pid) {
        const struct program_of *p = program_at(f, task->parent, task->time);
        return p ? add_program(f, task->pid, task->time, p->file) : 0;
    }
    return 0;
}

/* ---- samples ---- */

static bool is_wanted(const struct finder *f, const struct pgk_perf_sample *s)
{
    if (s->mode == PGK_PERF_KERNEL || (f->opts->pid && s->pid != f->opts->pid))
        return false;
    if (!f->opts->comm)
        return true;
    if (s->comm.n)
        return strlen(f->opts->comm) == s->comm.n && !memcmp(f->opts->comm, s->comm.s, s->comm.n);
    return !strcmp(pgk_process_map_name(f->map, s->pid), f->opts->comm);
}

static int on_sample(void *ctx, const struct pgk_perf_sample *s)
{
    struct finder *f = ctx;
    if (!is_wanted(f, s))
        return 0;
    const struct program_of *p = program_at(f, s->pid, s->time);
    const uint64_t at = s->has & PGK_PERF_HAS_IP ? s->ip : s->n_branches ? s->branches[0].to : 0;
    const struct pgk_process_place place = pgk_process_map_find(f->map, s->pid, s->time, at);
    if (place.mapping && place.mapping->file < f->in_file.n)
        f->in_file.v[place.mapping->file] += s->count;
    if (p && p->file < f->of_program.n) {
        f->of_program.v[p->file] += s->count;
        f->samples += s->count;
    }
    return 0;
}

static int count_samples(struct finder *f, const char *recording)
{
    struct pgk_perf_input *input = NULL;
    const struct pgk_perf_handler places = {.ctx = f, .mapping = on_mapping, .task = on_task};
    const struct pgk_perf_handler samples = {.ctx = f, .sample = on_sample};
    size_t n = 0;
    PGK_TRY(pgk_perf_input_open(&input, recording, f->err));
    int status = pgk_perf_input_read(input, &places, f->err);
    if (!status)
        status = pgk_process_map_ready(f->map, f->err);
    if (!status)
        pgk_process_map_files(f->map, &n);
    if (!status && (!pgk_vec_reserve(&f->in_file, n) || !pgk_vec_reserve(&f->of_program, n)))
        status = pgk_fail_nomem(f->err);
    for (size_t i = 0; i < n && !status; i++) {
        f->in_file.v[f->in_file.n++] = 0;
        f->of_program.v[f->of_program.n++] = 0;
    }
    if (!status && n)
        status = pgk_perf_input_read(input, &samples, f->err);
    pgk_perf_input_close(&input);
    return status;
}

/* ---- choosing ---- */

/* The file with the most of `counts`, which become 0; NO_FILE if all are. */
static uint32_t take_most(uint64_t *counts, size_t n, uint64_t *count)
{
    size_t most = 0;
    for (size_t i = 1; i < n; i++)
        if (counts[i] > counts[most])
            most = i;
    if (!n || !counts[most])
        return NO_FILE;
    *count = counts[most];
    counts[most] = 0;
    return (uint32_t)most;
}

#define PLACES                                                                                \
    "it at that path, in --sysroot, or by its build id in the caches of perf or debuginfod"
#define PLACES_HINT                                                                           \
    "give the file that was recorded with -b, or name a server that has it in DEBUGINFOD_URLS"

#define NAMES_NONE "this file does not name one: give it with -b"

static int fail_no_program(struct pgk_err *err, const char *recording, const char *hint)
{
    return pgk_fail(err, PGK_E_MISMATCH, .file = recording, .field = "program", .found = "none",
                    .expected = "the path of the program that was recorded",
                    .hint = hint);
}

static double percent(uint64_t part, uint64_t of)
{
    return of ? 100.0 * (double)part / (double)of : 0;
}

/* Adds "NAME (12.3 %)". */
static void name_share(char *text, size_t size, const char *path, uint64_t part, uint64_t of)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s (%.1f %%)", used ? ", " : "", path,
             percent(part, of));
}

static int fail_several(struct finder *f, const char *recording, uint32_t file, uint64_t count)
{
    char names[200] = "";
    size_t n;
    const struct pgk_process_file *files = pgk_process_map_files(f->map, &n);
    for (int i = 0; i < NAMED_PROGRAMS && file != NO_FILE; i++) {
        name_share(names, sizeof names, pgk_base_name(files[file].path), count, f->samples);
        file = take_most(f->of_program.v, f->of_program.n, &count);
    }
    return pgk_fail(f->err, PGK_E_MISMATCH, .file = recording, .field = "program", .found = names,
                    .expected = "one program with nine tenths of the samples",
                    .hint = "say which with -b, or choose processes with --pid or --comm");
}

/* Adds the file if it is found. */
static int try_file(struct pgk_binaries *binaries, const char *path, const uint8_t *id,
                    size_t id_size, bool with_main, bool *other, struct pgk_gen_found *found,
                    bool *is_there, struct pgk_err *err)
{
    const struct pgk_program_wanted wanted = {path, id, id_size, .with_main = with_main};
    uint32_t pos;
    PGK_TRY(pgk_binaries_look_for_program(binaries, &wanted, &pos, other, err));
    *is_there = pos != PGK_INDEX_NONE;
    found->by_build_id = id_size > 0;
    return 0;
}

static int add_file(struct pgk_binaries *binaries, const char *recording, const char *path,
                    const uint8_t *id, size_t id_size, struct pgk_gen_found *found,
                    struct pgk_err *err)
{
    char hex[PGK_BUILD_ID_TEXT];
    bool other = false, is_there;
    PGK_TRY(try_file(binaries, path, id, id_size, false, &other, found, &is_there, err));
    if (!is_there)
        return pgk_fail(err, PGK_E_MISMATCH, .file = recording, .field = "program",
                        .found = PGK_F("%s, build id %s, and %s", path,
                                       pgk_build_id_text(hex, id, id_size),
                                       other ? "another build is there now" : "it is not there"),
                        .expected = PLACES, .hint = PLACES_HINT);
    return 0;
}

/* Libraries without debug information are not named: there is no source to optimise here. */
static bool has_lines(const char *path)
{
    struct pgk_elf *elf;
    size_t size;
    if (pgk_elf_open(&elf, path, NULL))
        return false;
    const bool has = pgk_elf_section(elf, ".debug_info", &size) != NULL;
    pgk_elf_close(&elf);
    return has;
}

static uint64_t sum(const uint64_t *counts, size_t n)
{
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all += counts[i];
    return all;
}

/* Of which people may want a profile, too; takes the counts. */
static void name_libraries(struct finder *f, uint32_t program, struct pgk_gen_found *found)
{
    const uint64_t all = sum(f->in_file.v, f->in_file.n);
    uint64_t count;
    size_t n;
    const struct pgk_process_file *files = pgk_process_map_files(f->map, &n);
    f->in_file.v[program] = 0;
    for (int named = 0; named < NAMED_PROGRAMS;) {
        const uint32_t file = take_most(f->in_file.v, f->in_file.n, &count);
        if (file == NO_FILE || count < all / 100)
            return;
        if (!has_lines(files[file].path))
            continue;
        name_share(found->libraries, sizeof found->libraries, files[file].path, count, all);
        named++;
    }
}

/* The program, or, where it has less than a tenth of the samples, the file with most of those that
 * have lines. */
static uint32_t choose_file(const struct finder *f, uint32_t program, struct pgk_gen_found *found)
{
    const uint64_t all = sum(f->in_file.v, f->in_file.n);
    uint32_t most = program;
    size_t n;
    const struct pgk_process_file *files = pgk_process_map_files(f->map, &n);
    if (f->in_file.v[program] >= all / TENTH)
        return program;
    for (uint32_t i = 0; i < f->in_file.n; i++)
        if (f->in_file.v[i] > f->in_file.v[most] && has_lines(files[i].path))
            most = i;
    found->most_percent = most == program ? 0 : percent(f->in_file.v[most], all);
    return most;
}

static int find_in_perf(struct finder *f, const char *recording, struct pgk_binaries *binaries,
                        struct pgk_gen_found *found)
{
    uint64_t count = 0;
    size_t n;
    PGK_TRY(pgk_process_map_new(&f->map, f->err));
    PGK_TRY(count_samples(f, recording));
    const uint32_t file = take_most(f->of_program.v, f->of_program.n, &count);
    if (file == NO_FILE)
        return fail_no_program(f->err, recording,
                               NAMES_NONE ", or print text again and add --show-mmap-events "
                                          "to perf script");
    if (count / TENTHS < f->samples / 10)
        return fail_several(f, recording, file, count);
    const uint32_t chosen = choose_file(f, file, found);
    const struct pgk_process_file *p = &pgk_process_map_files(f->map, &n)[chosen];
    name_libraries(f, chosen, found);
    return add_file(binaries, recording, p->path, p->build_id, p->build_id_size, found, f->err);
}

/* Position of the module that the recording says its process ran; after all if it does not, or if
 * nothing of it was counted. */
static uint64_t program_of_process(const struct pgk_branches_view *view)
{
    const struct pgk_branch_process process = pgk_branches_process(view);
    uint64_t i = 0;
    while (i < view->head.modules &&
           (!process.bytes || strcmp(pgk_branches_module(view, i).path, process.text)))
        i++;
    return i;
}

static int try_module(const struct pgk_branches_view *view, uint64_t i, bool with_main,
                      struct pgk_binaries *binaries, struct pgk_gen_found *found, bool *is_there,
                      struct pgk_err *err)
{
    const struct pgk_branch_module m = pgk_branches_module(view, i);
    return try_file(binaries, m.path, m.id, m.id_size, with_main, NULL, found, is_there, err);
}

/* The program if it has a tenth of the branches, else the file with most of them that has lines, or
 * the program if none has; where the recording does not say what that is, the first file with a
 * function main. All as far as files are there. */
static int choose_module(const struct pgk_branches_view *view, uint64_t *branches,
                         struct pgk_binaries *binaries, struct pgk_gen_found *found,
                         bool *is_there, struct pgk_err *err)
{
    const uint64_t n = view->head.modules, all = sum(branches, n),
                   program = program_of_process(view);
    const bool named = pgk_branches_process(view).bytes > 0;
    uint64_t count;
    uint32_t most;
    for (uint64_t i = 0; !named && i < n && !*is_there; i++)
        PGK_TRY(try_module(view, i, true, binaries, found, is_there, err));
    if (program < n && branches[program] >= all / TENTH)
        PGK_TRY(try_module(view, program, false, binaries, found, is_there, err));
    while (!*is_there && (most = take_most(branches, n, &count)) != NO_FILE) {
        if (!has_lines(pgk_branches_module(view, most).path))
            continue;
        PGK_TRY(try_module(view, most, false, binaries, found, is_there, err));
        found->most_percent = *is_there && named && most != program ? percent(count, all) : 0;
    }
    if (!*is_there && program < n)
        PGK_TRY(try_module(view, program, false, binaries, found, is_there, err));
    return 0;
}

static int find_in_branches(const struct pgk_filemap *map, const char *recording,
                            struct pgk_binaries *binaries, struct pgk_gen_found *found,
                            struct pgk_err *err)
{
    const struct pgk_source src = {.file = recording, .format = "branch recording"};
    struct pgk_branches_view view;
    uint64_t branches[PGK_BRANCH_MODULES_MAX] = {0};
    bool is_there = false;
    PGK_TRY(pgk_branches_check(&view, map->bytes, map->size, &src, err));
    for (uint64_t i = 0; i < view.head.entries; i++) {
        const struct pgk_branch_entry e = pgk_branches_entry(&view, i);
        const uint64_t module = pgk_branches_module_of(&view, e.from);
        if (e.kind == PGK_BRANCH_TAKEN && module < view.head.modules)
            branches[module] = pgk_add_saturated(branches[module], e.count);
    }
    PGK_TRY(choose_module(&view, branches, binaries, found, &is_there, err));
    if (is_there)
        return 0;
    return pgk_fail(err, PGK_E_MISMATCH, .file = recording, .field = "program",
                    .found = "no file that is still there", .expected = PLACES,
                    .hint = PLACES_HINT);
}

static int find_in_file(const char *recording, struct pgk_binaries *binaries,
                        const struct pgk_gen_opts *opts, struct pgk_gen_found *found,
                        struct pgk_err *err)
{
    struct pgk_filemap map;
    struct finder f = {.opts = opts, .err = err};
    PGK_TRY(pgk_filemap_open(&map, recording, err));
    const bool branches = pgk_branches_sniff(map.bytes, map.size);
    int status = branches ? find_in_branches(&map, recording, binaries, found, err)
                 : pgk_perf_sniff(map.bytes, map.size)
                     ? 0
                     : fail_no_program(err, recording, NAMES_NONE);
    pgk_filemap_close(&map);
    if (!status && !branches)
        status = find_in_perf(&f, recording, binaries, found);
    pgk_process_map_close(&f.map);
    pgk_vec_free(&f.programs);
    pgk_vec_free(&f.in_file);
    pgk_vec_free(&f.of_program);
    return status;
}

int pgk_gen_find_program(const char *recording, struct pgk_binaries *binaries,
                         const struct pgk_gen_opts *opts, struct pgk_gen_found *found,
                         struct pgk_err *err)
{
    struct pgk_gen_opts taken;
    struct pgk_gen_found own = {.struct_size = sizeof own};
    char other[PATH_MAX] = "";
    bool done = false;
    PGK_TRY(PGK_OPTS_TAKE(&taken, opts, err));
    PGK_TRY(pgk_gen_find_stacks(recording, binaries, &taken, &own, &done, other, err));
    if (!done)
        PGK_TRY(find_in_file(*other ? other : recording, binaries, &taken, &own, err));
    PGK_RESULT_GIVE(found, &own);
    return 0;
}
