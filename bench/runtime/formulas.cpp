// Evaluates formulas with muparserx: formulas ROUNDS SET
#include "mpParser.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

static const char *const sets[2][6] = {
    {"a+b*c-sin(a)*2", "(a>b) ? a*c : b/c+1", "sqrt(a*a+b*b)+abs(c)", "min(a,b,c)+max(a,b,c)*2",
     "{1,2,3}[1]+a", "exp(-a/10)+ln(b+1)+c"},
    {"a^2+b^3-c*(a-b)/(c+1)", "cos(a)*b+(c>3 ? b : a)", "abs(a-b)*{4,5,6}[2]", "sum(a,b,c,4)/2",
     "(a<b) ? max(a,2) : min(c,b)", "sqrt(c+2)*exp(-b/7)"},
};

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 1000, set = argc > 2 ? atoi(argv[2]) & 1 : 0;
    mup::Value a(1.5), b(2.5), c(3.5);
    std::vector<std::unique_ptr<mup::ParserX>> parsers;
    for (const char *text : sets[set]) {
        parsers.emplace_back(new mup::ParserX);
        parsers.back()->DefineVar(_T("a"), mup::Variable(&a));
        parsers.back()->DefineVar(_T("b"), mup::Variable(&b));
        parsers.back()->DefineVar(_T("c"), mup::Variable(&c));
        parsers.back()->SetExpr(text);
    }
    double total = 0;
    for (int i = 0; i < rounds; i++) {
        a = (mup::float_type)(i % 17) + 0.5;
        b = (mup::float_type)(i % 5) + 1.5;
        c = (mup::float_type)(i % 23) + 2.5;
        for (auto &parser : parsers)
            total += parser->Eval().GetFloat();
    }
    printf("%g\n", total);
    return 0;
}
