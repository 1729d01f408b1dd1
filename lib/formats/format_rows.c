/* The array of formats. */
#include "format_rows.h"

#include <string.h>

static const struct pgk_format_row *const rows[] = {
#define PGK_FORMAT(name) &pgk_format_##name,
#include "formats.def"
#undef PGK_FORMAT
};

const struct pgk_format_row *pgk_format_row_at(size_t i)
{
    return i < PGK_COUNTOF(rows) ? rows[i] : NULL;
}

const struct pgk_format *pgk_format_at(size_t i)
{
    return i < PGK_COUNTOF(rows) ? &rows[i]->format : NULL;
}

const struct pgk_format *pgk_format_find(const char *name, enum pgk_kind kind)
{
    for (size_t i = 0; i < PGK_COUNTOF(rows); i++)
        if (rows[i]->format.kind == kind && !strcmp(rows[i]->format.name, name))
            return &rows[i]->format;
    return NULL;
}

const char *pgk_kind_name(enum pgk_kind kind)
{
    static const char *const names[PGK_KINDS] = {
        [PGK_KIND_HEAP] = "heap", [PGK_KIND_SAMPLE] = "sample", [PGK_KIND_INSTR] = "instr",
        [PGK_KIND_GCOV] = "gcov", [PGK_KIND_BINARY] = "binary",
    };
    return names[kind];
}

const char *pgk_kind_plural(enum pgk_kind kind)
{
    static const char *const names[PGK_KINDS] = {
        [PGK_KIND_HEAP] = "heap profiles",
        [PGK_KIND_SAMPLE] = "sample profiles",
        [PGK_KIND_INSTR] = "instrumentation profiles",
        [PGK_KIND_GCOV] = "counters of gcc",
        [PGK_KIND_BINARY] = "binaries",
    };
    return names[kind];
}

bool pgk_file_info_heap_target(const struct pgk_file_info *info, struct pgk_heap_target *target)
{
    if (!info->row->write_heap)
        return false;
    const bool has_heap = info->facts[PGK_FACT_HEAP];
    *target = (struct pgk_heap_target){
        .form = info->row->form,
        .version = has_heap ? (uint32_t)info->facts[PGK_FACT_MEMPROF_VERSION] : info->version,
        .index_version = has_heap ? info->version : 0,
        .full_schema = info->facts[PGK_FACT_FULL_SCHEMA],
    };
    return true;
}
