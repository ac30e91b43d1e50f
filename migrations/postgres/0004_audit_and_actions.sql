-- Version 4: the audit log is a chain, and the outbox holds actions. The hash of a record covers the record before it and all of its own fields, the
-- personal ones (operator, target, details) through a salted hash of theirs, so that they can be removed without
-- breaking the chain.

-- A program of the version before would write records beside the chain: it writes nothing more.
UPDATE process SET state = 3 WHERE state < 2;

-- writer: the start of the gateway that wrote the record, 0 for those of before. result: done, denied or failed; empty
-- for those of before. salt: NULL once the personal fields are removed. All hashes are hexadecimal SHA-256; those of
-- before are computed when the database is opened.
ALTER TABLE audit
    ADD COLUMN writer   BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN seq      BIGINT NOT NULL DEFAULT 0,
    ADD COLUMN result   TEXT NOT NULL DEFAULT '',
    ADD COLUMN salt     TEXT,
    ADD COLUMN personal TEXT NOT NULL DEFAULT '',
    ADD COLUMN hash     TEXT NOT NULL DEFAULT '';

CREATE INDEX audit_conversation ON audit (conversation, id);

-- One row: the newest record of the chain.
CREATE TABLE audit_head (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    seq  BIGINT NOT NULL,
    hash TEXT NOT NULL
);

-- subject: what an action, which is a row of kind 1, is about, so that a change of mind finds it.
ALTER TABLE outbox ADD COLUMN subject TEXT COLLATE "C";

CREATE INDEX outbox_action ON outbox (due_at) WHERE kind = 1 AND state < 2;
