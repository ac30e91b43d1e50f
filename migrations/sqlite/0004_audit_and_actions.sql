-- Version 4: the audit log is a chain, and the outbox holds actions. The hash of a record covers the record before it and all of its own fields, the
-- personal ones (operator, target, details) through a salted hash of theirs, so that they can be removed without
-- breaking the chain.

-- writer: the start of the gateway that wrote the record, 0 for those of before. result: done, denied or failed; empty
-- for those of before. salt: NULL once the personal fields are removed. All hashes are hexadecimal SHA-256; those of
-- before are computed when the database is opened.
ALTER TABLE audit ADD COLUMN writer   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE audit ADD COLUMN seq      INTEGER NOT NULL DEFAULT 0;
ALTER TABLE audit ADD COLUMN result   TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN salt     TEXT;
ALTER TABLE audit ADD COLUMN personal TEXT NOT NULL DEFAULT '';
ALTER TABLE audit ADD COLUMN hash     TEXT NOT NULL DEFAULT '';

CREATE INDEX audit_conversation ON audit (conversation, id);

-- One row: the newest record of the chain.
CREATE TABLE audit_head (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    seq  INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;

-- subject: what an action, which is a row of kind 1, is about, so that a change of mind finds it.
ALTER TABLE outbox ADD COLUMN subject TEXT;

CREATE INDEX outbox_action ON outbox (due_at) WHERE kind = 1 AND state < 2;
