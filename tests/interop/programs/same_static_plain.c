/* For same_statics.c: another function of that name, which allocates nothing. */
__attribute__((noinline)) static int make(int n)
{
    return n + 1;
}
int other(void)
{
    return make(20);
}
