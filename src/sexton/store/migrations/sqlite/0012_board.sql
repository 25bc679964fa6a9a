-- What people look at: sessions by state and source, by when they were started, and those that are over by size.
-- Every row is above 0; only statements that say so use these, and all others are planned as before.
CREATE INDEX sessions_states  ON sessions (home, state, source) WHERE ref > 0;
CREATE INDEX sessions_started ON sessions (home, started_at, ref) WHERE ref > 0;
CREATE INDEX sessions_size    ON sessions (home, byte_count, ref) WHERE state <> 'open';

-- What keepers counted over time, beside how open sessions stood.
CREATE TABLE figures (
    name  TEXT    NOT NULL,
    at    INTEGER NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (name, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX figures_at ON figures (at);
