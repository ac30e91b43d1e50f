-- Version 5: the media store. The files lie in the data folder of the process that fetched them, under the name in id.
-- source: a hash of where the file came from, so that it is not fetched twice; empty if it came from nowhere.

CREATE TABLE media (
    id           TEXT COLLATE "C" PRIMARY KEY,
    conversation BIGINT NOT NULL,
    source       TEXT COLLATE "C" NOT NULL,
    kind         TEXT NOT NULL,
    mime         TEXT NOT NULL,
    name         TEXT,
    size         BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL
);

CREATE INDEX media_source ON media (source) WHERE source <> '';
CREATE INDEX media_expires ON media (expires_at);
CREATE INDEX media_conversation ON media (conversation);
