-- The schema of a ledger. Times are microseconds since 1970 in UTC. Flags are 0 or 1. Content is bytes.
-- A released migration never changes: what comes later is a file of its own.

CREATE TABLE ledger (
    only_row       INTEGER PRIMARY KEY CHECK (only_row = 1),
    id             TEXT NOT NULL,    -- binds plans to the ledger they were made for
    schema_version INTEGER NOT NULL,
    oldest_reader  INTEGER NOT NULL, -- the oldest schema version whose code may still use it
    -- The key that signs plans, in hexadecimal.
    plan_key       TEXT
) STRICT;

CREATE TABLE policies (
    serial       INTEGER PRIMARY KEY, -- the highest is in force
    digest       TEXT NOT NULL,
    text         TEXT NOT NULL,
    actor        TEXT NOT NULL,
    published_at INTEGER NOT NULL
) STRICT;

CREATE TABLE homes (
    ref         INTEGER PRIMARY KEY, -- 1 is the native home
    name        TEXT NOT NULL UNIQUE,
    kind        TEXT NOT NULL,
    path        TEXT,
    host        TEXT,
    act         INTEGER NOT NULL DEFAULT 0 CHECK (act IN (0, 1)),
    mark        TEXT,                -- JSON: from where the next look goes on
    rules       TEXT,                -- the home's own policies; NULL: none of its own
    observed_at INTEGER,
    attached_at INTEGER,             -- what had ended before owes nothing
    UNIQUE (host, path)
) STRICT;

-- Files outside of the ledger that hold what was removed from it. A row is written before its file, and goes after it.
CREATE TABLE vault (
    ref        INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,           -- of the file; tells nothing of what is in it
    kind       TEXT NOT NULL CHECK (kind IN ('archive', 'trash')),
    holds      TEXT NOT NULL CHECK (holds IN ('sessions', 'files')), -- files: their sessions stayed
    home       INTEGER NOT NULL REFERENCES homes (ref),
    source     TEXT NOT NULL,                  -- of its sessions; of a tree, that of its root
    host       TEXT NOT NULL,                  -- the machine the file is on
    place      TEXT NOT NULL,                  -- the directory it was written to
    state      TEXT NOT NULL CHECK (state IN ('writing', 'clearing', 'kept', 'restoring', 'removing')),
    worker     TEXT,                           -- who is at it
    receipt    TEXT NOT NULL,                  -- the apply that removed it
    made_at    INTEGER NOT NULL,
    expires_at INTEGER,                        -- trash may be emptied from then on
    bytes      INTEGER NOT NULL DEFAULT 0,     -- what was written, compared whenever the file is read
    raw_bytes  INTEGER NOT NULL DEFAULT 0,
    sha256     TEXT NOT NULL DEFAULT '',
    sessions   INTEGER NOT NULL DEFAULT 0,
    messages   INTEGER NOT NULL DEFAULT 0,
    files      INTEGER NOT NULL DEFAULT 0,
    CHECK ((state = 'kept') = (worker IS NULL))
) STRICT;

CREATE INDEX vault_receipt ON vault (receipt);
CREATE INDEX vault_unfinished ON vault (host, ref) WHERE state <> 'kept';
CREATE INDEX vault_expiring ON vault (host, expires_at) WHERE state = 'kept' AND expires_at IS NOT NULL;

