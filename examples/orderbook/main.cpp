// A toy exchange, as something to profile: several desks, each a thread with instruments of
// its own, read messages as text, match orders and file everything.
//
//     orderbook [calm|rush] [MESSAGES-PER-DESK]
//
// "calm" leaves many orders resting; "rush" trades and cancels. The result depends on the
// arguments only.
#include "book.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace orderbook {

struct Workload {
    const char* name;
    unsigned cancel_percent;  // of all messages
    unsigned quote_percent;
    std::uint32_t spread;     // how far prices stray from the middle, in cents
    std::size_t messages;     // per desk
};

constexpr Workload kWorkloads[] = {
    {"calm", 10, 10, 4000, 240000},
    {"rush", 35, 20, 300, 300000},
};
constexpr unsigned kDesks = 3;
constexpr const char* kSymbols[] = {"ANVIL", "BRASS", "COPPER", "DYNAMO", "EMERY", "FLANGE"};
constexpr std::size_t kSymbolCount = std::size(kSymbols);

// A stream of messages, always the same for a seed.
class Feed {
public:
    Feed(const Workload& workload, std::uint64_t seed) : workload_(workload), state_(seed) {}

    std::string next()
    {
        char text[160];
        unsigned kind = draw(100);
        const char* symbol = kSymbols[draw(kSymbolCount)];
        int length;
        if (kind < workload_.quote_percent) {
            length = std::snprintf(text, sizeof text, "QUOTE|%s", symbol);
        } else if (kind < workload_.quote_percent + workload_.cancel_percent && last_id_ > 0) {
            length = std::snprintf(text, sizeof text, "CANCEL|%s|%llu", symbol,
                                   last_id_ - draw(recent()));
        } else {
            bool buy = draw(2) == 0;
            std::uint32_t away = draw(workload_.spread);
            length = std::snprintf(text, sizeof text,
                                   "ORDER|%s|%llu|%s|%u|%u|account %u, by telephone, see the log",
                                   symbol, ++last_id_, buy ? "BUY" : "SELL",
                                   buy ? 10200 - away : 10000 + away, 1 + draw(500), draw(9000));
        }
        return std::string(text, static_cast<std::size_t>(length));
    }

private:
    std::uint32_t draw(std::uint32_t below)
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return static_cast<std::uint32_t>((state_ >> 11) % below);
    }
    std::uint32_t recent() const
    {
        return static_cast<std::uint32_t>(std::min(last_id_, 2000ull));
    }

    const Workload& workload_;
    std::uint64_t state_;
    unsigned long long last_id_ = 0;
};

// The fields of a message: temporaries that are gone before the next message.
std::vector<std::string> split(std::string_view message)
{
    std::vector<std::string> fields;
    for (;;) {
        std::size_t bar = message.find('|');
        fields.emplace_back(message.substr(0, bar));
        if (bar == std::string_view::npos)
            return fields;
        message.remove_prefix(bar + 1);
    }
}

class Desk {
public:
    Desk(const Workload& workload, unsigned number) : feed_(workload, 155 + 2 * number)
    {
        for (const char* symbol : kSymbols)
            books_.push_back(std::make_unique<Book>(symbol, archive_));
    }

    void run(std::size_t messages)
    {
        for (std::size_t i = 0; i < messages; ++i) {
            std::string message = feed_.next();
            archive_.keep_message(message);
            handle(split(message));
        }
        checksum_ += archive_.audit(100);
    }

    const Archive& archive() const { return archive_; }
    std::uint64_t checksum() const { return checksum_; }
    std::size_t resting() const
    {
        std::size_t sum = 0;
        for (const auto& book : books_)
            sum += book->resting();
        return sum;
    }

private:
    void handle(const std::vector<std::string>& fields)
    {
        Book& book = book_of(fields[1]);
        if (fields[0] == "QUOTE") {
            checksum_ += book.depth_value(20);
        } else if (fields[0] == "CANCEL") {
            book.cancel(std::stoull(fields[2]));
        } else {
            book.add(std::stoull(fields[2]), fields[3] == "BUY" ? Side::buy : Side::sell,
                     number(fields[4]), number(fields[5]));
        }
    }

    static std::uint32_t number(const std::string& text)
    {
        return static_cast<std::uint32_t>(std::stoul(text));
    }

    Book& book_of(const std::string& symbol)
    {
        for (std::size_t i = 0; i < kSymbolCount; ++i)
            if (symbol == kSymbols[i])
                return *books_[i];
        std::abort();
    }

    Feed feed_;
    Archive archive_;
    std::vector<std::unique_ptr<Book>> books_;
    std::uint64_t checksum_ = 0;
};

void run(const Workload& workload, std::size_t messages)
{
    std::vector<std::unique_ptr<Desk>> desks;
    for (unsigned i = 0; i < kDesks; ++i)
        desks.push_back(std::make_unique<Desk>(workload, i));
    std::vector<std::thread> threads;
    for (auto& desk : desks)
        threads.emplace_back([&desk, messages] { desk->run(messages); });
    for (std::thread& thread : threads)
        thread.join();

    std::size_t kept = 0, trades = 0, resting = 0;
    std::uint64_t volume = 0, checksum = 0;
    for (const auto& desk : desks) {
        kept += desk->archive().messages();
        trades += desk->archive().trades();
        volume += desk->archive().volume();
        resting += desk->resting();
        checksum += desk->checksum();
    }
    std::printf("%s: %zu messages, %zu trades worth %llu, %zu orders resting, checksum %llu\n",
                workload.name, kept, trades, static_cast<unsigned long long>(volume / 100), resting,
                static_cast<unsigned long long>(checksum));
}

} // namespace orderbook

int main(int argc, char** argv)
{
    const char* name = argc > 1 ? argv[1] : "calm";
    for (const orderbook::Workload& workload : orderbook::kWorkloads) {
        if (std::strcmp(workload.name, name) != 0)
            continue;
        std::size_t messages = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : workload.messages;
        orderbook::run(workload, messages);
        return 0;
    }
    std::fprintf(stderr, "usage: orderbook [calm|rush] [MESSAGES-PER-DESK]\n");
    return 2;
}
