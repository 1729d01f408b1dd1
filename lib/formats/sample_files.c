/* The rows of sample profiles in the table of formats, and reading many files at once. */
#include "sample_files.h"

#include "sample_binary.h"
#include "sample_format.h"
#include "sample_partial.h"
#include "sample_text.h"
#include "shares.h"

static bool has_magic(const uint8_t *bytes, size_t size, uint64_t magic)
{
    uint8_t uleb[PGK_SAMPLE_MAGIC_BYTES];
    for (size_t i = 0; i < sizeof uleb; i++, magic >>= 7)
        uleb[i] = (uint8_t)(magic & 0x7f) | (i + 1 < sizeof uleb ? 0x80 : 0);
    return size >= sizeof uleb && !memcmp(bytes, uleb, sizeof uleb);
}

bool pgk_sniff_sample_ext(const uint8_t *bytes, size_t size)
{
    return has_magic(bytes, size, PGK_SAMPLE_MAGIC_EXT);
}

bool pgk_sniff_sample_binary(const uint8_t *bytes, size_t size)
{
    return has_magic(bytes, size, PGK_SAMPLE_MAGIC_BINARY);
}

bool pgk_sniff_sample_compact(const uint8_t *bytes, size_t size)
{
    return has_magic(bytes, size, PGK_SAMPLE_MAGIC_COMPACT);
}

/* The version is looked at, too, because four letters are no strong magic. */
bool pgk_sniff_sample_gcc(const uint8_t *bytes, size_t size)
{
    static const char *const starts[] = {"adcg*704", "adcg\1\0\0\0", "adcg\2\0\0\0"};
    for (size_t i = 0; i < PGK_COUNTOF(starts); i++)
        if (size >= 8 && !memcmp(bytes, starts[i], 8))
            return true;
    return false;
}

bool pgk_sniff_sample_text(const uint8_t *bytes, size_t size)
{
    return pgk_sample_text_sniff(bytes, size);
}

static void tell_of_ext(struct pgk_file_info *info, const struct pgk_sample_ext_info *ext)
{
    info->version = PGK_SAMPLE_VERSION;
    info->compressed = ext->compressed;
    info->guid_names = ext->md5;
    info->split_layout = ext->split_layout;
    info->has_vtables = ext->has_vtables;
    info->has_summary = ext->has_summary;
    info->summary = ext->summary;
}

int pgk_read_sample_ext(struct pgk_sample *profile, const struct pgk_filemap *map,
                        const struct pgk_source *src, uint64_t weight, struct pgk_file_info *info,
                        struct pgk_err *err)
{
    struct pgk_sample_ext_info ext;
    PGK_TRY(pgk_sample_ext_read(profile, map->bytes, map->size, src, weight, &ext, err));
    tell_of_ext(info, &ext);
    return 0;
}

int pgk_read_sample_binary(struct pgk_sample *profile, const struct pgk_filemap *map,
                           const struct pgk_source *src, uint64_t weight,
                           struct pgk_file_info *info, struct pgk_err *err)
{
    PGK_TRY(pgk_sample_raw_read(profile, map->bytes, map->size, src, weight, err));
    info->version = PGK_SAMPLE_VERSION;
    return 0;
}

int pgk_read_sample_compact(struct pgk_sample *profile, const struct pgk_filemap *map,
                            const struct pgk_source *src, uint64_t weight,
                            struct pgk_file_info *info, struct pgk_err *err)
{
    PGK_TRY(pgk_sample_compact_read(profile, map->bytes, map->size, src, weight, err));
    info->version = PGK_SAMPLE_VERSION;
    info->guid_names = true;
    return 0;
}

int pgk_read_sample_gcc(struct pgk_sample *profile, const struct pgk_filemap *map,
                        const struct pgk_source *src, uint64_t weight, struct pgk_file_info *info,
                        struct pgk_err *err)
{
    PGK_TRY(pgk_sample_gcc_read(profile, map->bytes, map->size, src, weight, err));
    info->version = pgk_sample_gcc_version(map->bytes, map->size);
    return 0;
}

int pgk_read_sample_text(struct pgk_sample *profile, const struct pgk_filemap *map,
                         const struct pgk_source *src, uint64_t weight, struct pgk_file_info *info,
                         struct pgk_err *err)
{
    const char *text = (const char *)map->bytes;
    info->partial = pgk_sample_is_partial(text, text + map->size);
    return pgk_sample_text_read(profile, map->bytes, map->size, src, weight, err);
}

int pgk_sample_read_one(struct pgk_sample *profile, const struct pgk_filemap *map,
                        const struct pgk_source *src, const char *function,
                        struct pgk_file_info *info, struct pgk_err *err)
{
    struct pgk_sample_ext_info ext;
    PGK_TRY(pgk_sample_ext_read_function(profile, map->bytes, map->size, src, function, &ext,
                                         err));
    tell_of_ext(info, &ext);
    return 0;
}

/* docs/formats/sample-binary.md "Who reads what" */
const char *pgk_sample_file_readers(const struct pgk_file_info *info)
{
    if (info->partial)
        return "pgokit";
    if (info->has_vtables)
        return "LLVM 22";
    const char *name = info->format->name;
    if (strstr(name, "compact"))
        return "LLVM 13 to 16";
    if (!strstr(name, "GCC"))
        return "LLVM 14 to 22";
    static const char *const versions[] = {"LLVM 14 to 22", "GCC before 12", "GCC 12"};
    return versions[info->version];
}

/* ---- many files ---- */

struct sample_files {
    struct pgk_sample *profiles[PGK_SHARES_MAX];
    const struct pgk_input *inputs;
};

static int read_one(void *ctx, size_t share, size_t input, struct pgk_err *err)
{
    struct sample_files *f = ctx;
    return pgk_sample_read(f->profiles[share], f->inputs[input].path, f->inputs[input].weight, NULL,
                           err);
}

static int merge_share(void *ctx, size_t share, struct pgk_err *err)
{
    struct sample_files *f = ctx;
    PGK_TRY(pgk_sample_merge(f->profiles[0], f->profiles[share], 1, err));
    pgk_sample_close(&f->profiles[share]);
    return 0;
}

static int read_shares(struct sample_files *f, size_t n, unsigned threads, struct pgk_err *err)
{
    enum { LEAST = 32 };
    struct pgk_shares s = {
        .read = read_one, .merge = merge_share, .ctx = f, .inputs = n, .least = LEAST};
    pgk_shares_plan(&s, threads);
    for (size_t i = 1; i < s.n; i++)
        PGK_TRY(pgk_sample_new(&f->profiles[i], err));
    return pgk_shares_run(&s, err);
}

int pgk_sample_read_files(struct pgk_sample *profile, const struct pgk_input *inputs, size_t n,
                          unsigned threads, struct pgk_err *err)
{
    struct sample_files f = {.inputs = inputs, .profiles = {profile}};
    int status = read_shares(&f, n, threads, err);
    for (size_t i = 1; i < PGK_SHARES_MAX; i++)
        pgk_sample_close(&f.profiles[i]);
    return status;
}
