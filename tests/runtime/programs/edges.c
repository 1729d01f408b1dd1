/* Accesses that are counted on edges alone, in a function that comes after another one. */
int before(const int *p)
{
    return p[0] + p[1];
}

int edges(const int *p, int n, int (*leave)(int))
{
    int sum = 3;
    if (n & 1)
        goto out;
    sum = *p;
    if (sum & 64)
        goto out;
    do
        sum ^= p[sum & 15];
    while (sum & 7);
out:
    return leave(sum);
}
