#include "book.hpp"

namespace orderbook {

void Level::append(Order* order)
{
    order->earlier = last_;
    order->later = nullptr;
    (last_ ? last_->later : first_) = order;
    last_ = order;
    quantity_ += order->quantity;
}

void Level::remove(Order* order)
{
    (order->earlier ? order->earlier->later : first_) = order->later;
    (order->later ? order->later->earlier : last_) = order->earlier;
    quantity_ -= order->quantity;
}

void Level::reduce(Order* order, std::uint32_t by)
{
    order->quantity -= by;
    quantity_ -= by;
}

template <class Ours, class Theirs>
void Book::trade_or_rest(const Order& incoming, Ours& ours, Theirs& theirs)
{
    auto trade = [&](const Order& resting, std::uint32_t quantity) {
        bool buying = incoming.side == Side::buy;
        archive_.keep_trade({buying ? incoming.id : resting.id, buying ? resting.id : incoming.id,
                             resting.price, quantity}, symbol_);
    };
    auto filled = [&](const Order* resting) { orders_.erase(resting->id); };
    std::uint32_t rest = theirs.match(incoming.price, incoming.quantity, trade, filled);
    if (rest == 0)
        return;
    auto order = std::make_unique<Order>(incoming);
    order->quantity = rest;
    ours.add(order.get());
    orders_.insert(incoming.id, std::move(order));
}

void Book::add(std::uint64_t id, Side side, std::uint32_t price, std::uint32_t quantity)
{
    Order incoming{id, price, quantity, side};
    if (side == Side::buy)
        trade_or_rest(incoming, bids_, asks_);
    else
        trade_or_rest(incoming, asks_, bids_);
}

void Book::cancel(std::uint64_t id)
{
    auto* order = orders_.find(id);
    if (!order)
        return; // filled in the meantime
    if ((*order)->side == Side::buy)
        bids_.remove(order->get());
    else
        asks_.remove(order->get());
    orders_.erase(id);
}

std::uint64_t Book::depth_value(std::size_t depth) const
{
    std::uint64_t sum = 0;
    for (const auto& quotes : {bids_.quotes(depth), asks_.quotes(depth)})
        for (const Quote& quote : quotes)
            sum += quote.price * quote.quantity;
    return sum;
}

} // namespace orderbook
