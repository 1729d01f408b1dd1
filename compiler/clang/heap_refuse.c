/* Instrumentation whose runtime has functions that the heap profiler has, too: malloc, or strcmp as
 * libFuzzer does. One of the two would not see what the program does and would say nothing of it,
 * or the linker would list duplicates. Clang marks the functions that it instruments so. */
#include "heap_refuse.h"

#include "heap_pass.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *attribute, *option;
} refused[] = {
    {"sanitize_address", "address"},
    {"sanitize_hwaddress", "hwaddress"},
    {"sanitize_memory", "memory"},
    {"sanitize_thread", "thread"},
    {"sanitize_type", "type"},
    {"sanitize_numerical_stability", "numerical"},
    {"sanitize_realtime", "realtime"},
    {"optforfuzzing", "fuzzer"},
};

static bool has(LLVMModuleRef module, const char *attribute)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(attribute, strlen(attribute));
    if (!kind) /* of another release */
        return false;
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind))
            return true;
    return false;
}

bool pgc_is_refused(LLVMModuleRef module)
{
    char text[192];
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (!has(module, refused[i].attribute))
            continue;
        snprintf(text, sizeof text,
                 "pgokit: -fsanitize=%s and counting accesses cannot be in one program, because "
                 "brings its malloc; leave out that option or the plugin",
                 refused[i].option);
        pgc_report_error(module, text);
        return true;
    }
    return false;
}
