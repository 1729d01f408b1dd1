// An interpreter of expressions: nearly all calls are virtual, and most callees have a few
// instructions, as in libraries that evaluate formulas.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

struct Token {
    virtual ~Token() = default;
    virtual int kind() const { return 0; }
};

struct Value : Token {
    virtual double number() const = 0;
    virtual bool isVariable() const = 0;
};

struct Literal : Value {
    double x;
    explicit Literal(double v) : x(v) {}
    double number() const override { return x; }
    bool isVariable() const override { return false; }
};

struct Variable : Value {
    double *x;
    explicit Variable(double *v) : x(v) {}
    double number() const override { return *x; }
    bool isVariable() const override { return true; }
};

struct Callback : Token {
    int kind() const override { return 1; }
    virtual int arguments() const = 0;
    virtual double call(const double *arg) const = 0;
};

struct Plus : Callback {
    int arguments() const override { return 2; }
    double call(const double *arg) const override { return arg[0] + arg[1]; }
};

struct Times : Callback {
    int arguments() const override { return 2; }
    double call(const double *arg) const override { return arg[0] * arg[1]; }
};

struct Root : Callback {
    int arguments() const override { return 1; }
    double call(const double *arg) const override
    {
        double r = arg[0] > 1 ? arg[0] : 1;
        for (int i = 0; i < 12; i++)
            r = (r + arg[0] / r) / 2;
        return r;
    }
};

__attribute__((noinline)) static double push(const Value &v, int *variables)
{
    *variables += v.isVariable();
    return v.number();
}

__attribute__((noinline)) static double evaluate(const std::vector<std::unique_ptr<Token>> &tokens,
                                                 int *variables)
{
    double stack[16];
    int top = 0;
    for (const auto &token : tokens) {
        if (token->kind() == 0) {
            stack[top++] = push(static_cast<const Value &>(*token), variables);
        } else {
            const auto &f = static_cast<const Callback &>(*token);
            top -= f.arguments();
            stack[top] = f.call(stack + top);
            top++;
        }
    }
    return stack[0];
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? std::atoi(argv[1]) : 1000, variables = 0;
    double a = 1, sum = 0;
    std::vector<std::unique_ptr<Token>> tokens;
    auto add = [&](Token *t) { tokens.emplace_back(t); };
    add(new Variable(&a));
    add(new Literal(2));
    add(new Times);
    add(new Variable(&a));
    add(new Plus);
    add(new Variable(&a));
    add(new Times);
    add(new Literal(3));
    add(new Plus);
    add(new Root);
    for (int i = 0; i < rounds; i++) {
        a = i % 10;
        sum += evaluate(tokens, &variables);
    }
    std::printf("%g %d\n", sum, variables);
}
