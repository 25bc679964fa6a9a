-- The background processes of sessions. A row outlives its process for a week and its session if need be.
CREATE TABLE processes (
    ref           INTEGER PRIMARY KEY,
    session       INTEGER REFERENCES sessions (ref) ON DELETE SET NULL,
    home          TEXT    NOT NULL,              -- the session's name, also when it is gone
    session_id    TEXT    NOT NULL,
    task          TEXT,
    kind          TEXT    NOT NULL CHECK (kind IN ('job', 'server', 'mcp', 'browser', 'unknown')),
    host          TEXT    NOT NULL,
    boot_id       TEXT    NOT NULL,
    pid           INTEGER NOT NULL,              -- 0: about to be started, known by its tag only
    started       INTEGER NOT NULL,              -- kernel start tick of the process
    inode         INTEGER,                       -- pidfs, unique in a boot
    pid_namespace INTEGER,
    uid           INTEGER NOT NULL,
    tag           TEXT,                           -- 128 bits in the environment of all that it starts
    command       TEXT    NOT NULL,              -- without what looks like a secret
    cwd           TEXT    NOT NULL,
    started_at    INTEGER NOT NULL,
    expires_at    INTEGER,                       -- holds no reset from then on; NULL: by policy
    registered_by TEXT,                           -- a worker; may outlive its row
    kept          INTEGER NOT NULL DEFAULT 0 CHECK (kept IN (0, 1)), -- not to be stopped by policy
    told_at       INTEGER,                       -- people were told of it since
    ended_at      INTEGER,
    ended_how     TEXT,
    doing         TEXT    NOT NULL DEFAULT 'unknown', -- what its own host last saw it do
    judged_at     INTEGER,
    figures       TEXT,                           -- JSON: what that rests on
    CHECK ((ended_at IS NULL) = (ended_how IS NULL))
) STRICT;

CREATE UNIQUE INDEX processes_alive ON processes (host, boot_id, pid, started) WHERE ended_at IS NULL AND pid > 0;
CREATE INDEX processes_running ON processes (ref) WHERE ended_at IS NULL;
CREATE INDEX processes_session ON processes (session);
CREATE INDEX processes_ended   ON processes (ended_at) WHERE ended_at IS NOT NULL;
