// What the law wants kept: every message as it came in and every trade in full. Written
// once and read again by the audit at the end of the day, and then only in samples.
#ifndef ARCHIVE_HPP
#define ARCHIVE_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace orderbook {

struct Trade {
    std::uint64_t buyer_order, seller_order;
    std::uint32_t price, quantity;
};

class Archive {
public:
    // Keeps a copy of its own; `message` is the caller's buffer.
    void keep_message(const std::string& message);
    void keep_trade(const Trade& trade, const std::string& symbol);

    std::uint64_t volume() const { return volume_; }
    std::size_t trades() const { return trades_.size(); }
    std::size_t messages() const { return messages_.size(); }
    // Adds up the lengths of every `step`th record; does not depend on their order.
    std::uint64_t audit(std::size_t step) const;

private:
    struct Record {
        Trade trade;
        std::unique_ptr<char[]> confirmation;
    };

    std::vector<std::unique_ptr<Record>> trades_;
    std::vector<std::unique_ptr<char[]>> messages_;
    std::uint64_t volume_ = 0;
};

} // namespace orderbook

#endif
