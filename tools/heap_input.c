/* Reading a heap profile for people: with names, where binaries are given. */
#include "heap_input.h"
#include "pgokit/human.h"

#include <stdio.h>
#include <string.h>

static bool has_names(const struct pgk_heap *heap)
{
    struct pgk_heap_frame frames[64];
    for (size_t i = 0; i < pgk_heap_contexts(heap); i++) {
        size_t n = pgk_heap_stack(heap, i, frames, sizeof frames / sizeof *frames);
        if (n > sizeof frames / sizeof *frames)
            n = sizeof frames / sizeof *frames;
        while (n--)
            if (!frames[n].is_address && *frames[n].function)
                return true;
    }
    return false;
}

/* Neither raw nor indexed profiles hold names. */
void heap_input_note_no_names(const struct pgk_heap *heap)
{
    if (pgk_heap_contexts(heap) && !has_names(heap))
        fputs("pgokit: note: this profile holds no names; give the binary with -b to see them\n",
              stderr);
}

/* Gives names to what the profile knows by address or number only. */
static int name_frames(struct heap_input *in, struct pgk_binaries *binaries, struct pgk_err *err)
{
    int status;
    if (!pgk_heap_needs_binaries(in->heap)) {
        status = pgk_heap_name_functions(in->heap, binaries, err);
    } else {
        in->symbolised.struct_size = sizeof in->symbolised;
        const struct pgk_heap_symbolise_opts opts = {.struct_size = sizeof opts,
                                                     .keep_unnamed = in->show_all,
                                                     .spare_binaries = in->of_two};
        status = pgk_heap_symbolise(&in->heap, binaries, &opts, &in->symbolised, err);
    }
    return status ? status : pgk_heap_find_types(in->heap, binaries, true, err);
}

static int read_file(struct heap_input *in, const char *path, struct pgk_err *err)
{
    struct pgk_file *file;
    pgk_heap_close(&in->heap);
    int status = pgk_heap_new(&in->heap, err);
    if (!status)
        status = cli_open(&file, path, err);
    if (status)
        return status;
    in->info = pgk_file_info(file);
    return pgk_heap_read_file(in->heap, file, 1, err);
}

int heap_input_read_addresses(struct heap_input *in, const char *path, struct pgk_err *err)
{
    const int status = read_file(in, path, err);
    return status ? status : pgk_heap_find_types(in->heap, NULL, true, err);
}

/* Gives names to the profile, which was read from `path`. */
static int name_heap(struct heap_input *in, const char *path, const struct cli_common *common,
                     struct pgk_err *err)
{
    struct pgk_binaries *binaries;
    struct cli_common for_people = *common;
    int status;
    /* A program that was built for profiling can be rebuilt with -g; others cannot. */
    for_people.symbols_suffice = pgk_file_info_fact(in->info, PGK_FACT_LIBRARY_ACCESSES) ||
                                 pgk_heap_lacks_accesses(in->heap);
    for_people.use_paths = in->show_all;
    status = cli_find_binaries(&for_people, in->heap, &binaries, err);
    if (status)
        return status;
    if (!binaries)
        return pgk_heap_find_types(in->heap, NULL, true, err);
    status = name_frames(in, binaries, err);
    pgk_binaries_close(&binaries);
    if (status != PGK_E_EMPTY || !for_people.symbols_suffice)
        return status;
    /* Stripped to the last: addresses are better than nothing. */
    cli_note("the given binaries name none of the addresses; debug symbols may be in a package of "
             "their own, and --sysroot / finds those of libraries");
    *err = (struct pgk_err){0};
    in->symbolised = (struct pgk_heap_symbolised){0};
    return read_file(in, path, err);
}

int heap_input_read(struct heap_input *in, const char *path, const struct cli_common *common,
                    struct pgk_err *err)
{
    const int status = read_file(in, path, err);
    return status ? status : name_heap(in, path, common, err);
}

/* Of a profile without addresses it cannot be known which files it needs. */
static void warn_not_needed(const struct pgk_heap *a, const struct pgk_heap *b,
                            const struct cli_list *given)
{
    if (!pgk_heap_needs_binaries(a) || !pgk_heap_needs_binaries(b))
        return;
    for (size_t i = 0; i < given->n; i++) {
        struct pgk_binaries *one = NULL;
        char path[256];
        if (!pgk_binaries_new(&one, NULL, NULL) && !pgk_binaries_add(one, given->v[i], NULL) &&
            !pgk_heap_was_loaded(a, one, 0) && !pgk_heap_was_loaded(b, one, 0))
            fprintf(stderr,
                    "pgokit: warning: %s was not loaded in any run of these profiles (no module "
                    "has its build id), so it is not used\n",
                    pgk_human_text(path, sizeof path, given->v[i]));
        pgk_binaries_close(&one);
    }
}

enum { LACKS_NOTHING, LACKS_SOME_PROGRAM, LACKS_MODULE };

/* Whether the file of the program was not found; `u` says which it is if that is known. */
static int lacks_program(const struct pgk_heap *heap, struct pgk_heap_unnamed *u)
{
    struct pgk_heap_recording of = {.struct_size = sizeof of, .program = ""};
    pgk_heap_recording(heap, &of);
    for (size_t i = 0; pgk_heap_unnamed_at(heap, i, u); i++)
        if (*of.program && !strcmp(u->path, of.program) && !u->file_found)
            return LACKS_MODULE;
    return pgk_heap_needs_binaries(heap) && !has_names(heap) ? LACKS_SOME_PROGRAM : LACKS_NOTHING;
}

static bool is_same_build(const struct pgk_heap_unnamed *a, const struct pgk_heap_unnamed *b)
{
    return a->build_id_size == b->build_id_size &&
           !memcmp(a->build_id, b->build_id, a->build_id_size);
}

/* What is one context in both has two stacks then: of names, and of addresses. Where neither has
 * names, both are of addresses, which are equal if it is one program. */
static void warn_no_program(struct heap_input *const in[2], const char *const paths[2])
{
    struct pgk_heap_unnamed u[] = {{.struct_size = sizeof *u}, {.struct_size = sizeof *u}};
    char path[256], program[400];
    const int lacks[] = {lacks_program(in[0]->heap, &u[0]), lacks_program(in[1]->heap, &u[1])};
    if (lacks[0] && lacks[1] &&
        (lacks[0] != LACKS_MODULE || lacks[1] != LACKS_MODULE ||
         is_same_build(&u[0], &u[1])))
        return;
    for (int i = 0; i < 2; i++)
        if (lacks[i])
            fprintf(stderr,
                    "pgokit: warning: %s: its program%s%s was not found, so its functions have no "
                    "names, and its contexts look new or gone; with -b, give the file that was "
                    "run\n",
                    pgk_human_text(path, sizeof path, paths[i]),
                    lacks[i] == LACKS_MODULE ? " " : "",
                    lacks[i] == LACKS_MODULE
                        ? cli_module_text(program, sizeof program, &u[i]) : "");
}

int heap_input_read_two(struct heap_input *const in[2], const char *const paths[2],
                        const struct cli_common *all, const struct cli_list *given,
                        struct pgk_err *err)
{
    int status = 0;
    for (int i = 0; i < 2 && !status; i++) {
        in[i]->of_two = true;
        status = read_file(in[i], paths[i], err);
    }
    if (!status)
        warn_not_needed(in[0]->heap, in[1]->heap, given);
    for (int i = 0; i < 2 && !status; i++)
        status = name_heap(in[i], paths[i], all, err);
    if (!status)
        warn_no_program(in, paths);
    return status;
}
