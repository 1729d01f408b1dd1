// A virtual call of which one target runs three times as often, but takes a quarter of the time.
struct Shape { virtual int area(int x) const = 0; };
struct Often : Shape { int area(int x) const override; };
struct Rarely : Shape { int area(int x) const override; };
volatile int sink;
__attribute__((noinline)) int Often::area(int x) const {
    for (int i = 0; i < 10; i++) sink += i;
    return x * 3;
}
__attribute__((noinline)) int Rarely::area(int x) const {
    for (int i = 0; i < 40; i++) sink -= i; // takes four times as long
    return x ^ 7;
}
__attribute__((noinline)) int ask(const Shape *s, int x) {
    return s->area(x) + 1;
}
int main() {
    Often often; Rarely rarely;
    for (int i = 0; i < 30000; i++)
        sink += ask(i % 4 ? (const Shape *)&often : &rarely, i);
    return 0;
}
