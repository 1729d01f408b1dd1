/* pgokit pgo --record and --use: a profile that is kept with the source. */
#ifndef PGK_PGO_COMMITTED_H
#define PGK_PGO_COMMITTED_H

#include "pgo.h"

struct pgo_committed {
    bool record;         /* write the profile and build no second time */
    struct cli_list use; /* profiles to build with; added up */
    bool text, rebase, flags;
    uint64_t max_bytes; /* 0: no limit */
    double least_match; /* per cent */
    bool has_least;
};
extern const struct option_table pgo_committed_options;

/* Exits on options that do not go together; `others` names one that is for measuring, or is
 * NULL. */
void pgo_committed_check(const struct pgo_committed *c, const char *run, const char *output,
                         const char *others);
/* Makes the profile to be kept, `output`, of the one that was recorded. */
void pgo_commit(const struct pgo_committed *c, const char *recorded, const char *output,
                bool quiet);
/* Writes the profiles of --use, added up, to `path` for the compiler, and prints its flags. */
void pgo_print_flags(const struct pgo_committed *c, const struct pgo_compiler *compiler,
                     const char *path);
/* Builds with the profiles of --use, of which the compiler gets a copy at `path`, in a folder that
 * is removed; `output` is where one that is rebased goes, or NULL. False if less of it fits than
 * --min-match wants. */
bool pgo_use(const struct pgo_committed *c, struct pgo_builder *how,
             const struct cli_list *binaries, const char *path, const char *output);

#endif
