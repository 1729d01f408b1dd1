/* One function with one loop. */
__attribute__((noinline)) int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += i ^ n;
    return sum;
}
int main(int argc, char **argv) { return work(argc * 1000) == (int)(long)argv; }
