/* Reading a recording of any form. */
#include "perf_input.h"

#include "mem.h"
#include "perf_data.h"
#include "perf_text.h"
#include "stack_profile.h"

#include <unistd.h>

struct pgk_perf_input {
    struct pgk_filemap map;
    struct pgk_source src;
    char *path;
    struct pgk_perf_data *data;        /* NULL: of another form */
    const struct pgk_stack_form *form; /* of another profiler; NULL: a text */
    struct pgk_perf_info text_info;
};

static bool is_perf_data(const uint8_t *bytes, size_t size)
{
    return size >= 8 && (!memcmp(bytes, "PERFILE2", 8) || !memcmp(bytes, "2ELIFREP", 8));
}

bool pgk_perf_sniff(const uint8_t *bytes, size_t size)
{
    return is_perf_data(bytes, size) || pgk_stacks_in_form(bytes, size) ||
           pgk_perf_text_sniff(bytes, size);
}

/* Only what is perf.data can have a rest. */
static int open_mapped(struct pgk_perf_input *input, int fd, struct pgk_err *err)
{
    const uint8_t *bytes = input->map.bytes;
    size_t size = input->map.size;
    if (is_perf_data(bytes, size)) {
        input->src.format = "perf.data";
        return pgk_perf_data_open_stream(&input->data, &input->map, fd, &input->src, err);
    }
    if ((input->form = pgk_stacks_in_form(bytes, size))) {
        input->src.format = input->form->name;
        input->text_info = (struct pgk_perf_info){.form = input->form->name, .cpu = ""};
        return 0;
    }
    input->src.format = "text of perf";
    if (!pgk_perf_text_sniff(bytes, size))
        return pgk_fail(err, PGK_E_FORMAT, .file = input->path, .offset = &(uint64_t){0},
                        .field = "start of the file",
                        .found = size ? "no event of perf" : "an empty file",
                        .expected = "perf.data, text of perf script or perf report -D, a CPU "
                                    "profile of pprof or OTLP, or stacks with addresses",
                        .hint = "perf script -F ip,brstack --show-mmap-events prints such text");
    input->text_info = (struct pgk_perf_info){.form = "text of perf", .cpu = "", .bytes = size};
    return 0;
}

int pgk_perf_input_open_map(struct pgk_perf_input **into, struct pgk_filemap *map,
                            const char *path, struct pgk_err *err)
{
    return pgk_perf_input_open_stream(into, map, -1, path, err);
}

int pgk_perf_input_open_stream(struct pgk_perf_input **into, struct pgk_filemap *map, int fd,
                               const char *path, struct pgk_err *err)
{
    struct pgk_perf_input *input = pgk_mem_zalloc(1, sizeof *input);
    if (!input || !(input->path = pgk_mem_strdup(path))) {
        pgk_mem_free(input);
        pgk_filemap_close(map);
        if (fd >= 0)
            close(fd);
        return pgk_fail_nomem(err);
    }
    input->src.file = input->path;
    input->map = *map;
    *map = (struct pgk_filemap){0};
    int status = open_mapped(input, fd, err);
    if (status)
        pgk_perf_input_close(&input);
    else
        *into = input;
    return status;
}

int pgk_perf_input_open(struct pgk_perf_input **input, const char *path, struct pgk_err *err)
{
    struct pgk_filemap map;
    PGK_TRY(pgk_filemap_open(&map, path, err));
    return pgk_perf_input_open_map(input, &map, path, err);
}

int pgk_perf_input_read(struct pgk_perf_input *input, const struct pgk_perf_handler *handler,
                        struct pgk_err *err)
{
    if (input->form)
        return pgk_stacks_in_read(input->form, &input->map, &input->src, handler, &input->text_info,
                              err);
    return input->data ? pgk_perf_data_read(input->data, handler, err)
                       : pgk_perf_text_read(&input->map, &input->src, handler, &input->text_info,
                                            err);
}

const struct pgk_perf_info *pgk_perf_input_info(const struct pgk_perf_input *input)
{
    return input->data ? pgk_perf_data_info(input->data) : &input->text_info;
}

bool pgk_perf_input_is_text(const struct pgk_perf_input *input)
{
    return !input->data && !input->form;
}

bool pgk_perf_input_is_stacks(const struct pgk_perf_input *input)
{
    return input->form;
}

void pgk_perf_input_close(struct pgk_perf_input **input)
{
    struct pgk_perf_input *in = *input;
    if (!in)
        return;
    pgk_perf_data_close(&in->data);
    pgk_filemap_close(&in->map);
    pgk_mem_free(in->path);
    pgk_mem_free(in);
    *input = NULL;
}
