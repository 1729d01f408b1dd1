/* Memory that the C library allocates inside of functions that the runtime replaces, and memory
 * that a function of assembly allocates. */
#include <stdio.h>
#include <stdlib.h>

#ifdef __x86_64__
__asm__(".text\n"
        ".type by_assembly, @function\n"
        "by_assembly:\n"
        ".cfi_startproc\n"
        "    sub $8, %rsp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "    mov $77, %edi\n"
        "    call malloc\n"
        "    add $8, %rsp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size by_assembly, .-by_assembly\n");
#else
#error a processor without its own function here
#endif
void *by_assembly(void);

static int by_number(const void *a, const void *b)
{
    void *volatile object = malloc(99);
    free(object);
    return *(const int *)a - *(const int *)b;
}

int main(void)
{
    int few[] = {3, 1, 2};
    char line[100];
    snprintf(line, sizeof line, "%ls\n", L"wide");
    FILE *file = fopen("written", "w");
    fprintf(file, "its buffer is allocated here %d\n", few[0]);
    fclose(file);
    file = fopen("written", "r");
    if (!fgets(line, sizeof line, file))
        return 1;
    fclose(file);
    qsort(few, 3, sizeof *few, by_number);
    printf("%s", line);
    free(by_assembly());
    return 0;
}
