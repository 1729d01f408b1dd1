/* Names of the types of objects, which contexts refer to by DataTypeId. */
#ifndef PGK_TYPE_NAMES_H
#define PGK_TYPE_NAMES_H

#include "heap_model.h"

/* The DataTypeId of a type with this name, a string id. */
uint64_t pgk_heap_type_id(const struct pgk_heap *h, uint32_t name);
/* Notes the name of a type; false when out of memory. */
bool pgk_heap_note_type(struct pgk_heap *h, uint32_t name);
/* Those of another model. */
bool pgk_heap_add_types(struct pgk_heap *to, const struct pgk_heap *from);

typedef PGK_VEC(uint32_t) pgk_type_name_vec;
/* Names of the types that contexts have, as string ids in the order of their bytes; what contexts
 * do not have any more is left out. False when out of memory. */
bool pgk_heap_used_types(const struct pgk_heap *h, pgk_type_name_vec *names);

#endif
