/* Which object a pointer leads to, as far as that is known without running the program. */
#ifndef PGC_HEAP_OBJECT_H
#define PGC_HEAP_OBJECT_H

#include <llvm-c/Core.h>
#include <stdbool.h>

struct pgc_object {
    LLVMValueRef pointer; /* equal for accesses that surely are to one object */
    bool charged;         /* it may be on the heap */
    bool there;           /* that pointer itself leads into the object, not to its end */
};

struct pgc_object pgc_object_of(LLVMValueRef pointer);

#endif
