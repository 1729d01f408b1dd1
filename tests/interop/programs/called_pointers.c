/* A call through a pointer of whose functions there is no table. */
volatile int sink;
static void one(int x) { for (int i = 0; i < 10; i++) sink += i * x; }
struct table { long unused[3]; void (*call)(int); } table = {{0}, one};
__attribute__((noinline)) void ask(struct table *t, int x) {
    t->call(x);
    sink++;
}
int main(void) { for (int i = 0; i < 30000; i++) ask(&table, i); }
