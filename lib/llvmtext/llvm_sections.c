/* The sections of an extensible binary as `llvm-profdata show --show-sec-info-only` of LLVM 22
 * prints them. */
#include "llvm_words.h"

#include "ext_sections.h"
#include "filemap.h"

#include <inttypes.h>

static const struct section_word {
    uint64_t type; /* 0: of every section */
    uint64_t flag; /* 0: the name of the section */
    const char *word;
    uint64_t hidden_by; /* a flag in whose presence this one is not shown */
} words[] = {
    {PGK_SEC_SUMMARY, 0, "ProfileSummarySection", 0},
    {PGK_SEC_NAMES, 0, "NameTableSection", 0},
    {PGK_SEC_SYMBOLS, 0, "ProfileSymbolListSection", 0},
    {PGK_SEC_OFFSETS, 0, "FuncOffsetTableSection", 0},
    {PGK_SEC_METADATA, 0, "FunctionMetadata", 0},
    {PGK_SEC_CONTEXTS, 0, "CSNameTableSection", 0},
    {PGK_SEC_PROFILES, 0, "LBRProfileSection", 0},
    {0, PGK_SECF_COMPRESSED, "compressed", 0},
    {0, PGK_SECF_FLAT, "flat", 0},
    {PGK_SEC_NAMES, PGK_SECF_NAMES_FIXED, "fixlenmd5", 0},
    {PGK_SEC_NAMES, PGK_SECF_NAMES_MD5, "md5", PGK_SECF_NAMES_FIXED},
    {PGK_SEC_NAMES, PGK_SECF_NAMES_UNIQ, "uniq", 0},
    {PGK_SEC_SUMMARY, PGK_SECF_SUMMARY_PARTIAL, "partial", 0},
    {PGK_SEC_SUMMARY, PGK_SECF_SUMMARY_CONTEXTS, "context", 0},
    {PGK_SEC_SUMMARY, PGK_SECF_SUMMARY_PREINLINED, "preInlined", 0},
    {PGK_SEC_SUMMARY, PGK_SECF_SUMMARY_FS, "fs-discriminator", 0},
    {PGK_SEC_OFFSETS, PGK_SECF_OFFSETS_ORDERED, "ordered", 0},
    {PGK_SEC_METADATA, PGK_SECF_METADATA_CHECKSUMS, "probe", 0},
    {PGK_SEC_METADATA, PGK_SECF_METADATA_ATTRIBUTES, "attr", 0},
};
enum { WORDS = sizeof words / sizeof *words };

static const char *section_name(uint64_t type)
{
    for (size_t i = 0; i < WORDS; i++)
        if (!words[i].flag && words[i].type == type)
            return words[i].word;
    return "UnknownSection";
}

static void put_section(const struct pgk_ext_section *s, FILE *out)
{
    const char *comma = "";
    fprintf(out, "%s - Offset: %" PRIu64 ", Size: %" PRIu64 ", Flags: {", section_name(s->type),
            s->off, s->size);
    for (size_t i = 0; i < WORDS; i++) {
        const struct section_word *w = &words[i];
        bool is_of_it = w->flag && (!w->type || w->type == s->type);
        if (!is_of_it || !(s->flags & w->flag) || s->flags & w->hidden_by)
            continue;
        fprintf(out, "%s%s", comma, w->word);
        comma = ",";
    }
    fputs("}\n", out);
}

static int print_file(const struct pgk_filemap *map, const char *path, FILE *out,
                      struct pgk_err *err)
{
    struct pgk_ext_sections s = {0};
    struct pgk_source src = {.file = path, .format = "extensible sample profile"};
    uint64_t sum = 0, header = map->size;
    int status = pgk_ext_open_any(&s, map->bytes, map->size, &src, err);
    for (size_t i = 0; i < s.list.n && !status; i++) {
        put_section(&s.list.v[i], out);
        sum += s.list.v[i].size;
        header = s.list.v[i].off < header ? s.list.v[i].off : header;
    }
    if (!status)
        fprintf(out, "Header Size: %" PRIu64 "\nTotal Sections Size: %" PRIu64
                "\nFile Size: %" PRIu64 "\n", header, sum, (uint64_t)map->size);
    pgk_ext_close(&s);
    return status;
}

int pgk_sample_print_llvm_sections(const char *path, FILE *out, struct pgk_err *err)
{
    struct pgk_filemap map;
    PGK_TRY(pgk_filemap_open(&map, path, err));
    int status = print_file(&map, path, out, err);
    pgk_filemap_close(&map);
    return status;
}
