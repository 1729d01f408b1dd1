/* The example of the proposal of heap profiles, in C and C++: B is called by A for objects that are
 * used, and by C for objects that are not. */
#include <stdlib.h>

#ifdef __cplusplus
#define NEW(n) new char[n]
#define FREE(p) delete[] p
#else
#define NEW(n) malloc(n)
#define FREE(p) free(p)
#endif
#ifdef IN_A
#define INTO_A __attribute__((flatten))
#else
#define INTO_A
#endif
#ifdef IN_C
#define INTO_C __attribute__((flatten))
#else
#define INTO_C
#endif

static char *B(int n)
{
    char *p = NEW(n);
    return p;
}
INTO_A char *A(int n)
{
    char *p = B(n);
    return p;
}
INTO_C char *C(int n)
{
    char *p = B(n);
    return p;
}
int main(void)
{
    for (int i = 1; i <= 16; i++) {
        char *volatile hot = A(i);
        char *volatile cold = C(i);
        FREE(hot);
        FREE(cold);
    }
    return 0;
}
