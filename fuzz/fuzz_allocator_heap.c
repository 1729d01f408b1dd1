/* Heap profiles of allocators. */
#include "allocator_heap.h"
#include "heap_fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    pgk_allocator_heap_sniff(bytes, size);
    fuzz_read(pgk_allocator_heap_read, "heap profile of an allocator", bytes, size);
    return 0;
}
