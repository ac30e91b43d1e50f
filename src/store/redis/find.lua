-- Finds entries. ARGV: the prefix, the kind of the question, the most entries, what it is about as JSON. Gives for each its
-- number, its words, when it was made, and how it was recalled. It changes nothing.
local prefix, kind, limit = ARGV[1], ARGV[2], tonumber(ARGV[3])
local about = cjson.decode(ARGV[4])

local function key(...) return prefix .. table.concat({...}, ':') end

-- Numbers of entries, the newest first, each once.
local function newest(ids)
    table.sort(ids, function(one, other) return tonumber(one) > tonumber(other) end)
    local single = {}
    for _, id in ipairs(ids) do
        if id ~= single[#single] then single[#single + 1] = id end
    end
    return single
end

local function of_sets(sets)
    local ids = {}
    for _, set in ipairs(sets) do
        for _, id in ipairs(redis.call('ZREVRANGE', set, 0, limit - 1)) do ids[#ids + 1] = id end
    end
    return newest(ids)
end

local function places(name)
    local sets = {}
    for _, place in ipairs(about.places) do sets[#sets + 1] = key(name, place) end
    return sets
end

local function standing()
    local ranked = {}
    for _, set in ipairs(places('standing')) do
        local all = redis.call('ZRANGE', set, 0, -1, 'WITHSCORES')
        for at = 1, #all, 2 do ranked[#ranked + 1] = { all[at], tonumber(all[at + 1]) } end
    end
    table.sort(ranked, function(one, other)
        if one[2] ~= other[2] then return one[2] < other[2] end
        return tonumber(one[1]) > tonumber(other[1])
    end)
    local ids = {}
    for _, one in ipairs(ranked) do
        if #ids >= limit then break end
        local is = redis.call('HMGET', key('entry', one[1]), 'archived', 'daily', 'made')
        local old = is[2] == '1' and tonumber(is[3]) < tonumber(about.since)
        if is[1] == '0' and not old then ids[#ids + 1] = one[1] end
    end
    return ids
end

local function words()
    local shared, ids = {}, {}
    for _, place in ipairs(about.places) do
        for _, word in ipairs(about.words) do
            for _, id in ipairs(redis.call('SMEMBERS', key('word', place, word))) do
                if not shared[id] then
                    shared[id] = 0
                    ids[#ids + 1] = id
                end
                shared[id] = shared[id] + 1
            end
        end
    end
    table.sort(ids, function(one, other)
        if shared[one] ~= shared[other] then return shared[one] > shared[other] end
        return tonumber(one) > tonumber(other)
    end)
    return ids
end

local function embedded()
    local ids = {}
    for _, set in ipairs(places('embedded')) do
        for _, id in ipairs(redis.call('SMEMBERS', set)) do
            if redis.call('HGET', key('entry', id), 'model') == about.model then ids[#ids + 1] = id end
        end
    end
    return newest(ids)
end

local ids
if kind == 'places' then
    ids = of_sets(places('place'))
elseif kind == 'about' then
    local sets = places('place')
    sets[#sets + 1] = key('person', about.person)
    ids = of_sets(sets)
elseif kind == 'standing' then
    ids = standing()
elseif kind == 'words' then
    ids = words()
elseif kind == 'embedded' then
    ids = embedded()
else
    ids = newest(about.ids)
end

local found = {}
for _, id in ipairs(ids) do
    if #found >= limit then break end
    local is = redis.call('HMGET', key('entry', id), 'words', 'made', 'seen')
    if is[1] then found[#found + 1] = { id, is[1], is[2], is[3] } end
end
return found
