/* Functions that the C interface of LLVM lacks: places in the source, and messages to the user. In
 * use_llvm.cc. */
#ifndef PGC_USE_LLVM_H
#define PGC_USE_LLVM_H

#include "use_place.h"

#include <llvm-c/Core.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The place of an instruction, then those of the calls that it is inlined through: fills at most
 * `max`, returns how many. 0 if it has no place, or is inlined deeper. */
size_t pgc_places(LLVMValueRef instruction, struct pgc_place *chain, size_t max);

/* LLVM's id of a function by its linkage name. */
uint64_t pgc_function_id(LLVMValueRef function);

/* The ids of functions whose records in a profile concern the module: those with code, and those
 * that are inlined into it; in the module with `main`, all that it names. May contain duplicates.
 * To be freed. */
uint64_t *pgc_functions(LLVMModuleRef module, size_t *n);

/* LLVM's id of a frame of a call stack, as it keeps them in metadata. */
uint64_t pgc_stack_id(uint64_t function, uint32_t line_offset, uint32_t column);
/* LLVM leaves contexts of objects that are not cold out of the metadata of a call where it counts
 * on them to stay what unmarked ones are, and a link then may let them have the copy of a function
 * that is for cold ones. From now on it keeps them, if it can (LLVM 19 leaves none out), unless the
 * user has decided (-memprof-keep-all-not-cold-contexts). */
void pgc_keep_all_contexts(void);
/* Contexts of a call that allocates, shortened to the calls that distinguish them. */
struct pgc_trie;
struct pgc_trie *pgc_trie_new(void);
/* `type` is one of enum pgc_class; ids are of frames, leaf first. */
void pgc_trie_add(struct pgc_trie *trie, int type, const uint64_t *ids, size_t n);
/* Marks the call by an attribute, if all contexts are alike; else by metadata with the ids of its
 * own chain, and returns true. Frees the contexts. */
bool pgc_trie_attach(struct pgc_trie *trie, LLVMValueRef call, const uint64_t *ids, size_t n);
/* Marks a call on the path to an allocation. */
void pgc_set_callsite(LLVMValueRef call, const uint64_t *ids, size_t n);

/* -Rpass=pgokit; or -Rpass-missed=pgokit. `name` is what records of remarks call it. */
void pgc_remark(LLVMValueRef instruction, bool missed, const char *name, const char *text);
void pgc_warn(LLVMModuleRef module, const char *file, const char *text);

#ifdef __cplusplus
}
#endif
#endif
