-- Version 2: an earlier part of a reply was in doubt and the others followed. Its last part then ends the
-- reply as unknown, also when another process sends it.

ALTER TABLE outbox ADD COLUMN doubtful INTEGER NOT NULL DEFAULT 0;
