/* Objects of each section of data, hot ones and cold ones. */
#include <stdio.h>
int hot_data = 1, cold_data = 2;
int hot_zero[100], cold_zero[100];
static int hot_local = 3;
const int hot_constant[4] = {1, 2, 3, 4}, cold_constant[4] = {4, 3, 2, 1};
__attribute__((noinline)) const char *text(int i)
{
    return i == 1 ? "hot words" : i == 2 ? "cold words" : "more cold words";
}
__attribute__((noinline)) int work(int i)
{
    hot_local += i;
    hot_zero[i % 100] = cold_zero[i % 50] + hot_local;
    return hot_data + cold_data * i + hot_constant[i & 3] + cold_constant[i & 1];
}
int main(int argc, char **argv)
{
    return printf("%s %d\n", text(argc), work(argc)) < 0;
}
