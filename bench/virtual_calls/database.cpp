// Reads a database of leveldb in memory through iterators that call each other: database KEYS SEED
#include "helpers/memenv/memenv.h"
#include "leveldb/db.h"
#include "leveldb/env.h"
#include "leveldb/write_batch.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

int main(int argc, char **argv)
{
    const unsigned keys = argc > 1 ? unsigned(atoi(argv[1])) : 10000;
    unsigned dice = argc > 2 ? unsigned(atoi(argv[2])) : 1;
    std::unique_ptr<leveldb::Env> memory(leveldb::NewMemEnv(leveldb::Env::Default()));
    leveldb::Options options;
    options.create_if_missing = true;
    options.env = memory.get();
    leveldb::DB *opened = nullptr;
    if (!leveldb::DB::Open(options, "/database", &opened).ok())
        return 1;
    std::unique_ptr<leveldb::DB> database(opened);
    for (unsigned i = 0; i < keys; i++) {
        dice = dice * 1103515245 + 12345;
        database->Put(leveldb::WriteOptions(), "key" + std::to_string(dice >> 8),
                      std::string(20 + dice % 60, char('a' + dice % 26)));
    }
    unsigned long sum = 0;
    for (int round = 0; round < 12; round++) {
        std::unique_ptr<leveldb::Iterator> at(database->NewIterator(leveldb::ReadOptions()));
        for (at->SeekToFirst(); at->Valid(); at->Next())
            sum = sum * 31 + at->key().size() + at->value().size();
    }
    std::string value;
    for (unsigned i = 0; i < keys; i++) {
        dice = dice * 1103515245 + 12345;
        if (database->Get(leveldb::ReadOptions(), "key" + std::to_string(dice >> 8), &value).ok())
            sum += value.size();
    }
    printf("%lu\n", sum);
    return 0;
}
