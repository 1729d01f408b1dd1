#!/bin/bash
# Runs programs that are installed and prints for each that ran to its end a checksum of what it
# printed, which has to be the same whether it is recorded or not:
#
#   tests/recorder/same_output.sh
#
# Programs that are not there are left out. Everything is in a new folder, which is deleted.
set -uo pipefail
sources=$(cd "$(dirname "$0")/programs" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit
export LC_ALL=C

# try NAME COMMAND...
try() {
    local sum
    command -v "$2" >/dev/null || return 0
    if sum=$("${@:2}" 2>errors | md5sum); then
        echo "PASS: $1 ${sum%% *}"
    else
        echo "FAIL: $1: $(tail -3 errors)"
    fi
}

python() {
    /usr/bin/python3 -c '
import hashlib, json, re, zlib
data = [{"id": i, "name": f"n{i * 7919 % 101}"} for i in range(60000)]
text = json.dumps(data)
print(len(re.findall(r"n\d5", text)), zlib.crc32(text.encode()))
print(hashlib.sha256(repr(sorted(json.loads(text), key=lambda e: e["name"])).encode()).hexdigest())'
}

javascript() {
    node -e '
let h = 7;
const by = new Map();
for (let i = 0; i < 3e6; i++) {
    h = (Math.imul(h, 33) + i) | 0;
    by.set(h & 1023, (by.get(h & 1023) || 0) + 1);
}
try { null.x; } catch (e) { console.log(e.name); }
console.log(h, [...by.entries()].sort((a, b) => a[0] - b[0]).join(" "));'
}

java_program() {
    cat >Sum.java <<'END'
import java.util.*;
import java.util.stream.*;

public class Sum {
    public static void main(String[] args) {
        Map<Integer, Long> by = IntStream.range(0, 3000000).parallel().boxed()
            .collect(Collectors.groupingBy(i -> i * 7919 % 97, TreeMap::new,
                                           Collectors.counting()));
        long thrown = 0;
        int[] few = new int[10];
        for (int i = 0; i < 200000; i++) {
            try {
                few[i % 13]++;
            } catch (ArrayIndexOutOfBoundsException e) {
                thrown++;
            }
        }
        System.out.println(by + " " + thrown + " " + Arrays.toString(few));
    }
}
END
    java Sum.java
}

redis() {
    redis-server --port 0 --unixsocket "$folder/redis" --save '' --logfile redis.log &
    local i
    for i in $(seq 600); do
        redis-cli -s redis ping >/dev/null 2>&1 && break
        sleep 0.1
    done
    redis-cli -s redis eval '
        for i = 1, 100000 do
            redis.call("set", "k" .. i, i * i)
            redis.call("zadd", "z", i * 7919 % 10007, "m" .. i)
            redis.call("lpush", "l" .. i % 100, i)
        end
        return redis.call("dbsize")' 0
    redis-cli -s redis zrange z 0 200 withscores
    redis-cli -s redis sort l7 limit 0 100
    redis-cli -s redis shutdown nosave
    wait
}

# Not as root, as which it does not run.
postgres() {
    local user=() bin
    bin=$(echo /usr/lib/postgresql/*/bin)
    if [ "$(id -u)" = 0 ]; then
        user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
        chmod 777 "$folder"
    fi
    "${user[@]}" "$bin/initdb" -D "$folder/data" -U me --no-sync >/dev/null || return
    "${user[@]}" "$bin/pg_ctl" -D "$folder/data" -l "$folder/log" -w -t 300 \
        -o "-k $folder -h ''" start >/dev/null || return
    "${user[@]}" "$bin/psql" -h "$folder" -U me -d postgres -At -v ON_ERROR_STOP=1 -c '
        create table t as select i, i * 7919 % 1009 as k, md5(i::text) as m
            from generate_series(1, 200000) i' -c '
        create index on t(k)' -c '
        select k, count(*), min(m), sum(i) from t group by k order by k' -c '
        select count(*) from t a join t b on a.k = b.i where a.m > b.m'
    local status=$?
    "${user[@]}" "$bin/pg_ctl" -D "$folder/data" -m fast -w stop >/dev/null
    return $status
}

try python3 python
command -v node >/dev/null && try node javascript
command -v java >/dev/null && try java java_program
command -v redis-server >/dev/null && try redis redis
[ -x "$(echo /usr/lib/postgresql/*/bin/initdb)" ] && try postgres postgres
for clang in clang-22 clang-14; do
    try "$clang" "$clang" -O2 -S -o - "$sources/stress.cpp"
done
