/* The row that a format has next to its reader: everything that the library knows of the format.
 * Code that walks the rows of records/formats.def works on every format.
 *
 * To add a format: a page under docs/formats, a row like this in a file next to the reader, and the
 * name in formats.def. */
#ifndef PGK_FORMAT_ROW_H
#define PGK_FORMAT_ROW_H

#include "cursor.h"
#include "file_info.h"
#include "pgokit/format.h"

/* A file's bytes, as the functions of a row get them. */
struct pgk_file_bytes {
    const uint8_t *bytes;
    size_t size;
    const struct pgk_source *src; /* for messages */
};

struct pgk_salvage;
struct pgk_instr_adder;
struct pgk_sink;

/* How sample profiles are written in a format, and what it can hold of them: the library reports
 * what it cannot. */
struct pgk_sample_writer {
    enum pgk_sample_encoding encoding;
    const char *name; /* that pgk_sample_write_for takes */
    /* Makes a finished copy, the profile as readers of the format will see it, and counts what it
     * had to leave out in a struct of zeros, which may be NULL. NULL: the profile is written
     * unchanged. */
    int (*adapt)(struct pgk_sample **adapted, const struct pgk_sample *profile,
                 const struct pgk_sample_write_opts *opts, struct pgk_sample_written *left_out,
                 struct pgk_err *err);
    /* Writes the first `n` functions by heat; NULL: the format is only read. */
    int (*write)(const struct pgk_sample *profile, size_t n,
                 const struct pgk_sample_write_opts *opts, struct pgk_sink *out,
                 struct pgk_err *err);
    bool vtables, symbols;      /* types of objects if options ask for them; the symbol list */
    bool checksums, attributes; /* of functions */
    bool flow, partial;         /* the marks of flow-sensitive discriminators and shared code */
    bool guids;                 /* a name without a spelling is written as its GUID */
    bool origins;               /* files and times of functions, or `adapt` says that they go */
};

/* How counters are written in a format, and what it cannot hold of them. */
struct pgk_instr_writer {
    enum pgk_instr_form form;
    const char *name;       /* that pgk_instr_form_name gives */
    uint32_t usual_version; /* that is written if none is asked for; 0: there are no versions */
    /* Refuses what the version cannot hold at all. NULL: the format can hold any counters. */
    int (*check)(const struct pgk_instr *profile, const char *path, uint32_t version,
                 struct pgk_err *err);
    /* NULL: the format is only read. */
    int (*write)(const struct pgk_instr *profile, uint32_t version, struct pgk_sink *out,
                 struct pgk_err *err);
    /* Fills in what the version leaves out, in a struct of zeros. */
    int (*loss)(const struct pgk_instr *profile, uint32_t version, struct pgk_instr_loss *loss,
                struct pgk_err *err);
};

/* Functions that a format has no use for are NULL. Those that read add to the profile, forget the
 * bytes afterwards, and put what they met into `info`; on failure the profile is only good for
 * closing. */
struct pgk_format_row {
    struct pgk_format format;
    bool (*sniff)(const uint8_t *bytes, size_t size);
    bool sniffs_all; /* sniff reads more than the beginning of the file */
    /* A running program may write the file. If its reader finds the file truncated, it has changed
     * nothing of the profile that a second reading would add twice. */
    bool grows;
    /* Which kinds of profile are in the file, as a set of bits; NULL: that of the format. */
    uint32_t (*kinds)(const uint8_t *bytes, size_t size);

    /* The build ids that the file stores, as pgk_file_build_ids gives them. */
    int (*build_ids)(const struct pgk_file_bytes *file, pgk_build_id_fn *fn, void *ctx,
                     struct pgk_err *err);
    int (*read_heap)(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                     struct pgk_file_info *info, struct pgk_err *err);
    /* The contexts that concern some functions, whose GUIDs are rising, into a new profile;
     * PGK_E_ARG if the file has to be read as a whole. */
    int (*read_heap_functions)(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                               const uint64_t *functions, size_t n, struct pgk_file_info *info,
                               struct pgk_err *err);
    bool holds_origin;   /* read_heap adds the file's data about processes to the model */
    bool wants_own_heap; /* read_heap cannot add to a model to which other threads add */
    int (*read_sample)(struct pgk_sample *profile, const struct pgk_file_bytes *file,
                       uint64_t weight, struct pgk_file_info *info, struct pgk_err *err);
    int (*read_instr)(struct pgk_instr_adder *adder, const struct pgk_file_bytes *file,
                      struct pgk_file_info *info, struct pgk_err *err);
    int (*read_gcov)(struct pgk_gcov *gcov, const struct pgk_file_bytes *file, uint64_t weight,
                     struct pgk_file_info *info, struct pgk_err *err);

    /* One function, found without reading the rest; PGK_E_ARG if the file has to be read as a
     * whole. */
    int (*read_function)(struct pgk_sample *profile, const struct pgk_file_bytes *file,
                         const char *function, struct pgk_file_info *info, struct pgk_err *err);
    /* Reads the records of given functions, by rising GUIDs, into a new sample profile; PGK_E_ARG
     * if the file has to be read as a whole. */
    int (*read_functions)(struct pgk_sample *profile, const struct pgk_file_bytes *file,
                          const uint64_t *functions, size_t n, struct pgk_file_info *info,
                          struct pgk_err *err);
    /* Reads the sound parts of a damaged file. */
    int (*salvage_heap)(struct pgk_heap *heap, const struct pgk_file_bytes *file,
                        struct pgk_salvage *salvage, struct pgk_file_info *info,
                        struct pgk_err *err);

    /* Writes the profile as pgk_heap_write does, in the form that the row has. */
    int (*write_heap)(const struct pgk_heap *heap, const char *path,
                      const struct pgk_heap_target *target, struct pgk_err *err);
    enum pgk_heap_form form; /* of write_heap */
    struct pgk_sample_writer sample_writer;
    struct pgk_instr_writer instr_writer;

    /* Adds ", ..." to what pgk_file_info_text says of every file: name and version. */
    void (*describe)(const struct pgk_file_info *info, struct pgk_info_text *text);
    /* Which releases of compilers and tools read a file of this format and version. */
    void (*readers)(const struct pgk_file_info *info, struct pgk_info_text *text);
};

/* Rows of formats: i = 0 .. until NULL. */
typedef const struct pgk_format_row *(*pgk_format_rows)(size_t i);

#define PGK_FORMAT(name) extern const struct pgk_format_row pgk_format_##name;
#include "formats.def"
#undef PGK_FORMAT

/* The number of a version, which may be a macro, as text. */
#define PGK_VERSION_TEXT(n) PGK_VERSION_TEXT_OF(n)
#define PGK_VERSION_TEXT_OF(n) #n
#define PGK_LLVM_NOW_TEXT PGK_VERSION_TEXT(PGK_LLVM_NOW)

/* Does the file begin with the number, little-endian? */
bool pgk_starts_with_u64(const uint8_t *bytes, size_t size, uint64_t magic);

#endif
