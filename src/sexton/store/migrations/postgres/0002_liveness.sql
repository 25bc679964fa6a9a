ALTER TABLE workers ADD COLUMN dead_at BIGINT;    -- declared dead: what it held and claimed is free
ALTER TABLE workers ADD COLUMN evidence TEXT;      -- why it was

CREATE INDEX workers_present ON workers (registered_at, id) WHERE left_at IS NULL AND dead_at IS NULL;

ALTER TABLE holders ADD COLUMN progress_at BIGINT; -- last sign of progress of a running turn

-- What each sweep counted, so that a leak rate can be shown over time.
CREATE TABLE samples (
    home     TEXT    NOT NULL,
    at       BIGINT NOT NULL,
    open     BIGINT NOT NULL,
    live     BIGINT NOT NULL,
    waiting  BIGINT NOT NULL,
    leaked   BIGINT NOT NULL,
    unproven BIGINT NOT NULL,
    PRIMARY KEY (home, at)
);

-- Reaps that were only recorded, because their home is observed, and whether activity proved them wrong.
CREATE TABLE shadow_reaps (
    home            TEXT    NOT NULL,
    session         TEXT    NOT NULL,
    recorded_at     BIGINT NOT NULL,
    active_at       BIGINT NOT NULL,
    reason          TEXT    NOT NULL,
    contradicted_at BIGINT,
    PRIMARY KEY (home, session, active_at)
);
