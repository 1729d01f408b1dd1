// Calls that allocate whose lines are far from, above, or not known of their functions.
char *volatile keep;
#define NOINLINE __attribute__((noinline))
NOINLINE void near_by() {
    keep = new char[10];
}
NOINLINE void far_below() {
#line 70010
    keep = new char[20];
}
#line 500
NOINLINE void above() {
#line 100
    keep = new char[30];
}
#line 600
NOINLINE void without_line() {
#line 0
    keep = new char[40];
}
#line 700
int main() {
    near_by();
    far_below();
    above();
    without_line();
}
