/* Threads that ask for their stack before they allocate. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
static void *thread(void *arg)
{
    pthread_attr_t attr;
    if (pthread_getattr_np(pthread_self(), &attr))
        return arg;
    for (int i = 0; i < 500; i++)
        free(malloc(40));
    pthread_attr_destroy(&attr);
    return NULL;
}
int main(void)
{
    pthread_t t;
    void *bad = &t;
    for (int i = 0; i < 20; i++)
        if (pthread_create(&t, NULL, thread, &t) || pthread_join(t, &bad) ||
            bad)
            return 1;
    return 0;
}
