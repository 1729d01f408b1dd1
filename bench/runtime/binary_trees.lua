-- Binary trees, built and dropped: binary_trees.lua DEPTH
local function tree(depth)
  if depth == 0 then return {} end
  return { tree(depth - 1), tree(depth - 1) }
end

local function check(node)
  return node[1] and 1 + check(node[1]) + check(node[2]) or 1
end

local most = tonumber(arg[1])
local long_lived = tree(most)
for depth = 4, most, 4 do
  local rounds, sum = 1 << (most - depth + 4), 0
  for _ = 1, rounds do sum = sum + check(tree(depth)) end
  print(rounds, depth, sum)
end
print(check(long_lived))
