-- A bit of everything that Lua programs do: mixed.lua ROUNDS SIZE
local rounds, size = tonumber(arg[1]), tonumber(arg[2])

local function fib(n)
    if n < 2 then return n end
    return fib(n - 1) + fib(n - 2)
end

local function primes(n)
    local crossed, count = {}, 0
    for i = 2, n do
        if not crossed[i] then
            count = count + 1
            for j = i * i, n, i do crossed[j] = true end
        end
    end
    return count
end

local function strings(n)
    local parts = {}
    for i = 1, n do parts[#parts + 1] = string.format("%d:%s", i, ("x"):rep(i % 7)) end
    local length = 0
    for word in table.concat(parts, ","):gmatch("%d+:x*") do length = length + #word end
    return length
end

local function sorted(n)
    local numbers, x = {}, 42
    for i = 1, n do
        x = (x * 1103515245 + 12345) % 2147483648
        numbers[i] = x
    end
    table.sort(numbers, function(a, b) return a < b end)
    return numbers[1]
end

local Account = {}
Account.__index = Account
function Account.new(value) return setmetatable({value = value}, Account) end
function Account:plus(n) return self.value + n end

local function objects(n)
    local sum = 0
    for i = 1, n do sum = sum + Account.new(i):plus(1) end
    return sum
end

local function orbit(n)
    local x, y, vx, vy = 1.0, 0.0, 0.0, 1.0
    for _ = 1, n do
        local r = math.sqrt(x * x + y * y)
        local a = -1 / (r * r * r)
        vx, vy = vx + a * x * 0.001, vy + a * y * 0.001
        x, y = x + vx * 0.001, y + vy * 0.001
    end
    return x
end

for _ = 1, rounds do
    print(fib(4 + size // 5), primes(size * 600), strings(size * 150), sorted(size * 150),
          objects(size * 800), orbit(size * 1000))
end