CREATE TABLE sessions (
    ref              INTEGER PRIMARY KEY,
    home             INTEGER NOT NULL REFERENCES homes (ref),
    id               TEXT NOT NULL,
    key              TEXT,
    source           TEXT NOT NULL,
    chat_type        TEXT,
    job              TEXT,
    parent           TEXT,                     -- an id of the same home; may outlive its row
    relation         TEXT CHECK (relation IN ('compression', 'subagent', 'branch', 'fork')),
    state            TEXT NOT NULL DEFAULT 'open'
                     CHECK (state IN ('open', 'ended', 'finalized', 'archived', 'trashed', 'purged')),
    epoch            INTEGER NOT NULL DEFAULT 1, -- the fence: raised by revival and adoption only
    started_at       INTEGER NOT NULL,
    active_at        INTEGER NOT NULL,         -- last message; never moved by a heartbeat
    due_at           INTEGER,                  -- an index for the policies, not a verdict
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
    -- A session that was compressed goes on in a child. The child's messages up to `inherited` are copies and
    -- their summary.
    inherited        INTEGER NOT NULL DEFAULT 0,
    compress_after   INTEGER,                  -- a summary failed: nobody need try again before
    -- The row of the session from which a tree of subagents and compressions grew; NULL: its own, or not looked
    -- for yet.
    root             INTEGER,
    guard            TEXT,                     -- JSON: how the tools did, as of the last turn
    -- A session that was removed keeps its row; where the rest of it is.
    vault            INTEGER REFERENCES vault (ref),
    -- Of a session that was compressed without a summary: the last message that only it holds. It owes that
    -- itself.
    untold           INTEGER,
    -- An index over the moment of the last activity would be written anew with every message. The slot is about a
    -- second (2^20 microseconds): the index moves once in it, and within a slot the exact moment decides.
    active_slot      INTEGER NOT NULL DEFAULT 0,
    -- What only Sexton knows of a session of a foreign home: that somebody pinned it here, that a person's undo
    -- opened it and when, and how many of its messages and bytes its agent still sends.
    kept             INTEGER NOT NULL DEFAULT 0 CHECK (kept IN (0, 1)),
    spared_at        INTEGER,
    live_messages    INTEGER,
    live_bytes       INTEGER,
    UNIQUE (home, id),
    CHECK ((state = 'open') = (ended_at IS NULL))
) STRICT;

CREATE UNIQUE INDEX sessions_current ON sessions (key) WHERE home = 1 AND state = 'open' AND key IS NOT NULL;
CREATE INDEX sessions_due ON sessions (due_at, ref) WHERE state = 'open' AND due_at IS NOT NULL;
CREATE INDEX sessions_stale ON sessions (home, policy_serial, ref) WHERE state = 'open';
CREATE INDEX sessions_parent ON sessions (home, parent) WHERE parent IS NOT NULL;
CREATE INDEX sessions_open ON sessions (home, id) WHERE state = 'open';
CREATE INDEX sessions_ended ON sessions (ended_at, ref) WHERE ended_at IS NOT NULL;
CREATE INDEX sessions_vault ON sessions (vault, ref) WHERE vault IS NOT NULL;
CREATE INDEX sessions_over ON sessions (home, message_count, active_at, ref) WHERE state IN ('ended', 'finalized');
-- What is over, by source and age, and among the others of its key or job.
CREATE INDEX sessions_kept ON sessions (home, source, active_at, ref) WHERE state IN ('ended', 'finalized');
CREATE INDEX sessions_of_job ON sessions (home, job, active_at, ref)
    WHERE state IN ('ended', 'finalized') AND job IS NOT NULL;
CREATE INDEX sessions_of_key ON sessions (home, key, active_at, ref)
    WHERE state IN ('ended', 'finalized') AND key IS NOT NULL;
-- What people look at: sessions by state and source, by when they were started and when they were active last, and
-- those that are over by size. Every row is above 0: only statements that say so use these.
CREATE INDEX sessions_states ON sessions (home, state, source) WHERE ref > 0;
CREATE INDEX sessions_started ON sessions (home, started_at, ref) WHERE ref > 0;
CREATE INDEX sessions_size ON sessions (home, byte_count, ref) WHERE state <> 'open';
CREATE INDEX sessions_recent ON sessions (home, active_slot, ref) WHERE ref > 0;
-- Which session of a key came before, wherever it is kept now.
CREATE INDEX sessions_before ON sessions (key, ref) WHERE home = 1 AND state <> 'open' AND key IS NOT NULL;

CREATE TABLE messages (
    ref     INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (ref),
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    role    TEXT NOT NULL,
    is_text INTEGER NOT NULL CHECK (is_text IN (0, 1)), -- text as given, else JSON
    content BLOB,                              -- UTF-8 with surrogates passed through
    extra   BLOB,                              -- JSON
    UNIQUE (session, seq)
) STRICT;

