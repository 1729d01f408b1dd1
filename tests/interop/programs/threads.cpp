// Threads that allocate from the same places at the same time and free each other's blocks.
#include <atomic>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#define NOINLINE __attribute__((noinline))

struct Message {
    std::string text;
    std::vector<int> numbers;
};

struct Queue {
    std::mutex lock;
    std::vector<std::unique_ptr<Message>> items;

    NOINLINE void put(std::unique_ptr<Message> m)
    {
        std::lock_guard<std::mutex> hold(lock);
        items.push_back(std::move(m));
    }
    std::unique_ptr<Message> take()
    {
        std::lock_guard<std::mutex> hold(lock);
        if (items.empty())
            return nullptr;
        auto m = std::move(items.back());
        items.pop_back();
        return m;
    }
};

static NOINLINE std::unique_ptr<Message> compose(int thread, int i)
{
    auto m = std::make_unique<Message>();
    m->text = "message " + std::to_string(i) + " of thread number " + std::to_string(thread);
    m->numbers.resize(static_cast<size_t>(i % 50) + 1);
    std::iota(m->numbers.begin(), m->numbers.end(), i);
    return m;
}

int main()
{
    Queue q;
    std::atomic<long> total{0};
    std::vector<std::thread> all;
    for (int t = 0; t < 3; t++)
        all.emplace_back([&q, &total, t] {
            for (int i = 0; i < 200; i++) {
                q.put(compose(t, i));
                if (auto m = q.take())
                    total += std::accumulate(m->numbers.begin(), m->numbers.end(), 0L);
            }
        });
    for (auto &t : all)
        t.join();
    return total == 42;
}
