/* Sample profiles in LLVM's binary encodings. docs/formats/sample-binary.md */
#ifndef PGK_SAMPLE_BINARY_H
#define PGK_SAMPLE_BINARY_H

#include "cursor.h"
#include "sample_model.h"
#include "sink.h"

/* Does the file begin with the magic number, as a ULEB128? */
bool pgk_sample_has_magic(const uint8_t *bytes, size_t size, uint64_t magic);

/* Facts about an extensible binary that its reader saw besides the profile. */
struct pgk_sample_ext_info {
    uint32_t version;
    bool compressed, md5, split_layout, has_vtables, contexts, indexed, symbol_guids;
    bool has_summary;
    struct pgk_sample_summary summary; /* as stored */
};

/* Each adds the profile to `p`, each count times `weight`; nothing points into `bytes`
 * afterwards. On failure `p` is only good for closing. */
PGK_MUST_USE int pgk_sample_ext_read(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                                     const struct pgk_source *src, uint64_t weight,
                                     struct pgk_sample_ext_info *info, struct pgk_err *err);
/* Adds only the function of that name, in all contexts, found by the function offset table; the
 * rest of the profiles is not looked at. PGK_E_EMPTY if there is none, PGK_E_ARG if the file has
 * to be read as a whole: it has no such table, or the name is a context in brackets. */
PGK_MUST_USE int pgk_sample_ext_read_function(struct pgk_sample *p, const uint8_t *bytes,
                                              size_t size, const struct pgk_source *src,
                                              const char *name, struct pgk_sample_ext_info *info,
                                              struct pgk_err *err);
/* Adds the records of functions, by their rising GUIDs, and of those that they are inlined into,
 * without checksums and attributes. PGK_E_ARG if the file has to be read as a whole. */
PGK_MUST_USE int pgk_sample_ext_read_functions(struct pgk_sample *p, const uint8_t *bytes,
                                               size_t size, const struct pgk_source *src,
                                               const uint64_t *functions, size_t n,
                                               struct pgk_sample_ext_info *info,
                                               struct pgk_err *err);
PGK_MUST_USE int pgk_sample_raw_read(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                                     const struct pgk_source *src, uint64_t weight,
                                     struct pgk_err *err);
/* The compact binary of LLVM 13 to 16. */
PGK_MUST_USE int pgk_sample_compact_read(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                                         const struct pgk_source *src, uint64_t weight,
                                         struct pgk_err *err);
struct pgk_sample_gcc_info; /* sample_gcc.h; may be NULL */
PGK_MUST_USE int pgk_sample_gcc_read(struct pgk_sample *p, const uint8_t *bytes, size_t size,
                                     const struct pgk_source *src, uint64_t weight,
                                     struct pgk_sample_gcc_info *info, struct pgk_err *err);

/* Each writes the first `n` tops by heat. */
PGK_MUST_USE int pgk_sample_ext_write(const struct pgk_sample *p, size_t n,
                                      const struct pgk_sample_write_opts *opts,
                                      struct pgk_sink *out, struct pgk_err *err);
PGK_MUST_USE int pgk_sample_raw_write(const struct pgk_sample *p, size_t n, struct pgk_sink *out,
                                      struct pgk_err *err);
struct pgk_gcc_compiler; /* sample_gcc.h */
/* As it is; pgk_gcc_adapt makes it fit for the compiler. */
PGK_MUST_USE int pgk_sample_gcc_write(const struct pgk_sample *p, size_t n,
                                      const struct pgk_gcc_compiler *compiler,
                                      struct pgk_sink *out, struct pgk_err *err);

#endif
