-- Does all changes. ARGV: the prefix, the changes as JSON. Gives the number of each entry that was put, 0 for one that is
-- gone. An entry is the hash entry:ID; beside it stand the sets by which it is found, and what goes leaves all of them.
local prefix = ARGV[1]

local function key(...) return prefix .. table.concat({...}, ':') end

local function drop(id)
    local entry = key('entry', id)
    local is = redis.call('HMGET', entry, 'place', 'name', 'tokens', 'person', 'conversation')
    local place = is[1]
    if not place then return end
    redis.call('ZREM', key('place', place), id)
    redis.call('ZREM', key('standing', place), id)
    redis.call('SREM', key('embedded', place), id)
    if redis.call('EXISTS', key('place', place)) == 0 then
        redis.call('ZREM', key('places'), place)
    end
    if is[2] ~= '' and redis.call('HGET', key('names', place), is[2]) == id then
        redis.call('HDEL', key('names', place), is[2])
    end
    for word in string.gmatch(is[3], '%S+') do
        redis.call('SREM', key('word', place, word), id)
    end
    redis.call('ZREM', key('person', is[4]), id)
    redis.call('ZREM', key('conversation', is[5]), id)
    redis.call('DEL', entry)
end

local function keep(id, row)
    local place = row.place
    redis.call('HSET', key('entry', id), 'place', place, 'name', row.name, 'tokens', row.tokens,
        'person', row.person, 'conversation', row.conversation, 'words', row.words, 'made', row.made,
        'seen', row.seen, 'archived', row.archived, 'daily', row.daily, 'model', row.model)
    redis.call('ZADD', key('places'), 0, place)
    redis.call('ZADD', key('place', place), id, id)
    if row.rank ~= '' then redis.call('ZADD', key('standing', place), row.rank, id) end
    if row.model ~= '' then redis.call('SADD', key('embedded', place), id) end
    if row.name ~= '' then redis.call('HSET', key('names', place), row.name, id) end
    for word in string.gmatch(row.tokens, '%S+') do
        redis.call('SADD', key('word', place, word), id)
    end
    redis.call('ZADD', key('person', row.person), id, id)
    redis.call('ZADD', key('conversation', row.conversation), id, id)
end

local function put(row)
    local id = row.id
    if id == '0' then
        local known = row.name ~= '' and redis.call('HGET', key('names', row.place), row.name)
        if not known then
            id = string.format('%.0f', redis.call('INCR', key('last')))
            keep(id, row)
            return id
        end
        id = known
    end
    local made = redis.call('HGET', key('entry', id), 'made')
    if not made then return '0' end
    row.made = made
    drop(id)
    keep(id, row)
    return id
end

local put_ids = {}
for _, change in ipairs(cjson.decode(ARGV[2])) do
    if change['do'] == 'put' then
        put_ids[#put_ids + 1] = put(change)
    elseif change['do'] == 'recalled' then
        local entry = key('entry', change.id)
        if redis.call('EXISTS', entry) == 1 then
            redis.call('HSET', entry, 'seen', change.seen, 'archived', change.archived)
        end
    elseif change['do'] == 'remove' then
        for _, id in ipairs(change.ids) do drop(id) end
    elseif change['do'] == 'clear' then
        local from = {}
        for _, place in ipairs(change.places) do from[#from + 1] = key('place', place) end
        if change.person then from[#from + 1] = key('person', change.person) end
        if change.conversation then from[#from + 1] = key('conversation', change.conversation) end
        for _, set in ipairs(from) do
            for _, id in ipairs(redis.call('ZRANGE', set, 0, -1)) do drop(id) end
        end
    end
end
return put_ids
