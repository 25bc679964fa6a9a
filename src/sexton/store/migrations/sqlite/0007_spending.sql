-- The row of the session from which a tree of subagents and compressions grew; NULL: its own, or not looked for yet.
ALTER TABLE sessions ADD COLUMN root INTEGER;
ALTER TABLE sessions ADD COLUMN guard TEXT;         -- JSON: how the tools did, as of the last turn

-- What is counted: what for, of whom, in which unit and period.
CREATE TABLE counters (
    ref        INTEGER PRIMARY KEY,
    scope      TEXT NOT NULL CHECK (scope IN ('session', 'tree', 'source', 'day')),
    subject    TEXT NOT NULL,                        -- the row of a session, of a tree's root, or a source
    unit       TEXT NOT NULL,
    period     TEXT NOT NULL,                        -- '' for ever, a day as 2026-12-31, a rolling span as 3600s
    cap        INTEGER,                              -- a limit of its own, set by a person
    action     TEXT,                                -- what happens there
    used_at    INTEGER NOT NULL,
    warned_at  INTEGER,                              -- when and about which limit people were told
    warned     INTEGER,
    stopped_at INTEGER,
    UNIQUE (scope, subject, unit, period),
    CHECK ((cap IS NULL) = (action IS NULL))
) STRICT;

CREATE INDEX counters_caps ON counters (scope, subject) WHERE cap IS NOT NULL;
CREATE INDEX counters_used ON counters (used_at);

-- What was spent, slice by slice of a rolling span; what has no slices has one, at 0.
CREATE TABLE slices (
    counter  INTEGER NOT NULL REFERENCES counters (ref) ON DELETE CASCADE,
    start    INTEGER NOT NULL,
    spent    INTEGER NOT NULL DEFAULT 0,
    reserved INTEGER NOT NULL DEFAULT 0,             -- granted and not settled yet
    added    INTEGER NOT NULL DEFAULT 0,             -- allowed by a person beyond the limit
    PRIMARY KEY (counter, start)
) STRICT, WITHOUT ROWID;

CREATE INDEX slices_start ON slices (start);

-- Who holds what of which slices; what a dead worker held was given back.
CREATE TABLE grants (
    ref      INTEGER PRIMARY KEY AUTOINCREMENT,     -- never used again: whoever settles late must not meet another's
    session  INTEGER NOT NULL,
    worker   TEXT NOT NULL,
    made_at  INTEGER NOT NULL,
    held     TEXT NOT NULL,                         -- JSON: counter, start, unit and amount of each
    freed_at INTEGER
) STRICT;

CREATE INDEX grants_worker ON grants (worker) WHERE freed_at IS NULL;
CREATE INDEX grants_freed  ON grants (freed_at) WHERE freed_at IS NOT NULL;
