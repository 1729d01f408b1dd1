/* Reading a heap profile for people: with names, where binaries are given. */
#include "heap_input.h"

#include <stdio.h>

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
                                                     .keep_unnamed = in->show_all};
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

int heap_input_read(struct heap_input *in, const char *path, const struct cli_common *common,
                    struct pgk_err *err)
{
    struct pgk_binaries *binaries;
    struct cli_common for_people = *common;
    int status = read_file(in, path, err);
    if (status)
        return status;
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
