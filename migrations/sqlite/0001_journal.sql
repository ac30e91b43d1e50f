-- Version 1: journal, history, settings and audit. A released file is never edited: add the next number.
-- Times are milliseconds since 1970 in UTC. Codes are the numbers in src/store/sqlite/code.rs.
-- Ids of inbox, outbox, history and audit come from one counter of the writer and only grow.

CREATE TABLE meta (
    key   TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE account (
    id       INTEGER PRIMARY KEY,
    platform TEXT NOT NULL,
    name     TEXT NOT NULL,
    bot      TEXT,
    cursor   TEXT,
    UNIQUE (platform, name)
) STRICT;

CREATE TABLE conversation (
    id  INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE person (
    id  INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE
) STRICT;

-- No state: a message has ended when outbox or ended has a row of the same id.
CREATE TABLE inbox (
    id           INTEGER PRIMARY KEY,
    account      INTEGER NOT NULL,
    event        TEXT,
    event_until  INTEGER NOT NULL,
    conversation INTEGER NOT NULL,
    person       INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    route        INTEGER NOT NULL,
    priority     INTEGER NOT NULL,
    shown        INTEGER NOT NULL,
    body         TEXT NOT NULL,
    UNIQUE (account, event)
) STRICT;

CREATE INDEX inbox_shown ON inbox (conversation, id) WHERE shown = 1;

CREATE TABLE ended (
    id     INTEGER PRIMARY KEY,
    state  INTEGER NOT NULL,
    reason TEXT,
    turn   INTEGER,
    at     INTEGER NOT NULL
) STRICT;

CREATE TABLE turn (
    id         INTEGER PRIMARY KEY,
    attempt    INTEGER NOT NULL,
    state      INTEGER NOT NULL,
    reason     TEXT,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER
) STRICT;

-- message: the platform's ids of the parts that were sent, one a line. process: which start of the
-- gateway wrote the last intent, so that a part is in doubt only after that process is gone.
CREATE TABLE outbox (
    id           INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,
    turn         INTEGER,
    kind         INTEGER NOT NULL,
    state        INTEGER NOT NULL,
    part         INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    process      INTEGER NOT NULL,
    due_at       INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    shown        INTEGER NOT NULL,
    reason       TEXT,
    message      TEXT,
    body         TEXT NOT NULL
) STRICT;

CREATE INDEX outbox_shown ON outbox (conversation, id) WHERE shown = 1;

-- person: 0 is the conversation's own scope, -1 holds its ambient messages.
CREATE TABLE history (
    conversation INTEGER NOT NULL,
    person       INTEGER NOT NULL,
    id           INTEGER NOT NULL,
    role         INTEGER NOT NULL,
    turn         INTEGER NOT NULL,
    at           INTEGER NOT NULL,
    parts        TEXT NOT NULL,
    PRIMARY KEY (conversation, person, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX history_at ON history (at);
CREATE INDEX history_reset ON history (conversation, person, id) WHERE role = 3;

CREATE TABLE setting (
    conversation INTEGER NOT NULL,
    person       INTEGER NOT NULL,
    key          TEXT NOT NULL,
    value        TEXT NOT NULL,
    PRIMARY KEY (conversation, person, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
    id           INTEGER PRIMARY KEY,
    at           INTEGER NOT NULL,
    event        TEXT NOT NULL,
    operator     INTEGER NOT NULL,
    target       TEXT NOT NULL,
    conversation INTEGER NOT NULL,
    turn         INTEGER NOT NULL,
    details      TEXT NOT NULL
) STRICT;
