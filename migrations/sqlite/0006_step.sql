-- Version 6: what a turn did with tools that are not safe to repeat. A row is written before such a tool runs, and
-- again when its result is known; with the end of the turn the rows go.

-- content: as in history.parts, versioned JSON.
CREATE TABLE step (
    turn    INTEGER NOT NULL,
    step    INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (turn, step)
) STRICT, WITHOUT ROWID;
