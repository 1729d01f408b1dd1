/* A library whose variables each thread has of its own: leaks.c loads it while it runs. */
static _Thread_local void *kept;

void **variable(void)
{
    return &kept;
}
