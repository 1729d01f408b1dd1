/* What `pgokit pgo --layers` tries on top of a build with a profile. */
#ifndef PGK_PGO_LAYERS_H
#define PGK_PGO_LAYERS_H

#include "pgo.h"

/* What was recorded of the best build so far. */
struct pgo_best {
    struct record_files recordings;
    bool is_recorded;
    unsigned times; /* that any was */
};
struct pgo_layering {
    const struct pgo_load *load;   /* which is recorded again */
    const struct pgo_files *files; /* what stands in the tree */
    const char *profile;           /* new files are called PROFILE.ld and the like */
    struct pgo_best *best;
    const struct pgo_builder *builder;
};

/* Places the best build, and records it if that has not been done; NULL: it is linked statically,
 * so that the recorder cannot be in it. Owned by `best`. */
const struct record_files *pgo_record_best(const struct pgo_layering *l);
/* Another build is the best from now on. */
void pgo_forget_best(const struct pgo_layering *l);

/* Records the heap of the best build. *flags, to be freed, gives hints and links an allocator that
 * takes them; false: *why. */
bool pgo_hint_objects(const struct pgo_layering *l, char **flags, const char **why);

/* Records the best build. *flags, to be freed, makes the linker follow the order; false: *why. */
bool pgo_order_functions(const struct pgo_layering *l, char **flags, const char **why);

/* What the build needs for it. */
#define PGO_BOLT_FLAGS     " -Wl,--emit-relocs"
#define PGO_BOLT_GCC_FLAGS " -fno-reorder-blocks-and-partition" PGO_BOLT_FLAGS
#define PGO_BOLT_RUST_FLAGS " -Clink-arg=-Wl,--emit-relocs"
enum { PGO_BOLT_NAME = 64 };
/* The command; false: it is not installed. */
bool pgo_find_bolt(char name[PGO_BOLT_NAME]);
/* Records what stands in the tree and rewrites it; false: *why. */
bool pgo_run_bolt(const struct pgo_layering *l, const char **why);

#endif
