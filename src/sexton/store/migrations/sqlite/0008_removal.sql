-- Files outside of the ledger that hold what was removed from it. A row is written before its file, and goes after it.
CREATE TABLE vault (
    ref        INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,         -- of the file; tells nothing of what is in it
    kind       TEXT    NOT NULL CHECK (kind IN ('archive', 'trash')),
    holds      TEXT    NOT NULL CHECK (holds IN ('sessions', 'files')), -- files: their sessions stayed
    home       INTEGER NOT NULL REFERENCES homes (ref),
    source     TEXT    NOT NULL,                -- of its sessions; of a tree, that of its root
    host       TEXT    NOT NULL,                -- the machine the file is on
    place      TEXT    NOT NULL,                -- the directory it was written to
    state      TEXT    NOT NULL CHECK (state IN ('writing', 'clearing', 'kept', 'restoring', 'removing')),
    worker     TEXT,                             -- who is at it
    receipt    TEXT    NOT NULL,                -- the apply that removed it
    made_at    INTEGER NOT NULL,
    expires_at INTEGER,                          -- trash may be emptied from then on
    bytes      INTEGER NOT NULL DEFAULT 0,      -- what was written, compared whenever the file is read
    raw_bytes  INTEGER NOT NULL DEFAULT 0,
    sha256     TEXT    NOT NULL DEFAULT '',
    sessions   INTEGER NOT NULL DEFAULT 0,
    messages   INTEGER NOT NULL DEFAULT 0,
    files      INTEGER NOT NULL DEFAULT 0,
    CHECK ((state = 'kept') = (worker IS NULL))
) STRICT;

CREATE INDEX vault_receipt    ON vault (receipt);
CREATE INDEX vault_unfinished ON vault (host, ref) WHERE state <> 'kept';
CREATE INDEX vault_expiring   ON vault (host, expires_at) WHERE state = 'kept' AND expires_at IS NOT NULL;

-- A session that was removed keeps its row; where the rest of it is.
ALTER TABLE sessions ADD COLUMN vault INTEGER REFERENCES vault (ref);

CREATE INDEX sessions_vault ON sessions (vault, ref) WHERE vault IS NOT NULL;
CREATE INDEX sessions_over  ON sessions (home, message_count, active_at, ref) WHERE state IN ('ended', 'finalized');

-- How many sessions were removed without a person's word.
CREATE TABLE removal_days (
    home     INTEGER NOT NULL,
    day      TEXT    NOT NULL,                   -- as 2026-12-31, in UTC
    sessions INTEGER NOT NULL,
    PRIMARY KEY (home, day)
) STRICT, WITHOUT ROWID;
