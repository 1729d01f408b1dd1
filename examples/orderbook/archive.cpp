#include "archive.hpp"

#include <cstdio>
#include <cstring>
#include <utility>

namespace orderbook {

namespace {

std::unique_ptr<char[]> exact_copy(const char* text, std::size_t length)
{
    auto copy = std::make_unique<char[]>(length + 1);
    std::memcpy(copy.get(), text, length);
    return copy;
}

// The text that is sent to both parties and filed.
std::unique_ptr<char[]> confirmation(const Trade& trade, const char* symbol)
{
    char text[320];
    int length = std::snprintf(
        text, sizeof text,
        "CONFIRMATION OF TRADE\ninstrument: %s\nbuyer's order: %llu\nseller's order: %llu\n"
        "price: %u cents\nquantity: %u\nsettlement: two days after the trade, free of charge\n",
        symbol, static_cast<unsigned long long>(trade.buyer_order),
        static_cast<unsigned long long>(trade.seller_order), trade.price, trade.quantity);
    return exact_copy(text, static_cast<std::size_t>(length));
}

} // namespace

void Archive::keep_message(const std::string& message)
{
    messages_.push_back(exact_copy(message.data(), message.size()));
}

void Archive::keep_trade(const Trade& trade, const std::string& symbol)
{
    auto record = std::make_unique<Record>();
    record->trade = trade;
    record->confirmation = confirmation(trade, symbol.c_str());
    volume_ += std::uint64_t{trade.price} * trade.quantity;
    trades_.push_back(std::move(record));
}

std::uint64_t Archive::audit(std::size_t step) const
{
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < trades_.size(); i += step)
        sum += std::strlen(trades_[i]->confirmation.get()) + trades_[i]->trade.quantity;
    for (std::size_t i = 0; i < messages_.size(); i += step)
        sum += std::strlen(messages_[i].get());
    return sum;
}

} // namespace orderbook
