/* One function that allocates, and many that call it, at once or through others: some for objects
 * that are used (warm), others for objects that are not. What they return is volatile, so that no
 * call becomes a jump. */
#include <stdlib.h>

#ifdef __cplusplus
#define NEW(n) new char[n]
#define FREE(p) delete[] p
#else
#define NEW(n) malloc(n)
#define FREE(p) free(p)
#endif

char *make(int n)
{
    char *volatile p = NEW(n);
    return p;
}
char *keep(int n)
{
    char *volatile p = make(n);
    return p;
}
char *store(int n)
{
    char *volatile p = keep(n);
    return p;
}
char *deep(int n)
{
    char *volatile p = store(n);
    return p;
}
char *deeper(int n)
{
    char *volatile p = deep(n);
    return p;
}
char *cold_1(int n)
{
    char *volatile p = store(n);
    return p;
}
char *cold_2(int n)
{
    char *volatile p = store(n);
    return p;
}
char *cold_3(int n)
{
    char *volatile p = deep(n);
    return p;
}
char *cold_4(int n)
{
    char *volatile p = deeper(n);
    return p;
}
char *warm_1(int n)
{
    char *volatile p = store(n);
    return p;
}
char *warm_2(int n)
{
    char *volatile p = store(n);
    return p;
}
char *warm_3(int n)
{
    char *volatile p = deep(n);
    return p;
}
char *warm_4(int n)
{
    char *volatile p = deeper(n);
    return p;
}
char *warm_5(int n)
{
    char *volatile p = keep(n);
    return p;
}

/* These are not in the profile: of one caller all objects are cold, of the other some. */
char *new_1(int n)
{
    char *volatile p = cold_1(n);
    return p;
}
char *new_2(int n)
{
    char *volatile p = deep(n);
    return p;
}

int main(void)
{
    char *(*const all[])(int) = {cold_1, cold_2, cold_3, cold_4, warm_1, warm_2,
                                 warm_3, warm_4, warm_5, new_1,  new_2};
    for (int i = 0; i < 11 * 16; i++) {
        char *volatile p = all[i % 11](i + 1);
        FREE(p);
    }
    return 0;
}
