-- Version 3: what waits until somebody says yes or no. id: the turn that asks. answered_in: the turn that answered.

CREATE TABLE pending (
    id           INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,
    asker        INTEGER NOT NULL,
    kind         INTEGER NOT NULL,
    answerer     TEXT NOT NULL,
    four_eyes    INTEGER NOT NULL,
    action       TEXT NOT NULL,
    hash         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER NOT NULL,
    state        INTEGER NOT NULL DEFAULT 0,
    answer       TEXT,
    answered_by  INTEGER NOT NULL DEFAULT 0,
    answered_in  INTEGER NOT NULL DEFAULT 0,
    answered_at  INTEGER,
    reason       TEXT
) STRICT;

CREATE INDEX pending_open ON pending (expires_at) WHERE state = 0;
