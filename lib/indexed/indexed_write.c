/* Writer of the indexed container. docs/formats/indexed-heap.md section 1. */
#include "indexed.h"

#include <inttypes.h>
#include <string.h>

static const struct pgk_indexed_target targets[] = {
    {"any", "LLVM 19 to 22", 12, 3, 1},
    {"llvm15", "LLVM 15 to 19", 8, 0, 1},
    {"llvm16", "LLVM 16 to 19", 9, 0, 1},
    {"llvm17", "LLVM 16 to 19", 9, 0, 1},
    {"llvm18", "LLVM 16 to 19", 9, 0, 1},
    {"llvm19", "LLVM 19 to 22", 12, 3, 1},
    {"llvm20", "LLVM 19 to 22", 12, 3, 1},
    {"llvm21", "LLVM 19 to 22", 12, 3, 1},
    {"llvm22", "LLVM 22", 13, 4, 2},
};

const struct pgk_indexed_target *pgk_indexed_target_at(size_t i)
{
    return i < PGK_COUNTOF(targets) ? &targets[i] : NULL;
}

const struct pgk_indexed_target *pgk_indexed_target(const char *name)
{
    for (size_t i = 0; i < PGK_COUNTOF(targets); i++)
        if (!strcmp(targets[i].name, name))
            return &targets[i];
    return NULL;
}

static int check_target(const struct pgk_indexed_target *t, const char *path, struct pgk_err *err)
{
    if (t->index_version < PGK_INDEXED_FIRST || t->index_version > PGK_INDEXED_LAST)
        return pgk_fail(err, PGK_E_ARG, .file = path, .format = "indexed profile",
                        .field = "index version", .found = PGK_F("%u", t->index_version),
                        .expected = PGK_F("%d to %d", PGK_INDEXED_FIRST, PGK_INDEXED_LAST),
                        .hint = "choose another --index-version, or a release with --to");
    if (t->memprof_version > PGK_MEMPROF_LAST)
        return pgk_fail(err, PGK_E_ARG, .file = path, .format = "indexed profile",
                        .field = "MemProf version", .found = PGK_F("%u", t->memprof_version),
                        .expected = PGK_F("%d to %d", PGK_MEMPROF_FIRST, PGK_MEMPROF_LAST),
                        .hint = "choose another --memprof-version, or a release with --to");
    if (t->memprof_version < 2 && t->index_version > 12)
        return pgk_fail(err, PGK_E_ARG, .file = path, .format = "indexed profile",
                        .field = "MemProf version",
                        .found = PGK_F("%u in index version %u", t->memprof_version,
                                       t->index_version),
                        .expected = "index version 8 to 12 for MemProf V0 and V1",
                        .hint = "no tool reads such a file; choose another --index-version");
    return 0;
}

/* The profile summary of the counters: no functions, so all zero. */
static void write_empty_summary(struct pgk_sink *out)
{
    static const uint32_t cutoffs[] = {
#define PGK_SUMMARY_CUTOFF(ppm) ppm,
#include "indexed.def"
#undef PGK_SUMMARY_CUTOFF
    };
    enum { SUMMARY_FIELDS = 6 };
    pgk_sink_u64(out, SUMMARY_FIELDS);
    pgk_sink_u64(out, PGK_COUNTOF(cutoffs));
    pgk_sink_zeros(out, SUMMARY_FIELDS * 8);
    for (size_t i = 0; i < PGK_COUNTOF(cutoffs); i++) {
        pgk_sink_u64(out, cutoffs[i]);
        pgk_sink_zeros(out, 2 * 8);
    }
}

/* Writes zeros for the header; header offsets are patched in when all is known. */
static size_t header_size(uint32_t version)
{
    size_t n = 0;
#define PGK_INDEXED_HEADER(name, first, meaning) n += version >= (first) ? 8 : 0;
#include "indexed.def"
#undef PGK_INDEXED_HEADER
    return n;
}

static void patch_header(struct pgk_sink *out, const struct pgk_indexed_header *h)
{
    uint64_t off = 0;
#define PGK_INDEXED_HEADER(name, first, meaning)  \
    if (h->index_version >= (first)) {            \
        pgk_sink_patch_u64(out, off, h->name);    \
        off += 8;                                 \
    }
#include "indexed.def"
#undef PGK_INDEXED_HEADER
}

static int write_file(const struct pgk_heap *heap, struct pgk_sink *out,
                      const struct pgk_indexed_write_opts *opts, struct pgk_err *err)
{
    struct pgk_indexed_header h = {
        .index_version = opts->target.index_version,
        .magic = PGK_INDEXED_MAGIC,
        .version = opts->target.index_version | UINT64_C(1) << PGK_INDEXED_MEMPROF,
    };
    pgk_sink_zeros(out, header_size(h.index_version));
    write_empty_summary(out);
    h.function_table_off = pgk_sink_tell(out);
    pgk_sink_u64(out, 1); /* an empty hash table: one bucket, no items */
    pgk_sink_zeros(out, 2 * 8);
    h.memprof_off = pgk_sink_tell(out);
    PGK_TRY(pgk_memprof_write(heap, out, opts, err));
    if (h.index_version >= 9) {
        h.binary_ids_off = pgk_sink_tell(out);
        pgk_sink_u64(out, 0);
    }
    if (h.index_version >= 12) {
        h.vtable_names_off = pgk_sink_tell(out);
        pgk_sink_u64(out, 0);
    }
    patch_header(out, &h);
    return 0;
}

int pgk_indexed_write(const struct pgk_heap *heap, const char *path,
                      const struct pgk_indexed_write_opts *opts, struct pgk_err *err)
{
    PGK_TRY(check_target(&opts->target, path, err));
    PGK_TRY(pgk_heap_check_writable(heap, path, "indexed profile", err));
    struct pgk_sink *out;
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = write_file(heap, out, opts, err);
    if (status) {
        pgk_sink_drop(&out);
        return status;
    }
    return pgk_sink_commit(&out, err);
}
