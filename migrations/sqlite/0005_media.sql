-- Version 5: the media store. The files lie beside the database, under the name in id.
-- source: a hash of where the file came from, so that it is not fetched twice; empty if it came from nowhere.

CREATE TABLE media (
    id           TEXT PRIMARY KEY,
    conversation INTEGER NOT NULL,
    source       TEXT NOT NULL,
    kind         TEXT NOT NULL,
    mime         TEXT NOT NULL,
    name         TEXT,
    size         INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX media_source ON media (source) WHERE source <> '';
CREATE INDEX media_expires ON media (expires_at);
CREATE INDEX media_conversation ON media (conversation);
