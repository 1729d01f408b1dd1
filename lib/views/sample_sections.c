/* The sections of an extensible binary on a terminal. docs/formats/sample-binary.md */
#include "pgokit/human.h"
#include "pgokit/report.h"

#include "ext_blocks.h"
#include "filemap.h"

#include <inttypes.h>

static void print_flags(const struct pgk_ext_section *s, FILE *out)
{
    uint64_t unknown = pgk_ext_unknown_flags(s);
    const char *comma = "";
    const struct pgk_ext_flag *flag;
    for (size_t i = 0; (flag = pgk_ext_flag_at(s->type, i)); i++)
        if (s->flags & flag->bit) {
            fprintf(out, "%s%s", comma, flag->meaning);
            comma = ", ";
        }
    if (unknown)
        fprintf(out, "%sflags 0x%" PRIx64 " that pgokit does not know", comma, unknown);
    fputc('\n', out);
}

/* Of composite profiles: how many blocks of each type, of which only one is read. */
static int print_blocks(struct pgk_ext_sections *s, FILE *out, struct pgk_err *err)
{
    struct pgk_ext_blocks blocks;
    PGK_TRY(pgk_ext_count_blocks(s, &blocks, err));
    if (blocks.n)
        fprintf(out, "\n  %12s  %12s  %12s\n", "block type", "blocks", "bytes");
    for (size_t i = 0; i < blocks.n; i++)
        fprintf(out, "  %12" PRIu64 "  %12" PRIu64 "  %12" PRIu64 "  %s\n", blocks.v[i].type,
                blocks.v[i].number, blocks.v[i].bytes,
                blocks.v[i].type == PGK_BLOCK_LINES ? "samples of lines and calls"
                                                    : "a type that pgokit does not know");
    if (blocks.others)
        fprintf(out, "  %12s  %12" PRIu64 "\n", "others", blocks.others);
    return 0;
}

static int print_sections(struct pgk_ext_sections *s, const char *path, uint64_t file_size,
                          FILE *out, struct pgk_err *err)
{
    char safe[512], total[PGK_HUMAN_SIZE];
    uint64_t sum = 0;
    fprintf(out, "%s: extensible binary of sample profiles, %s\n\n",
            pgk_human_text(safe, sizeof safe, path), pgk_human_bytes(total, (double)file_size));
    fprintf(out, "  %12s  %12s  %12s  %-22s  %s\n", "offset", "bytes", "unpacked", "section",
            "flags");
    for (size_t i = 0; i < s->list.n; i++) {
        struct pgk_ext_section *section = &s->list.v[i];
        struct pgk_cursor c;
        char unpacked[24] = "";
        sum += section->size;
        if (section->flags & PGK_SECF_COMPRESSED && section->size) {
            PGK_TRY(pgk_ext_cursor(s, section, &c, err));
            snprintf(unpacked, sizeof unpacked, "%" PRIu64, section->plain_size);
        }
        fprintf(out, "  %12" PRIu64 "  %12" PRIu64 "  %12s  %-22s  ", section->off, section->size,
                unpacked, pgk_ext_section_name(section->type));
        print_flags(section, out);
    }
    fprintf(out, "\n  sections together %" PRIu64 " B, header %" PRIu64 " B\n", sum,
            file_size > sum ? file_size - sum : 0);
    return print_blocks(s, out, err);
}

static bool is_extensible(const struct pgk_filemap *map)
{
    struct pgk_cursor c;
    pgk_cur_init(&c, map->bytes, map->size, &(struct pgk_source){0});
    return pgk_cur_uleb(&c, "magic") == PGK_SAMPLE_MAGIC_EXT && !c.failed;
}

static int print_file(const struct pgk_filemap *map, const char *path, FILE *out,
                      struct pgk_err *err)
{
    struct pgk_ext_sections sections = {0};
    struct pgk_source src = {.file = path, .format = "extensible sample profile"};
    if (!is_extensible(map))
        return pgk_fail(err, PGK_E_ARG, .file = path, .offset = &(uint64_t){0}, .field = "magic",
                        .found = "another format",
                        .expected = "that of extensible binaries, which alone have sections",
                        .hint = "pgokit convert --to extbinary makes one");
    int status = pgk_ext_open_any(&sections, map->bytes, map->size, &src, err);
    if (!status)
        status = print_sections(&sections, path, map->size, out, err);
    pgk_ext_close(&sections);
    return status;
}

int pgk_sample_print_sections(const char *path, FILE *out, struct pgk_err *err)
{
    struct pgk_filemap map;
    PGK_TRY(pgk_filemap_open(&map, path, err));
    int status = print_file(&map, path, out, err);
    pgk_filemap_close(&map);
    return status;
}
