/* Writer of the indexed container. docs/formats/indexed-heap.md section 1. */
#include "indexed.h"
#include "opts.h"

#include <inttypes.h>
#include <string.h>

static const struct pgk_indexed_target targets[] = {
    {"any", "LLVM 19 and later", PGK_INDEX_USUAL, 3, 1},
#define PGK_LLVM_RELEASE(number, index, memprof, frame_ids, readers) \
    {"llvm" #number, readers, index, memprof, frame_ids},
#include "llvm_releases.def"
#undef PGK_LLVM_RELEASE
};

const struct pgk_indexed_target *pgk_indexed_target(const char *name)
{
    for (size_t i = 0; i < PGK_COUNTOF(targets); i++)
        if (!strcmp(targets[i].name, name))
            return &targets[i];
    return NULL;
}

uint32_t pgk_index_since(uint32_t version)
{
    switch (version) {
#define PGK_INDEX_VERSION(number, since, hashes) \
    case number:                                 \
        return since;
#include "indexed.def"
#undef PGK_INDEX_VERSION
    }
    return 0;
}

/* The newest index version that readers of heap data of a version take. */
static uint32_t last_index_for(const struct pgk_memprof_version *v)
{
    uint32_t last = PGK_INDEX_NOW;
    while (pgk_index_since(last) > v->until)
        last--;
    return last;
}

static int check_target(const struct pgk_indexed_target *t, bool heap, const char *path,
                        struct pgk_err *err)
{
    uint32_t first = heap ? PGK_INDEX_FIRST_HEAP : PGK_INDEX_FIRST;
    if (t->index_version < first || !pgk_index_since(t->index_version))
        return pgk_fail(err, PGK_E_ARG, .file = path, .format = "indexed profile",
                        .field = "index version", .found = PGK_F("%u", t->index_version),
                        .expected = PGK_F("%u to %d%s", first, PGK_INDEX_NOW,
                                          heap ? " for heap data" : ""),
                        .hint = "choose another --index-version, or a release with --to");
    if (!heap)
        return 0;
    const struct pgk_memprof_version *v = pgk_memprof_version(t->memprof_version);
    if (!v)
        return pgk_fail(err, PGK_E_ARG, .file = path, .format = "indexed profile",
                        .field = "MemProf version", .found = PGK_F("%u", t->memprof_version),
                        .expected = PGK_F("0 to %d", PGK_MEMPROF_NOW),
                        .hint = "choose another --memprof-version, or a release with --to");
    if (pgk_index_since(t->index_version) > v->until)
        return pgk_fail(err, PGK_E_ARG, .file = path, .format = "indexed profile",
                        .field = "MemProf version",
                        .found = PGK_F("%u in index version %u", t->memprof_version,
                                       t->index_version),
                        .expected = PGK_F("index version %d to %u for MemProf V%u",
                                          PGK_INDEX_FIRST_HEAP, last_index_for(v),
                                          t->memprof_version),
                        .hint = "no tool reads such a file; choose another --index-version");
    return 0;
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

static int write_file(const struct pgk_heap *heap, struct pgk_heap *taken,
                      const struct pgk_instr *instr, struct pgk_sink *out,
                      const struct pgk_indexed_write_opts *opts, struct pgk_err *err)
{
    uint32_t version = opts->target.index_version;
    struct pgk_indexed_header h = {.index_version = version, .magic = PGK_INDEXED_MAGIC};
    h.version = version | pgk_instr_variant_bits(instr, version) |
                (uint64_t)(heap != NULL) << PGK_INDEXED_MEMPROF;
    pgk_sink_zeros(out, header_size(version));
    PGK_TRY(pgk_instr_table_write(instr, out, version, &h.function_table_off, err));
    if (heap) {
        h.memprof_off = pgk_sink_off(out);
        PGK_TRY(pgk_memprof_write(heap, taken, out, opts, err));
    }
    PGK_TRY(pgk_instr_rest_write(instr, out, &h, err));
    patch_header(out, &h);
    return 0;
}

int pgk_indexed_write_instr(const struct pgk_instr *p, uint32_t index_version, struct pgk_sink *out,
                            struct pgk_err *err)
{
    const struct pgk_indexed_write_opts opts = {.target.index_version = index_version};
    return write_file(NULL, NULL, p, out, &opts, err);
}

static int write_all(const struct pgk_heap *heap, const struct pgk_instr *instr, const char *path,
                     const struct pgk_indexed_write_opts *opts, struct pgk_err *err)
{
    PGK_TRY(check_target(&opts->target, heap != NULL, path, err));
    if (heap)
        PGK_TRY(pgk_heap_check_writable(heap, path, "indexed profile", err));
    if (instr || !heap)
        PGK_TRY(pgk_instr_check_writable(instr, path, "indexed profile", err));
    struct pgk_sink *out;
    PGK_TRY(pgk_sink_open(&out, path, err));
    int status = write_file(heap, opts->consumed, instr, out, opts, err);
    if (status) {
        pgk_sink_drop(&out);
        return status;
    }
    return pgk_sink_commit(&out, err);
}

int pgk_indexed_write(const struct pgk_heap *heap, const struct pgk_instr *instr,
                      const char *path, const struct pgk_indexed_write_opts *given,
                      struct pgk_err *err)
{
    struct pgk_indexed_write_opts opts;
    PGK_TRY(PGK_OPTS_TAKE(&opts, given, err));
    if (!opts.target.index_version)
        opts.target = targets[0];
    if (opts.consumed && opts.consumed != heap)
        return pgk_fail(err, PGK_E_ARG, .file = path, .format = "indexed profile",
                        .field = "consumed", .found = "another profile",
                        .expected = "the heap profile that is written");
    return write_all(heap, instr, path, &opts, err);
}
