-- Makes manual pages of these files, with pandoc -f gfm -t man: the heading becomes NAME, the first
-- block of code SYNOPSIS, and a table of two columns a list of what each word means.

local function strong(text)
  return pandoc.Strong({pandoc.Str(text)})
end

-- A link to another of these pages names the page; to another place on the web, its address; to
-- other documents, their names alone.
local function name_target(link)
  local page = link.target:match("^([%w_-]+)%.md")
  if page then
    return strong(page .. (page:match("^lib") and "(3)" or "(1)"))
  end
  local text = pandoc.List(link.content)
  if link.target:match("^https?:") and pandoc.utils.stringify(text) ~= link.target then
    text:extend({pandoc.Space(), pandoc.Str("<" .. link.target .. ">")})
  end
  return text
end

local function cell_blocks(row)
  local cells = pandoc.List()
  for _, cell in ipairs(row.cells) do
    cells:insert(cell.contents or cell[5])
  end
  return cells
end

-- Widths for a table of several columns that would be wider than the line: each column has room for
-- its longest word, and its part of the rest by what it holds.
local function share_line(tbl)
  local line, gap = 70, 3
  local words, texts, all_words, all_texts = {}, {}, 0, 0
  local rows = pandoc.List() -- a list that is made from another one would be the same list
  rows:extend(tbl.head.rows)
  for _, body in ipairs(tbl.bodies) do
    rows:extend(body.body)
  end
  for i in ipairs(tbl.colspecs) do
    words[i], texts[i] = 1, 1
    for _, row in ipairs(rows) do
      local text = pandoc.utils.stringify(cell_blocks(row)[i])
      texts[i] = math.max(texts[i], #text)
      for word in text:gmatch("%S+") do
        words[i] = math.max(words[i], #word)
      end
    end
    all_words, all_texts = all_words + words[i] + gap, all_texts + texts[i] + gap
  end
  for i, spec in ipairs(tbl.colspecs) do
    local width = nil
    if all_texts > line then
      local rest = math.max(0, line - all_words) * (texts[i] - words[i]) / (all_texts - all_words)
      width = (words[i] + rest) / line
    end
    tbl.colspecs[i] = {spec[1], width}
  end
  return tbl
end

local function define_words(tbl)
  if #tbl.colspecs ~= 2 then
    return share_line(tbl)
  end
  local items = pandoc.List()
  for _, body in ipairs(tbl.bodies) do
    for _, row in ipairs(body.body) do
      local cells = cell_blocks(row)
      items:insert({pandoc.utils.blocks_to_inlines(cells[1]), {cells[2]}})
    end
  end
  return pandoc.DefinitionList(items)
end

-- Without fonts of a fixed width, which terminals do not have.
local function print_code(block)
  local lines = pandoc.List()
  for line in (block.text .. "\n"):gmatch("(.-)\n") do
    line = line:gsub("\\", "\\e"):gsub("-", "\\-"):gsub("^([.'])", "\\&%1")
    lines:insert(line)
  end
  return pandoc.RawBlock("man", ".RS 4\n.nf\n" .. table.concat(lines, "\n") .. "\n.fi\n.RE")
end

local function lower_first(text)
  return text:sub(1, 1):lower() .. text:sub(2)
end

-- "NAME", "SYNOPSIS" and "DESCRIPTION" in front of what the page begins with.
local function arrange(blocks, name)
  local summary, out = nil, pandoc.List()
  local described = false
  for i, block in ipairs(blocks) do
    if i == 1 and block.t == "Header" then
      -- the title, which NAME repeats
    elseif not summary and block.t == "Para" then
      summary = pandoc.utils.stringify(block)
      local first, rest = summary:match("^(.-)%.%s+(%u.*)$")
      out:extend({pandoc.Header(1, "NAME"),
        pandoc.Para({pandoc.Str(name .. " - " .. lower_first(first or summary:gsub("%.$", "")))})})
      if rest then
        out:extend({pandoc.Header(1, "DESCRIPTION"), block})
        described = true
      end
    elseif not described and block.t == "CodeBlock" then
      out:extend({pandoc.Header(1, "SYNOPSIS"), block, pandoc.Header(1, "DESCRIPTION")})
      described = true
    elseif block.t == "Header" then
      described = true
      local title = pandoc.utils.stringify(block)
      out:insert(pandoc.Header(block.level - 1,
        block.level == 2 and title:upper() or block.content))
    else
      if not described and #out > 0 then
        out:insert(pandoc.Header(1, "DESCRIPTION"))
        described = true
      end
      out:insert(block)
    end
  end
  return out
end

function Pandoc(doc)
  local name = pandoc.utils.stringify(doc.meta.name)
  doc.blocks = arrange(doc.blocks, name)
  doc = doc:walk({
    Link = name_target,
    Table = define_words,
    Code = function(code) return strong(code.text) end,
    CodeBlock = print_code,
  })
  doc.meta.title = name:upper()
  doc.meta.section = name:match("^lib") and "3" or "1"
  return doc
end
