-- Version 3: what waits until somebody says yes or no. id: the turn that asks. answered_in: the turn that answered.

CREATE TABLE pending (
    id           BIGINT PRIMARY KEY,
    conversation BIGINT NOT NULL,
    asker        BIGINT NOT NULL,
    kind         SMALLINT NOT NULL,
    answerer     TEXT NOT NULL,
    four_eyes    BOOLEAN NOT NULL,
    action       TEXT NOT NULL,
    hash         TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT NOT NULL,
    state        SMALLINT NOT NULL DEFAULT 0,
    answer       TEXT,
    answered_by  BIGINT NOT NULL DEFAULT 0,
    answered_in  BIGINT NOT NULL DEFAULT 0,
    answered_at  BIGINT,
    reason       TEXT
);

CREATE INDEX pending_open ON pending (expires_at) WHERE state = 0;
