ALTER TABLE workers ADD COLUMN dead_at INTEGER;    -- declared dead: what it held and claimed is free
ALTER TABLE workers ADD COLUMN evidence TEXT;      -- why it was

CREATE INDEX workers_present ON workers (registered_at, id) WHERE left_at IS NULL AND dead_at IS NULL;

ALTER TABLE holders ADD COLUMN progress_at INTEGER; -- last sign of progress of a running turn

-- What each sweep counted, so that a leak rate can be shown over time.
CREATE TABLE samples (
    home     TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    open     INTEGER NOT NULL,
    live     INTEGER NOT NULL,
    waiting  INTEGER NOT NULL,
    leaked   INTEGER NOT NULL,
    unproven INTEGER NOT NULL,
    PRIMARY KEY (home, at)
) STRICT;

-- Reaps that were only recorded, because their home is observed, and whether activity proved them wrong.
CREATE TABLE shadow_reaps (
    home            TEXT    NOT NULL,
    session         TEXT    NOT NULL,
    recorded_at     INTEGER NOT NULL,
    active_at       INTEGER NOT NULL,
    reason          TEXT    NOT NULL,
    contradicted_at INTEGER,
    PRIMARY KEY (home, session, active_at)
) STRICT;
