-- Version 11: what is remembered over conversations.
-- conversation, person: whose it is; a person's own (0, person), a conversation's (conversation, 0), everybody's (0, 0).
-- name: an entry that is replaced by its name. tokens: the words of content as they are searched, parted by blanks.
-- relevance: how well it fitted when it was recalled, in thousandths, the last ten, oldest first, parted by blanks.
-- from_*: where it comes from. vector: base64 of one signed byte for each dimension, by the model in embedded_by.

CREATE TABLE memory (
    id                INTEGER PRIMARY KEY,
    conversation      INTEGER NOT NULL,
    person            INTEGER NOT NULL,
    kind              INTEGER NOT NULL,
    tier              INTEGER NOT NULL,
    name              TEXT,
    content           TEXT NOT NULL,
    tokens            TEXT NOT NULL,
    importance        INTEGER NOT NULL,
    relevance         TEXT NOT NULL,
    recalls           INTEGER NOT NULL,
    archived          INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    recalled_at       INTEGER NOT NULL,
    source            INTEGER NOT NULL,
    from_conversation INTEGER NOT NULL,
    from_person       INTEGER NOT NULL,
    from_turn         INTEGER NOT NULL,
    embedded_by       TEXT,
    vector            TEXT
) STRICT;

CREATE INDEX memory_place ON memory (conversation, person, tier);
CREATE INDEX memory_from_conversation ON memory (from_conversation);
CREATE INDEX memory_from_person ON memory (from_person);
CREATE UNIQUE INDEX memory_name ON memory (conversation, person, name) WHERE name IS NOT NULL;

-- The tokens are plain words and pairs of neighbours in Chinese and the like: the index only has to part them.
CREATE VIRTUAL TABLE memory_index USING fts5(
    tokens, content = 'memory', content_rowid = 'id', tokenize = 'unicode61 remove_diacritics 0');

-- What is deleted is not left behind in the index.
INSERT INTO memory_index (memory_index, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER memory_added AFTER INSERT ON memory BEGIN
    INSERT INTO memory_index (rowid, tokens) VALUES (new.id, new.tokens);
END;

CREATE TRIGGER memory_removed AFTER DELETE ON memory BEGIN
    INSERT INTO memory_index (memory_index, rowid, tokens) VALUES ('delete', old.id, old.tokens);
END;

CREATE TRIGGER memory_changed AFTER UPDATE OF tokens ON memory BEGIN
    INSERT INTO memory_index (memory_index, rowid, tokens) VALUES ('delete', old.id, old.tokens);
    INSERT INTO memory_index (rowid, tokens) VALUES (new.id, new.tokens);
END;