CREATE TABLE workers (
    id            TEXT PRIMARY KEY,
    host          TEXT NOT NULL,
    boot_id       TEXT NOT NULL,
    pid           INTEGER NOT NULL,
    started       INTEGER NOT NULL,           -- kernel start tick of the process
    inode         INTEGER,                    -- pidfs, unique in a boot
    pid_namespace INTEGER,
    uid           INTEGER NOT NULL,
    kind          TEXT NOT NULL,
    version       TEXT NOT NULL,
    beat          INTEGER NOT NULL DEFAULT 0,
    registered_at INTEGER NOT NULL,
    left_at       INTEGER,
    swept_at      INTEGER,                    -- a keeper's last finished sweep
    sweeps_every  INTEGER NOT NULL DEFAULT 0, -- microseconds from one sweep to the next
    dead_at       INTEGER,                    -- declared dead: what it held and claimed is free
    evidence      TEXT                        -- why it was
) STRICT;

CREATE INDEX workers_swept ON workers (swept_at) WHERE swept_at IS NOT NULL;
CREATE INDEX workers_left ON workers (left_at);
CREATE INDEX workers_present ON workers (registered_at, id) WHERE left_at IS NULL AND dead_at IS NULL;

CREATE TABLE holders (
    session     INTEGER NOT NULL REFERENCES sessions (ref),
    worker      TEXT NOT NULL REFERENCES workers (id),
    joined_at   INTEGER NOT NULL,
    turns       INTEGER NOT NULL DEFAULT 0, -- turns running now
    busy_since  INTEGER,
    progress_at INTEGER,                    -- last sign of progress of a running turn
    PRIMARY KEY (session, worker)
) STRICT, WITHOUT ROWID;

CREATE INDEX holders_worker ON holders (worker);

CREATE TABLE journal (
    ref         INTEGER PRIMARY KEY,
    at          INTEGER NOT NULL,
    actor       TEXT NOT NULL,
    receipt     TEXT, -- the apply it belongs to
    home        TEXT,
    session     TEXT,
    action      TEXT NOT NULL,
    result      TEXT NOT NULL,
    reason      TEXT NOT NULL,
    explanation TEXT NOT NULL,
    -- A JSON array of ids, in an entry about several sessions: what is about to be done to them.
    sessions    TEXT
) STRICT;

CREATE INDEX journal_session ON journal (home, session, ref) WHERE session IS NOT NULL;
CREATE INDEX journal_receipt ON journal (receipt) WHERE receipt IS NOT NULL;
CREATE INDEX journal_at ON journal (at);

-- What each sweep counted, so that a leak rate can be shown over time.
CREATE TABLE samples (
    home     TEXT NOT NULL,
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
    home            TEXT NOT NULL,
    session         TEXT NOT NULL,
    recorded_at     INTEGER NOT NULL,
    active_at       INTEGER NOT NULL,
    reason          TEXT NOT NULL,
    contradicted_at INTEGER,
    PRIMARY KEY (home, session, active_at)
) STRICT;

-- Who owes which end-of-session work, by source; written anew with the policies it comes from.
CREATE TABLE owing (
    finalizer    TEXT NOT NULL,
    source       TEXT NOT NULL, -- '*': every source without a row of its own
    min_messages INTEGER,       -- NULL: owes nothing
    PRIMARY KEY (finalizer, source)
) STRICT, WITHOUT ROWID;

-- End-of-session work. Rows of a session live as long as it does: the highest `through` is never forgotten.
CREATE TABLE finalizations (
    ref         INTEGER PRIMARY KEY,
    home        INTEGER NOT NULL,           -- of its session, so that a keeper finds its own by an index
    session     INTEGER NOT NULL REFERENCES sessions (ref) ON DELETE CASCADE,
    finalizer   TEXT NOT NULL,
    since       INTEGER NOT NULL,           -- covers the messages after this one
    through     INTEGER NOT NULL,           -- up to this one
    state       TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running', 'done', 'dead')),
    attempts    INTEGER NOT NULL DEFAULT 0,
    claim       INTEGER NOT NULL DEFAULT 0, -- the fence: raised whenever somebody takes it on
    worker      TEXT,                       -- who has taken it on
    owed_at     INTEGER NOT NULL,
    not_before  INTEGER NOT NULL,
    finished_at INTEGER,                    -- done since
    last_error  TEXT,
    note        TEXT,                       -- what came of it, in a few words
    memo        BLOB,                       -- what must not be asked for twice, until it is done
    -- The machine on which `memo` was written: the effect may be there already, in a file that others do not see.
    memo_host   TEXT,
    -- How many workers died with it in their hands; a try counts only when its outcome is reported.
    crashes     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, finalizer, through),
    CHECK (since < through),
    CHECK ((state = 'running') = (worker IS NOT NULL))
) STRICT;

