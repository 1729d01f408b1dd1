// One allocation function reached by callers whose blocks live long and by callers whose
// blocks are gone at once: what the compiler tells apart by context.
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;

NOINLINE char *buffer(std::size_t n)
{
    return new char[n];
}

NOINLINE char *shared_path(std::size_t n)
{
    return buffer(n + 1);
}

NOINLINE char *keep(std::size_t n)
{
    return shared_path(n);
}

NOINLINE void use(std::size_t n)
{
    char *p = shared_path(n);
    for (std::size_t i = 0; i < n; i++)
        p[i] = static_cast<char>(i);
    sink += static_cast<unsigned char>(p[n / 2]);
    delete[] p;
}

struct Record {
    char *payload;
    std::string name;
    explicit Record(int i)
        : payload(keep(200)), name("record with a long name, number " + std::to_string(i))
    {
    }
    ~Record() { delete[] payload; }
};

NOINLINE std::vector<std::unique_ptr<Record>> load(int n)
{
    std::vector<std::unique_ptr<Record>> all;
    for (int i = 0; i < n; i++)
        all.push_back(std::make_unique<Record>(i));
    return all;
}

NOINLINE void query(int n)
{
    for (int i = 1; i < n; i++) {
        use(static_cast<std::size_t>(i) * 16);
        int *scratch = static_cast<int *>(malloc(64));
        scratch[i % 16] = i;
        sink += static_cast<unsigned long>(scratch[i % 16]);
        free(scratch);
    }
}

int main()
{
    auto all = load(20);
    query(40);
    char *forever = buffer(4096);
    sink += all.size() + (forever != nullptr);
    delete[] forever;
    return 0;
}
