/* What is known of a file that was read, and the words for it. */
#include "file_info.h"

#include "format_row.h"

#include "pgokit/format.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

_Static_assert(PGK_LLVM_NOW == PGK_LLVM_NEWEST, "format.h and llvm_releases.def name one release");

void pgk_info_add(struct pgk_info_text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text->buf + text->n, text->size - text->n, fmt, args);
    va_end(args);
    if (n > 0)
        text->n += (size_t)n < text->size - text->n ? (size_t)n : text->size - text->n - 1;
}

void pgk_info_add_releases(struct pgk_info_text *text, uint32_t since, uint32_t until)
{
    if (since > until)
        pgk_info_add(text, "no release of LLVM");
    else if (since == until)
        pgk_info_add(text, "LLVM %u", since);
    else
        pgk_info_add(text, "LLVM %u %s %u", since, until - since == 1 ? "and" : "to", until);
}

bool pgk_starts_with_u64(const uint8_t *bytes, size_t size, uint64_t magic)
{
    return size >= sizeof magic && !memcmp(bytes, &magic, sizeof magic);
}

const struct pgk_format *pgk_file_info_format(const struct pgk_file_info *info)
{
    return &info->row->format;
}

uint32_t pgk_file_info_version(const struct pgk_file_info *info)
{
    return info->version;
}

uint64_t pgk_file_info_size_bytes(const struct pgk_file_info *info)
{
    return info->size_bytes;
}

uint64_t pgk_file_info_fact(const struct pgk_file_info *info, enum pgk_file_fact fact)
{
    return fact < PGK_FACTS ? info->facts[fact] : 0;
}

const struct pgk_sample_summary *pgk_file_info_summary(const struct pgk_file_info *info)
{
    return info->has_summary ? &info->summary : NULL;
}

const char *pgk_file_info_text(const struct pgk_file_info *info, char *buf, size_t size)
{
    struct pgk_info_text text = {buf, size, 0};
    pgk_info_add(&text, "%s", info->row->format.name);
    if (info->version)
        pgk_info_add(&text, ", version %u", info->version);
    if (info->row->describe)
        info->row->describe(info, &text);
    return buf;
}

const char *pgk_file_info_readers(const struct pgk_file_info *info, char *buf, size_t size)
{
    struct pgk_info_text text = {buf, size, 0};
    info->row->readers(info, &text);
    return buf;
}
