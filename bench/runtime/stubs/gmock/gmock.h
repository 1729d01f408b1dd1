/* As much of googletest as leveldb's db_bench includes without using it. */
#pragma once
#define MATCHER(name, description) template <typename T> inline bool name(const T &arg)
