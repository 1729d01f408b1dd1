/* As much of googletest as leveldb's db_bench includes without using it. */
#pragma once
namespace testing {
struct UnitTest {
    static UnitTest *GetInstance() { return nullptr; }
    int random_seed() const { return 0; }
};
}