CREATE INDEX finalizations_ripe ON finalizations (home, finalizer, not_before, ref) WHERE state = 'pending';
CREATE INDEX finalizations_state ON finalizations (state, ref);

-- What finalizers have spent of their daily budgets.
CREATE TABLE finalizer_days (
    day       TEXT NOT NULL, -- as 2026-12-31, in UTC
    finalizer TEXT NOT NULL,
    calls     INTEGER NOT NULL,
    PRIMARY KEY (day, finalizer)
) STRICT, WITHOUT ROWID;

-- What people are told, once for each target; forgotten after a while, whatever became of it.
CREATE TABLE outbox (
    ref         INTEGER PRIMARY KEY,
    key         TEXT NOT NULL,              -- the same for whoever tells it, however often
    target      TEXT NOT NULL,              -- the name of a way to reach people, not its address
    event       TEXT NOT NULL,
    title       TEXT NOT NULL,
    text        TEXT NOT NULL,
    home        TEXT,                       -- the session it is about, if it is about one
    session     TEXT,
    state       TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'delivered', 'failed', 'folded')),
    attempts    INTEGER NOT NULL DEFAULT 0,
    claim       INTEGER NOT NULL DEFAULT 0, -- the fence: raised whenever somebody takes it on
    worker      TEXT,                       -- who has taken it on
    posted_at   INTEGER NOT NULL,
    not_before  INTEGER NOT NULL,
    finished_at INTEGER,                    -- delivered or given up since
    last_error  TEXT,
    UNIQUE (key, target),
    CHECK ((state = 'sending') = (worker IS NOT NULL))
) STRICT;

CREATE INDEX outbox_ripe ON outbox (target, not_before, ref) WHERE state = 'pending';
CREATE INDEX outbox_state ON outbox (state, ref);
CREATE INDEX outbox_posted ON outbox (posted_at);

-- Since when resets are held back; only kept where somebody wants to be told of it.
CREATE TABLE held_resets (
    session INTEGER PRIMARY KEY REFERENCES sessions (ref) ON DELETE CASCADE,
    since   INTEGER NOT NULL
) STRICT;

-- The background processes of sessions. A row outlives its process for a week and its session if need be.
CREATE TABLE processes (
    ref           INTEGER PRIMARY KEY,
    session       INTEGER REFERENCES sessions (ref) ON DELETE SET NULL,
    home          TEXT NOT NULL,               -- the session's name, also when it is gone
    session_id    TEXT NOT NULL,
    task          TEXT,
    kind          TEXT NOT NULL CHECK (kind IN ('job', 'server', 'mcp', 'browser', 'unknown')),
    host          TEXT NOT NULL,
    boot_id       TEXT NOT NULL,
    pid           INTEGER NOT NULL,            -- 0: about to be started, known by its tag only
    started       INTEGER NOT NULL,            -- kernel start tick of the process
    inode         INTEGER,                     -- pidfs, unique in a boot
    pid_namespace INTEGER,
    uid           INTEGER NOT NULL,
    tag           TEXT,                        -- 128 bits in the environment of all that it starts
    command       TEXT NOT NULL,               -- without what looks like a secret
    cwd           TEXT NOT NULL,
    started_at    INTEGER NOT NULL,
    expires_at    INTEGER,                     -- holds no reset from then on; NULL: by policy
    registered_by TEXT,                        -- a worker; may outlive its row
    kept          INTEGER NOT NULL DEFAULT 0 CHECK (kept IN (0, 1)), -- not to be stopped by policy
    told_at       INTEGER,                     -- unused: told_of_processes has it
    ended_at      INTEGER,
    ended_how     TEXT,
    doing         TEXT NOT NULL DEFAULT 'unknown', -- what its own host last saw it do
    judged_at     INTEGER,
    figures       TEXT,                        -- JSON: what that rests on
    -- Who keeps a process from being stopped: a person, unless it is its agent. What a person decided is undone by
    -- a person.
    kept_by_agent INTEGER NOT NULL DEFAULT 0 CHECK (kept_by_agent IN (0, 1)),
    CHECK ((ended_at IS NULL) = (ended_how IS NULL))
) STRICT;

