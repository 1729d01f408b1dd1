/* Renames a function in a heap profile, so that clang -fmemory-profile-use finds it by the name
 * that it has now. All else is read and built again as it is: what a tool that changes profiles
 * does.
 *
 *     cc rename_function.c $(pkg-config --cflags --libs pgokit) -o rename_function
 *     ./rename_function app.memprof _Z5parsePKc _ZN2io5parseEPKc new.memprof */
#include <pgokit/pgokit.h>

#include <stdio.h>

enum { MAX_FRAMES = 1000, MAX_CALLEES = 1000, MAX_PLACES = 64 };

struct renaming {
    struct pgk_heap *to;
    const char *name;
    uint64_t old, now; /* GUIDs */
    struct pgk_err *err;
};

static size_t rename_frames(const struct renaming *r, struct pgk_heap_frame *frames, size_t n)
{
    n = n < MAX_FRAMES ? n : MAX_FRAMES;
    for (size_t i = 0; i < n; i++)
        if (frames[i].guid == r->old && !frames[i].is_address) {
            frames[i].function = r->name;
            frames[i].guid = r->now;
        }
    return n;
}

static int copy_context(const struct renaming *r, const struct pgk_heap *from, size_t context)
{
    struct pgk_heap_frame frames[MAX_FRAMES];
    struct pgk_heap_value values[PGK_MIB_FIELDS];
    struct pgk_heap_allocation a = {.struct_size = sizeof a, .frames = frames, .values = values};
    a.n_frames = rename_frames(r, frames, pgk_heap_stack(from, context, frames, MAX_FRAMES));
    for (enum pgk_mib_id id = 0; id < PGK_MIB_FIELDS; id++)
        if (id != PGK_MIB_AccessHistogram && pgk_heap_knows(from, context, id))
            values[a.n_values++] = (struct pgk_heap_value){id, pgk_heap_value(from, context, id)};
    a.histogram = pgk_heap_histogram(from, context, &a.n_histogram);
    return pgk_heap_build_context(r->to, &a, r->err);
}

/* The functions that are called from each place; call stacks do not say them all. */
static int copy_call_sites(void *ctx, const struct pgk_heap_record *record)
{
    const struct renaming *r = ctx;
    int status = 0;
    for (size_t i = 0; !status && i < record->n_call_sites; i++) {
        const struct pgk_heap_call_site *site = &record->call_sites[i];
        struct pgk_heap_frame frames[MAX_FRAMES];
        uint64_t callees[MAX_CALLEES];
        struct pgk_heap_call call = {
            .struct_size = sizeof call, .frames = frames, .callees = callees,
            .guid = record->guid == r->old ? r->now : record->guid};
        for (size_t k = 0; k < site->n_frames && k < MAX_FRAMES; k++)
            frames[k] = site->frames[k];
        call.n_frames = rename_frames(r, frames, site->n_frames);
        for (; call.n_callees < site->n_callees && call.n_callees < MAX_CALLEES; call.n_callees++)
            callees[call.n_callees] = site->callees[call.n_callees] == r->old
                                          ? r->now : site->callees[call.n_callees];
        status = pgk_heap_build_call_site(r->to, &call, r->err);
    }
    return status;
}

static int copy_data(const struct renaming *r, const struct pgk_heap *from)
{
    int status = 0;
    for (size_t i = 0; !status && i < pgk_heap_data_items(from); i++) {
        struct pgk_heap_data item;
        struct pgk_heap_data_place places[MAX_PLACES];
        pgk_heap_data_item(from, i, &item);
        item.places = places;
        item.n_places = pgk_heap_data_places(from, i, places, MAX_PLACES);
        item.n_places = item.n_places < MAX_PLACES ? item.n_places : MAX_PLACES;
        status = pgk_heap_build_data(r->to, &item, 1, r->err);
    }
    return status;
}

static int copy(struct renaming *r, const struct pgk_heap *from)
{
    int status = 0;
    for (size_t i = 0; !status && i < pgk_heap_contexts(from); i++)
        status = copy_context(r, from, i);
    if (!status)
        status = pgk_heap_records(from, copy_call_sites, r);
    return status ? status : copy_data(r, from);
}

int main(int argc, char **argv)
{
    struct pgk_err err = {0};
    struct pgk_heap *from = NULL, *to = NULL;
    struct pgk_indexed_write_opts opts = {.struct_size = sizeof opts, .full_schema = true};
    if (argc != 5) {
        fprintf(stderr, "usage: %s PROFILE OLD-NAME NEW-NAME OUTPUT\n", argv[0]);
        return 1;
    }
    int status = pgk_heap_new(&from, &err);
    if (!status)
        status = pgk_heap_read(from, argv[1], 1, &err);
    if (!status)
        status = pgk_heap_new(&to, &err);
    struct renaming r = {to, argv[3], pgk_sample_guid(argv[2]), pgk_sample_guid(argv[3]), &err};
    if (!status)
        status = copy(&r, from);
    opts.target = *pgk_indexed_target("llvm22");
    if (!status)
        status = pgk_indexed_write(to, NULL, argv[4], &opts, &err);
    if (status) {
        pgk_err_print(&err, stderr);
        fputc('\n', stderr);
    }
    pgk_heap_close(&from);
    pgk_heap_close(&to);
    return status != 0;
}
