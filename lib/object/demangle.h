/* Linkage names as the names that programmers wrote. Thread-safe. */
#ifndef PGK_DEMANGLE_H
#define PGK_DEMANGLE_H

#include <stddef.h>

/* The name that a programmer wrote: demangled, without parameters; NULL if
 * `linkage_name` is not mangled, or when out of memory. Free with pgk_mem_free. */
char *pgk_demangle(const char *linkage_name);

/* Template arguments of a long name say little on a terminal: "a<b<c>, d>::e" becomes
 * "a<...>::e". Operators that hold the signs are left alone. NULL when out of
 * memory. Free with pgk_mem_free. */
char *pgk_shorten_templates(const char *name);

/* A name as wide as fits: of a longer one template arguments are left out, then its middle. Takes a
 * name and returns one, both of pgk_mem_alloc; 0 columns: as it is. */
char *pgk_fit_name(char *name, size_t columns);

/* As pgk_demangle, with the parameters, by which overloads differ. */
char *pgk_demangle_fully(const char *linkage_name);

/* As pgk_demangle, and of a long name without its template arguments. */
char *pgk_demangle_short(const char *linkage_name);

#endif