CREATE UNIQUE INDEX processes_alive ON processes (host, boot_id, pid, started) WHERE ended_at IS NULL AND pid > 0;
CREATE INDEX processes_running ON processes (ref) WHERE ended_at IS NULL;
CREATE INDEX processes_session ON processes (session);
CREATE INDEX processes_ended ON processes (ended_at) WHERE ended_at IS NOT NULL;

-- What people were told of a process: each thing once, and when.
CREATE TABLE told_of_processes (
    process INTEGER NOT NULL REFERENCES processes (ref) ON DELETE CASCADE,
    what    TEXT NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (process, what)
) STRICT, WITHOUT ROWID;

-- What is counted: what for, of whom, in which unit and period.
CREATE TABLE counters (
    ref        INTEGER PRIMARY KEY,
    scope      TEXT NOT NULL CHECK (scope IN ('session', 'tree', 'source', 'day')),
    subject    TEXT NOT NULL, -- the row of a session, of a tree's root, or a source
    unit       TEXT NOT NULL,
    period     TEXT NOT NULL, -- '' for ever, a day as 2026-12-31, a rolling span as 3600s
    cap        INTEGER,       -- a limit of its own, set by a person
    action     TEXT,          -- what happens there
    used_at    INTEGER NOT NULL,
    warned_at  INTEGER,       -- when and about which limit people were told
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
    reserved INTEGER NOT NULL DEFAULT 0, -- granted and not settled yet
    added    INTEGER NOT NULL DEFAULT 0, -- allowed by a person beyond the limit
    PRIMARY KEY (counter, start)
) STRICT, WITHOUT ROWID;

CREATE INDEX slices_start ON slices (start);

-- Who holds what of which slices; what a dead worker held was given back.
CREATE TABLE grants (
    ref      INTEGER PRIMARY KEY AUTOINCREMENT, -- never used again: whoever settles late must not meet another's
    session  INTEGER NOT NULL,
    worker   TEXT NOT NULL,
    made_at  INTEGER NOT NULL,
    held     TEXT NOT NULL,                    -- JSON: counter, start, unit and amount of each
    freed_at INTEGER,
    -- A worker makes a random slot and uses it for one grant after the other, each with a higher number. A settled
    -- grant keeps its row until the worker uses the slot again, so that a repeated settlement counts nothing.
    slot     TEXT,                             -- random, made by the worker
    number   INTEGER,
    -- NULL: not settled. Else when it was freed before that, or 0; freed_at is then set for every reader.
    settled  INTEGER
) STRICT;

CREATE INDEX grants_worker ON grants (worker) WHERE freed_at IS NULL;
CREATE INDEX grants_freed ON grants (freed_at) WHERE freed_at IS NOT NULL;
CREATE UNIQUE INDEX grants_slot ON grants (slot);

-- How many sessions were removed without a person's word.
CREATE TABLE removal_days (
    home     INTEGER NOT NULL,
    day      TEXT NOT NULL, -- as 2026-12-31, in UTC
    sessions INTEGER NOT NULL,
    PRIMARY KEY (home, day)
) STRICT, WITHOUT ROWID;

-- What keepers counted over time, beside how open sessions stood.
CREATE TABLE figures (
    name  TEXT NOT NULL,
    at    INTEGER NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (name, at)
) STRICT, WITHOUT ROWID;

CREATE INDEX figures_at ON figures (at);

-- What each session owes to each finalizer, as a code: the only place that decides it. Of an open session the view
-- says what it would owe if it ended now. `since` is the last message that a job covers already, `least` the messages
-- that a session of its source needs. A compressed conversation is longer than its newest session.
CREATE VIEW verdicts AS
SELECT home, session, finalizer, ended_at, state, since, through, least,
       CASE WHEN state NOT IN ('open', 'ended', 'finalized') THEN 'put_away'
            WHEN state <> 'open' AND end_reason = 'compression' AND untold IS NULL THEN 'compression'
            WHEN least IS NULL THEN 'other_source'
            WHEN message_count < least AND COALESCE(relation, '') <> 'compression' AND untold IS NULL THEN 'too_short'
            WHEN through <= since THEN 'nothing_new'
            ELSE 'owes' END AS code
