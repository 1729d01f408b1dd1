// The order book of one instrument: two ladders of price levels, and matching between them.
#ifndef BOOK_HPP
#define BOOK_HPP

#include "archive.hpp"
#include "flat_index.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace orderbook {

enum class Side : std::uint8_t { buy, sell };

struct Order {
    std::uint64_t id;
    std::uint32_t price, quantity;
    Side side;
    Order *earlier = nullptr, *later = nullptr; // at the same price
};

// Orders of one price, first come first served. Links them; owns nothing.
class Level {
public:
    Order* front() const { return first_; }
    bool empty() const { return !first_; }
    std::uint64_t quantity() const { return quantity_; }

    void append(Order* order);
    void remove(Order* order);
    void reduce(Order* order, std::uint32_t by);

private:
    Order *first_ = nullptr, *last_ = nullptr;
    std::uint64_t quantity_ = 0;
};

struct Quote {
    std::uint32_t price;
    std::uint64_t quantity;
};

// One side of a book; `Better` orders prices from the best to the worst.
template <class Better>
class Ladder {
public:
    void add(Order* order) { levels_[order->price].append(order); }

    void remove(Order* order)
    {
        auto at = levels_.find(order->price);
        at->second.remove(order);
        if (at->second.empty())
            levels_.erase(at);
    }

    // Calls `trade(resting order, quantity)` for what `quantity` finds at `limit` or better,
    // until it is used up; returns the rest. Filled orders go to `filled`.
    template <class OnTrade, class OnFilled>
    std::uint32_t match(std::uint32_t limit, std::uint32_t quantity, OnTrade trade, OnFilled filled)
    {
        while (quantity > 0 && !levels_.empty() && !Better{}(limit, levels_.begin()->first)) {
            Level& level = levels_.begin()->second;
            Order* resting = level.front();
            std::uint32_t part = std::min(quantity, resting->quantity);
            trade(*resting, part);
            quantity -= part;
            level.reduce(resting, part);
            if (resting->quantity == 0) {
                level.remove(resting);
                filled(resting);
            }
            if (level.empty())
                levels_.erase(levels_.begin());
        }
        return quantity;
    }

    // The best `depth` levels: a copy that lives as long as one answer.
    std::vector<Quote> quotes(std::size_t depth) const
    {
        std::vector<Quote> top;
        top.reserve(depth);
        for (auto at = levels_.begin(); at != levels_.end() && top.size() < depth; ++at)
            top.push_back({at->first, at->second.quantity()});
        return top;
    }

private:
    std::map<std::uint32_t, Level, Better> levels_;
};

class Book {
public:
    Book(std::string symbol, Archive& archive) : symbol_(std::move(symbol)), archive_(archive) {}

    void add(std::uint64_t id, Side side, std::uint32_t price, std::uint32_t quantity);
    void cancel(std::uint64_t id);
    // Price times quantity of the levels shown to the public.
    std::uint64_t depth_value(std::size_t depth) const;
    std::size_t resting() const { return orders_.size(); }

private:
    template <class Ours, class Theirs>
    void trade_or_rest(const Order& incoming, Ours& ours, Theirs& theirs);

    std::string symbol_;
    Archive& archive_;
    FlatIndex<std::unique_ptr<Order>> orders_; // those that rest in a ladder
    Ladder<std::greater<>> bids_;
    Ladder<std::less<>> asks_;
};

} // namespace orderbook

#endif
