-- Times are microseconds since 1970 in UTC. Flags are 0 or 1. Content is bytes.

CREATE TABLE ledger (
    only_row       INTEGER PRIMARY KEY CHECK (only_row = 1),
    id             TEXT    NOT NULL,             -- binds plans to the ledger they were made for
    schema_version INTEGER NOT NULL,
    oldest_reader  INTEGER NOT NULL              -- the oldest schema version whose code may still use it
) STRICT;

CREATE TABLE policies (
    serial       INTEGER PRIMARY KEY,            -- the highest is in force
    digest       TEXT    NOT NULL,
    text         TEXT    NOT NULL,
    actor        TEXT    NOT NULL,
    published_at INTEGER NOT NULL
) STRICT;

CREATE TABLE homes (
    ref         INTEGER PRIMARY KEY,             -- 1 is the native home
    name        TEXT    NOT NULL UNIQUE,
    kind        TEXT    NOT NULL,
    path        TEXT,
    host        TEXT,
    act         INTEGER NOT NULL DEFAULT 0 CHECK (act IN (0, 1)),
    mark        TEXT,                            -- JSON: from where the next look goes on
    rules       TEXT,                            -- the home's own policies; NULL: none of its own
    observed_at INTEGER,
    UNIQUE (host, path)
) STRICT;

CREATE TABLE sessions (
    ref              INTEGER PRIMARY KEY,
    home             INTEGER NOT NULL REFERENCES homes (ref),
    id               TEXT    NOT NULL,
    key              TEXT,
    source           TEXT    NOT NULL,
    chat_type        TEXT,
    job              TEXT,
    parent           TEXT,                       -- an id of the same home; may outlive its row
    relation         TEXT    CHECK (relation IN ('compression', 'subagent', 'branch', 'fork')),
    state            TEXT    NOT NULL DEFAULT 'open'
                     CHECK (state IN ('open', 'ended', 'finalized', 'archived', 'trashed', 'purged')),
    epoch            INTEGER NOT NULL DEFAULT 1, -- the fence: raised by revival and adoption only
    started_at       INTEGER NOT NULL,
    active_at        INTEGER NOT NULL,           -- last message; never moved by a heartbeat
    due_at           INTEGER,                    -- an index for the policies, not a verdict
    policy_serial    INTEGER NOT NULL DEFAULT 0, -- the policies due_at was computed under
    ended_at         INTEGER,
    end_reason       TEXT,
    last_seq         INTEGER NOT NULL DEFAULT 0,
    message_count    INTEGER NOT NULL DEFAULT 0, -- real rows
    byte_count       INTEGER NOT NULL DEFAULT 0,
    turn_count       INTEGER NOT NULL DEFAULT 0,
    input_tokens     INTEGER NOT NULL DEFAULT 0,
    output_tokens    INTEGER NOT NULL DEFAULT 0,
    cached_tokens    INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens INTEGER NOT NULL DEFAULT 0,
    cost_micros      INTEGER NOT NULL DEFAULT 0, -- millionths of a dollar
    title            TEXT,
    preview          TEXT,
    pinned           INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    human_touched    INTEGER NOT NULL DEFAULT 0 CHECK (human_touched IN (0, 1)),
    errored          INTEGER NOT NULL DEFAULT 0 CHECK (errored IN (0, 1)),
    warned           INTEGER NOT NULL DEFAULT 0, -- bits: 1 messages, 2 bytes, 4 turns, 8 age
    UNIQUE (home, id),
    CHECK ((state = 'open') = (ended_at IS NULL))
) STRICT;

CREATE UNIQUE INDEX sessions_current ON sessions (key) WHERE home = 1 AND state = 'open' AND key IS NOT NULL;
CREATE INDEX sessions_recent ON sessions (home, active_at, ref);
CREATE INDEX sessions_due    ON sessions (due_at, ref) WHERE state = 'open' AND due_at IS NOT NULL;
CREATE INDEX sessions_stale  ON sessions (home, policy_serial, ref) WHERE state = 'open';
CREATE INDEX sessions_parent ON sessions (home, parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_open   ON sessions (home, id) WHERE state = 'open';

CREATE TABLE messages (
    ref     INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (ref),
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    role    TEXT    NOT NULL,
    is_text INTEGER NOT NULL CHECK (is_text IN (0, 1)), -- text as given, else JSON
    content BLOB,                                -- UTF-8 with surrogates passed through
    extra   BLOB,                                -- JSON
    UNIQUE (session, seq)
) STRICT;

CREATE TABLE workers (
    id            TEXT    PRIMARY KEY,
    host          TEXT    NOT NULL,
    boot_id       TEXT    NOT NULL,
    pid           INTEGER NOT NULL,
    started       INTEGER NOT NULL,              -- kernel start tick of the process
    inode         INTEGER,                       -- pidfs, unique in a boot
    pid_namespace INTEGER,
    uid           INTEGER NOT NULL,
    kind          TEXT    NOT NULL,
    version       TEXT    NOT NULL,
    beat          INTEGER NOT NULL DEFAULT 0,
    registered_at INTEGER NOT NULL,
    left_at       INTEGER,
    swept_at      INTEGER,                        -- a keeper's last finished sweep
    sweeps_every  INTEGER NOT NULL DEFAULT 0     -- microseconds from one sweep to the next
) STRICT;

CREATE INDEX workers_swept ON workers (swept_at) WHERE swept_at IS NOT NULL;
CREATE INDEX workers_left  ON workers (left_at);

CREATE TABLE holders (
    session    INTEGER NOT NULL REFERENCES sessions (ref),
    worker     TEXT    NOT NULL REFERENCES workers (id),
    joined_at  INTEGER NOT NULL,
    turns      INTEGER NOT NULL DEFAULT 0,       -- turns running now
    busy_since INTEGER,
    PRIMARY KEY (session, worker)
) STRICT, WITHOUT ROWID;

CREATE INDEX holders_worker ON holders (worker);

CREATE TABLE journal (
    ref         INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    actor       TEXT    NOT NULL,
    receipt     TEXT,                            -- the apply it belongs to
    home        TEXT,
    session     TEXT,
    action      TEXT    NOT NULL,
    result      TEXT    NOT NULL,
    reason      TEXT    NOT NULL,
    explanation TEXT    NOT NULL
) STRICT;

CREATE INDEX journal_session ON journal (home, session, ref) WHERE session IS NOT NULL;
CREATE INDEX journal_receipt ON journal (receipt) WHERE receipt IS NOT NULL;

INSERT INTO homes (ref, name, kind, act) VALUES (1, 'native', 'native', 1);
