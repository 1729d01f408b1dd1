// A hash table with open addressing: the hot index from order id to order. One large
// allocation that every message reads and writes.
#ifndef FLAT_INDEX_HPP
#define FLAT_INDEX_HPP

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace orderbook {

template <class Value>
class FlatIndex {
public:
    FlatIndex() : slots_(64) {}

    Value* find(std::uint64_t key)
    {
        for (std::size_t at = home(key);; at = next(at)) {
            Slot& slot = slots_[at];
            if (slot.key == key)
                return &slot.value;
            if (slot.key == kEmpty)
                return nullptr;
        }
    }

    void insert(std::uint64_t key, Value value)
    {
        if ((used_ + 1) * 4 > slots_.size() * 3)
            grow();
        place(key, std::move(value));
        ++used_;
    }

    // Moves later entries of the run up, so that no tombstones are needed.
    void erase(std::uint64_t key)
    {
        std::size_t hole = home(key);
        while (slots_[hole].key != key) {
            if (slots_[hole].key == kEmpty)
                return;
            hole = next(hole);
        }
        for (std::size_t at = next(hole); slots_[at].key != kEmpty; at = next(at)) {
            if (distance(home(slots_[at].key), at) >= distance(hole, at)) {
                slots_[hole] = std::move(slots_[at]);
                hole = at;
            }
        }
        slots_[hole] = Slot{};
        --used_;
    }

    std::size_t size() const { return used_; }

private:
    static constexpr std::uint64_t kEmpty = 0; // ids start at 1

    struct Slot {
        std::uint64_t key = kEmpty;
        Value value{};
    };

    std::size_t home(std::uint64_t key) const
    {
        return (key * 0x9e3779b97f4a7c15u >> 20) & (slots_.size() - 1);
    }
    std::size_t next(std::size_t at) const { return (at + 1) & (slots_.size() - 1); }
    std::size_t distance(std::size_t from, std::size_t to) const
    {
        return (to - from) & (slots_.size() - 1);
    }

    void place(std::uint64_t key, Value value)
    {
        std::size_t at = home(key);
        while (slots_[at].key != kEmpty)
            at = next(at);
        slots_[at] = Slot{key, std::move(value)};
    }

    void grow()
    {
        std::vector<Slot> old(slots_.size() * 2);
        old.swap(slots_);
        for (Slot& slot : old)
            if (slot.key != kEmpty)
                place(slot.key, std::move(slot.value));
    }

    std::vector<Slot> slots_;
    std::size_t used_ = 0;
};

} // namespace orderbook

#endif
