/* A library that has malloc and free of its own. */
void *__libc_malloc(unsigned long), __libc_free(void *);
void *malloc(unsigned long n) { return __libc_malloc(n); }
void free(void *p) { __libc_free(p); }