FROM (
    SELECT s.home, s.ref AS session, named.finalizer, s.ended_at, s.state, s.end_reason, s.untold, s.relation,
           s.message_count, COALESCE(s.untold, s.last_seq) AS through,
           COALESCE((SELECT MAX(job.through) FROM finalizations AS job
                     WHERE job.session = s.ref AND job.finalizer = named.finalizer), 0) AS since,
           (SELECT rule.min_messages FROM owing AS rule
            WHERE rule.finalizer = named.finalizer AND rule.source IN (s.source, '*')
            ORDER BY rule.source = '*' LIMIT 1) AS least
    FROM sessions AS s CROSS JOIN (SELECT DISTINCT finalizer FROM owing ORDER BY finalizer) AS named
) AS asked;

-- What the triggers that end sessions queue, and what a backfill makes up for.
CREATE VIEW dues AS
SELECT home, session, finalizer, ended_at, since, through
FROM verdicts
WHERE code = 'owes' AND state <> 'open';

-- Whatever ends a session, by whatever version of Sexton, queues what it owes in the same transaction. An end that is
-- undone owes nothing any more, and what was said after an end joins the job that nobody has begun. A job that
-- somebody has begun stays, as its effect may be there already. Of a session that was old when its home was attached,
-- only what is new is owed. A fresh job may run at any time (0): clocks differ between machines.
CREATE TRIGGER sessions_end AFTER UPDATE OF state ON sessions
WHEN (OLD.state = 'open') <> (NEW.state = 'open') OR NEW.state <> 'open' AND NEW.last_seq > OLD.last_seq
BEGIN
    DELETE FROM finalizations
    WHERE session = NEW.ref AND state = 'pending' AND claim = 0 AND NEW.state = 'open';
    UPDATE finalizations SET through = NEW.last_seq
    WHERE session = NEW.ref AND state = 'pending' AND claim = 0 AND OLD.state <> 'open';
    INSERT INTO finalizations (home, session, finalizer, since, through, owed_at, not_before)
    SELECT home, session, finalizer, MAX(since, earlier.seq), through, ended_at, 0
    FROM dues CROSS JOIN (
        SELECT CASE WHEN OLD.state <> 'open' AND OLD.ended_at <= COALESCE(attached_at, OLD.ended_at)
                    THEN OLD.last_seq ELSE 0 END AS seq
        FROM homes WHERE ref = NEW.home
    ) AS earlier
    WHERE session = NEW.ref AND since < through;
END;

-- First seen when it was over already.
CREATE TRIGGER sessions_seen_ended AFTER INSERT ON sessions
WHEN NEW.state <> 'open' AND NEW.ended_at > (SELECT attached_at FROM homes WHERE ref = NEW.home)
BEGIN
    INSERT INTO finalizations (home, session, finalizer, since, through, owed_at, not_before)
    SELECT home, session, finalizer, since, through, ended_at, 0
    FROM dues
    WHERE session = NEW.ref AND since < through;
END;

-- A session with something left to do is not finalized, whoever found it.
CREATE TRIGGER finalizations_added AFTER INSERT ON finalizations
WHEN NEW.state = 'pending'
BEGIN
    UPDATE sessions SET state = 'ended' WHERE ref = NEW.session AND state = 'finalized';
END;

CREATE TRIGGER finalizations_retried AFTER UPDATE OF state ON finalizations
WHEN NEW.state = 'pending' AND OLD.state <> 'pending'
BEGIN
    UPDATE sessions SET state = 'ended' WHERE ref = NEW.session AND state = 'finalized';
END;

-- Triggers keep the slot, so that no statement has to know of it.
CREATE TRIGGER sessions_active AFTER UPDATE OF active_at ON sessions WHEN NEW.active_slot <> NEW.active_at >> 20
BEGIN
    UPDATE sessions SET active_slot = NEW.active_at >> 20 WHERE ref = NEW.ref;
END;

CREATE TRIGGER sessions_begun AFTER INSERT ON sessions WHEN NEW.active_slot <> NEW.active_at >> 20
BEGIN
    UPDATE sessions SET active_slot = NEW.active_at >> 20 WHERE ref = NEW.ref;
END;

-- A home is attached once it was observed to the end: until then everything in it is old.
CREATE TRIGGER homes_attached AFTER UPDATE OF observed_at ON homes
WHEN NEW.attached_at IS NULL
BEGIN
    UPDATE homes SET attached_at = NEW.observed_at WHERE ref = NEW.ref;
END;

INSERT INTO homes (ref, name, kind, act) VALUES (1, 'native', 'native', 1);
