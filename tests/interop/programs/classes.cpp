// C++ allocations: operator new in all its forms, templates, lambdas, containers, virtual
// functions, exceptions, constructors that share an address, local statics.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

namespace {

template <typename T> NOINLINE T *make_one(T v) { return new T(v); }

template <typename T, size_t N> struct Block {
    T *v;
    Block() : v(new T[N]()) {}
    ~Block() { delete[] v; }
    T sum() const
    {
        T s{};
        for (size_t i = 0; i < N; i++)
            s = s + v[i];
        return s;
    }
};

struct alignas(128) Wide {
    unsigned char bytes[256];
};

struct Shape {
    virtual ~Shape() = default;
    virtual std::unique_ptr<Shape> clone() const = 0;
    virtual double area() const = 0;
};
struct Square : Shape {
    double side;
    explicit Square(double s) : side(s) {}
    std::unique_ptr<Shape> clone() const override { return std::make_unique<Square>(*this); }
    double area() const override { return side * side; }
};
struct Named : virtual Square {
    std::string name;
    Named(double s, const char *n) : Square(s), name(n)
    {
        name += " with a name too long to be kept inside";
    }
    std::unique_ptr<Shape> clone() const override
    {
        return std::unique_ptr<Shape>(new Named(*this));
    }
};

NOINLINE std::vector<std::unique_ptr<Shape>> shapes(int n)
{
    std::vector<std::unique_ptr<Shape>> out;
    for (int i = 0; i < n; i++) {
        if (i % 3)
            out.push_back(std::make_unique<Square>(i));
        else
            out.emplace_back(new Named(i, "shape"));
    }
    return out;
}

NOINLINE int throwing(int depth)
{
    std::unique_ptr<int[]> guard(new int[static_cast<size_t>(depth) + 3]);
    guard[0] = depth;
    if (depth == 0)
        throw std::runtime_error("the bottom of a recursion that goes down a few frames");
    return throwing(depth - 1) + guard[0];
}

} // namespace

static NOINLINE int *local_static()
{
    static int *kept = new int[10]();
    return kept;
}

struct Counter {
    std::unordered_map<std::string, int> words;
    NOINLINE void add(const std::string &w) { words[w]++; }
};

NOINLINE int with_lambdas(int n)
{
    auto fill = [n](size_t k) {
        auto *v = new std::vector<int>(k, n);
        return std::unique_ptr<std::vector<int>>(v);
    };
    std::function<std::string(int)> name = [](int i) {
        return "a string of some length, number " + std::to_string(i);
    };
    int total = 0;
    for (int i = 1; i <= n; i++) {
        auto v = fill(static_cast<size_t>(i) * 10);
        total += (*v)[0] + static_cast<int>(name(i).size());
    }
    return total;
}

int main()
{
    std::unique_ptr<int> one(make_one(1));
    std::unique_ptr<double> two(make_one(2.0));
    std::unique_ptr<char> plain(new (std::nothrow) char('x'));
    Block<int, 100> ints;
    Block<double, 33> doubles;
    sink += static_cast<unsigned long>(ints.sum() + doubles.sum());

    auto *wide = new Wide;
    wide->bytes[5] = 1;
    auto *wides = new Wide[3];
    wides[1].bytes[9] = 2;
    sink += wide->bytes[5] + wides[1].bytes[9];

    auto all = shapes(10);
    double area = 0;
    for (auto &s : all)
        area += s->clone()->area();
    sink += static_cast<unsigned long>(area);

    Counter c;
    for (int i = 0; i < 60; i++)
        c.add("word number " + std::to_string(i % 17) + " of the sentence");
    std::map<int, std::vector<std::string>> index;
    for (auto &[w, n] : c.words)
        index[n].push_back(w);
    sink += index.size();
    sink += static_cast<unsigned long>(with_lambdas(5));
    sink += static_cast<unsigned long>(local_static()[3]);
    try {
        throwing(4);
    } catch (const std::exception &e) {
        sink += std::string(e.what()).size();
    }
    delete[] wides;
    delete wide;
    return 0;
}
