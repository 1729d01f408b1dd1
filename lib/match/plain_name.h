/* Names of functions, as different compilers and builds have them. */
#ifndef PGK_PLAIN_NAME_H
#define PGK_PLAIN_NAME_H

#include <stddef.h>
#include <stdint.h>

/* The GUID of a linkage name without what compilers add to names of copies and parts of functions,
 * and of statics (.llvm.N, .part.N, .constprop.N, .isra.N, .cold, .__uniq.N). */
size_t pgk_build_plain_len(const char *name, size_t len);
uint64_t pgk_build_guid(const char *name, size_t len);

/* A name without all that, and one for all bodies of a constructor. */
struct pgk_plain_name {
    const char *s; /* of the name it was made of, or of `copy` */
    size_t len;
    char copy[1024]; /* longer names of constructors stay as they are */
};
void pgk_build_plain(struct pgk_plain_name *plain, const char *name, size_t len);

/* The GUID of NAME in _ZL<length>NAME...__uniq.N, which is what clang's
 * -funique-internal-linkage-names makes of a static function of C; of a constructor or destructor
 * that of its body C2 or D2, because compilers name the other bodies differently; otherwise the
 * GUID as above. */
uint64_t pgk_build_bare_guid(const char *name, size_t len);
/* The last folder and the name of a path, which stay where a build is done elsewhere. */
const char *pgk_build_file_tail(const char *path);

/* For a C++ function of internal linkage, in an anonymous namespace or static, the GUID of its
 * identifier: gcc's debug information has no linkage name for it, so only the identifier is known
 * there. 0 for others, and for destructors. */
uint64_t pgk_build_identifier_guid(const char *name, size_t len);

#endif
