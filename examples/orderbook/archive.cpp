#include "archive.hpp"

#include <cstring>
#include <utility>

namespace orderbook {

namespace {

// The text that is sent to both parties and filed.
std::string confirmation_text(const Trade& trade, const std::string& symbol)
{
    std::string text = "CONFIRMATION OF TRADE\ninstrument: " + symbol;
    text += "\nbuyer's order: " + std::to_string(trade.buyer_order);
    text += "\nseller's order: " + std::to_string(trade.seller_order);
    text += "\nprice: " + std::to_string(trade.price) + " cents";
    text += "\nquantity: " + std::to_string(trade.quantity);
    text += "\nsettlement: two days after the day of the trade, free of charge\n";
    return text;
}

std::unique_ptr<char[]> exact_copy(const std::string& text)
{
    auto copy = std::make_unique<char[]>(text.size() + 1);
    std::memcpy(copy.get(), text.c_str(), text.size() + 1);
    return copy;
}

} // namespace

void Archive::keep_message(const std::string& message)
{
    messages_.push_back(exact_copy(message));
}

void Archive::keep_trade(const Trade& trade, const std::string& symbol)
{
    auto record = std::make_unique<Record>();
    record->trade = trade;
    record->confirmation = exact_copy(confirmation_text(trade, symbol));
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
