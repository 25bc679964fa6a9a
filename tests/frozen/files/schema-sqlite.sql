PRAGMA application_id = 1397053524;
PRAGMA user_version = 0;
PRAGMA journal_mode = wal;
PRAGMA page_size = 4096;
PRAGMA auto_vacuum = 2;
PRAGMA encoding = UTF-8;

CREATE INDEX counters_caps ON counters (scope, subject) WHERE cap IS NOT NULL;

CREATE INDEX counters_used ON counters (used_at);

CREATE INDEX figures_at ON figures (at);

CREATE INDEX finalizations_ripe ON finalizations (home, finalizer, not_before, ref) WHERE state = 'pending';

CREATE INDEX finalizations_state ON finalizations (state, ref);

CREATE INDEX grants_freed ON grants (freed_at) WHERE freed_at IS NOT NULL;

CREATE UNIQUE INDEX grants_slot ON grants (slot);

CREATE INDEX grants_worker ON grants (worker) WHERE freed_at IS NULL;

CREATE INDEX holders_worker ON holders (worker);

CREATE INDEX journal_at ON journal (at);

CREATE INDEX journal_receipt ON journal (receipt) WHERE receipt IS NOT NULL;

CREATE INDEX journal_session ON journal (home, session, ref) WHERE session IS NOT NULL;

CREATE INDEX outbox_posted ON outbox (posted_at);

CREATE INDEX outbox_ripe ON outbox (target, not_before, ref) WHERE state = 'pending';

CREATE INDEX outbox_state ON outbox (state, ref);

CREATE UNIQUE INDEX processes_alive ON processes (host, boot_id, pid, started) WHERE ended_at IS NULL AND pid > 0;

CREATE INDEX processes_ended ON processes (ended_at) WHERE ended_at IS NOT NULL;

CREATE INDEX processes_running ON processes (ref) WHERE ended_at IS NULL;

CREATE INDEX processes_session ON processes (session);

CREATE INDEX sessions_before ON sessions (key, ref) WHERE home = 1 AND state <> 'open' AND key IS NOT NULL;

CREATE UNIQUE INDEX sessions_current ON sessions (key) WHERE home = 1 AND state = 'open' AND key IS NOT NULL;

CREATE INDEX sessions_due ON sessions (due_at, ref) WHERE state = 'open' AND due_at IS NOT NULL;

CREATE INDEX sessions_ended ON sessions (ended_at, ref) WHERE ended_at IS NOT NULL;

CREATE INDEX sessions_kept ON sessions (home, source, active_at, ref) WHERE state IN ('ended', 'finalized');

CREATE INDEX sessions_of_job ON sessions (home, job, active_at, ref) WHERE state IN ('ended', 'finalized') AND job IS NOT NULL;

CREATE INDEX sessions_of_key ON sessions (home, key, active_at, ref) WHERE state IN ('ended', 'finalized') AND key IS NOT NULL;

CREATE INDEX sessions_open ON sessions (home, id) WHERE state = 'open';

CREATE INDEX sessions_over ON sessions (home, message_count, active_at, ref) WHERE state IN ('ended', 'finalized');

CREATE INDEX sessions_parent ON sessions (home, parent) WHERE parent IS NOT NULL;

CREATE INDEX sessions_recent ON sessions (home, active_slot, ref) WHERE ref > 0;

CREATE INDEX sessions_size ON sessions (home, byte_count, ref) WHERE state <> 'open';

CREATE INDEX sessions_stale ON sessions (home, policy_serial, ref) WHERE state = 'open';

CREATE INDEX sessions_started ON sessions (home, started_at, ref) WHERE ref > 0;

CREATE INDEX sessions_states ON sessions (home, state, source) WHERE ref > 0;

CREATE INDEX sessions_vault ON sessions (vault, ref) WHERE vault IS NOT NULL;

CREATE INDEX slices_start ON slices (start);

-- index sqlite_autoindex_counters_1

-- index sqlite_autoindex_finalizations_1

-- index sqlite_autoindex_homes_1

-- index sqlite_autoindex_homes_2

-- index sqlite_autoindex_messages_1

-- index sqlite_autoindex_outbox_1

-- index sqlite_autoindex_samples_1

-- index sqlite_autoindex_sessions_1

-- index sqlite_autoindex_shadow_reaps_1

-- index sqlite_autoindex_vault_1

-- index sqlite_autoindex_workers_1

CREATE INDEX vault_expiring ON vault (host, expires_at) WHERE state = 'kept' AND expires_at IS NOT NULL;

CREATE INDEX vault_receipt ON vault (receipt);

CREATE INDEX vault_unfinished ON vault (host, ref) WHERE state <> 'kept';

CREATE INDEX workers_left ON workers (left_at);

CREATE INDEX workers_present ON workers (registered_at, id) WHERE left_at IS NULL AND dead_at IS NULL;

CREATE INDEX workers_swept ON workers (swept_at) WHERE swept_at IS NOT NULL;

CREATE TABLE counters (ref INTEGER PRIMARY KEY,
    scope TEXT NOT NULL CHECK (scope IN ('session', 'tree', 'source', 'day')),
    subject TEXT NOT NULL,
    unit TEXT NOT NULL,
    period TEXT NOT NULL,
    cap INTEGER,
    action TEXT,
    used_at INTEGER NOT NULL,
    warned_at INTEGER,
    warned INTEGER,
    stopped_at INTEGER,
    UNIQUE (scope, subject, unit, period),
    CHECK ((cap IS NULL) = (action IS NULL)) ) STRICT;

CREATE TABLE figures (name TEXT NOT NULL,
    at INTEGER NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (name, at)) STRICT, WITHOUT ROWID;

CREATE TABLE finalizations (ref INTEGER PRIMARY KEY,
    home INTEGER NOT NULL,
    session INTEGER NOT NULL REFERENCES sessions (ref) ON DELETE CASCADE,
    finalizer TEXT NOT NULL,
    since INTEGER NOT NULL,
    through INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running', 'done', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    claim INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    owed_at INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    finished_at INTEGER,
    last_error TEXT,
    note TEXT,
    memo BLOB,
    memo_host TEXT,
    crashes INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, finalizer, through),
    CHECK (since < through),
    CHECK ((state = 'running') = (worker IS NOT NULL)) ) STRICT;

CREATE TABLE finalizer_days (day TEXT NOT NULL,
    finalizer TEXT NOT NULL,
    calls INTEGER NOT NULL,
    PRIMARY KEY (day, finalizer)) STRICT, WITHOUT ROWID;

CREATE TABLE grants (ref INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL,
    worker TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    held TEXT NOT NULL,
    freed_at INTEGER,
    slot TEXT,
    number INTEGER,
    settled INTEGER) STRICT;

CREATE TABLE held_resets (session INTEGER PRIMARY KEY REFERENCES sessions (ref) ON DELETE CASCADE,
    since INTEGER NOT NULL) STRICT;

CREATE TABLE holders (session INTEGER NOT NULL REFERENCES sessions (ref),
    worker TEXT NOT NULL REFERENCES workers (id),
    joined_at INTEGER NOT NULL,
    turns INTEGER NOT NULL DEFAULT 0,
    busy_since INTEGER,
    progress_at INTEGER,
    PRIMARY KEY (session, worker)) STRICT, WITHOUT ROWID;

CREATE TABLE homes (ref INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    path TEXT,
    host TEXT,
    act INTEGER NOT NULL DEFAULT 0 CHECK (act IN (0, 1)),
    mark TEXT,
    rules TEXT,
    observed_at INTEGER,
    attached_at INTEGER,
    UNIQUE (host, path)) STRICT;

CREATE TABLE journal (ref INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    actor TEXT NOT NULL,
    receipt TEXT,
    home TEXT,
    session TEXT,
    action TEXT NOT NULL,
    result TEXT NOT NULL,
    reason TEXT NOT NULL,
    explanation TEXT NOT NULL,
    sessions TEXT) STRICT;

CREATE TABLE ledger (only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
    id TEXT NOT NULL,
    schema_version INTEGER NOT NULL,
    oldest_reader INTEGER NOT NULL,
    plan_key TEXT) STRICT;

CREATE TABLE messages (ref INTEGER PRIMARY KEY,
    session INTEGER NOT NULL REFERENCES sessions (ref),
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    role TEXT NOT NULL,
    is_text INTEGER NOT NULL CHECK (is_text IN (0, 1)),
    content BLOB,
    extra BLOB,
    UNIQUE (session, seq)) STRICT;

CREATE TABLE outbox (ref INTEGER PRIMARY KEY,
    key TEXT NOT NULL,
    target TEXT NOT NULL,
    event TEXT NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL,
    home TEXT,
    session TEXT,
    state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'delivered', 'failed', 'folded')),
    attempts INTEGER NOT NULL DEFAULT 0,
    claim INTEGER NOT NULL DEFAULT 0,
    worker TEXT,
    posted_at INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    finished_at INTEGER,
    last_error TEXT,
    UNIQUE (key, target),
    CHECK ((state = 'sending') = (worker IS NOT NULL)) ) STRICT;

CREATE TABLE owing (finalizer TEXT NOT NULL,
    source TEXT NOT NULL,
    min_messages INTEGER,
    PRIMARY KEY (finalizer, source)) STRICT, WITHOUT ROWID;

CREATE TABLE policies (serial INTEGER PRIMARY KEY,
    digest TEXT NOT NULL,
    text TEXT NOT NULL,
    actor TEXT NOT NULL,
    published_at INTEGER NOT NULL) STRICT;

CREATE TABLE processes (ref INTEGER PRIMARY KEY,
    session INTEGER REFERENCES sessions (ref) ON DELETE SET NULL,
    home TEXT NOT NULL,
    session_id TEXT NOT NULL,
    task TEXT,
    kind TEXT NOT NULL CHECK (kind IN ('job', 'server', 'mcp', 'browser', 'unknown')),
    host TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started INTEGER NOT NULL,
    inode INTEGER,
    pid_namespace INTEGER,
    uid INTEGER NOT NULL,
    tag TEXT,
    command TEXT NOT NULL,
    cwd TEXT NOT NULL,
    started_at INTEGER NOT NULL,
    expires_at INTEGER,
    registered_by TEXT,
    kept INTEGER NOT NULL DEFAULT 0 CHECK (kept IN (0, 1)),
    told_at INTEGER,
    ended_at INTEGER,
    ended_how TEXT,
    doing TEXT NOT NULL DEFAULT 'unknown',
    judged_at INTEGER,
    figures TEXT,
    kept_by_agent INTEGER NOT NULL DEFAULT 0 CHECK (kept_by_agent IN (0, 1)),
    CHECK ((ended_at IS NULL) = (ended_how IS NULL)) ) STRICT;

CREATE TABLE removal_days (home INTEGER NOT NULL,
    day TEXT NOT NULL,
    sessions INTEGER NOT NULL,
    PRIMARY KEY (home, day)) STRICT, WITHOUT ROWID;

CREATE TABLE samples (home TEXT NOT NULL,
    at INTEGER NOT NULL,
    open INTEGER NOT NULL,
    live INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    leaked INTEGER NOT NULL,
    unproven INTEGER NOT NULL,
    PRIMARY KEY (home, at)) STRICT;

CREATE TABLE sessions (ref INTEGER PRIMARY KEY,
    home INTEGER NOT NULL REFERENCES homes (ref),
    id TEXT NOT NULL,
    key TEXT,
    source TEXT NOT NULL,
    chat_type TEXT,
    job TEXT,
    parent TEXT,
    relation TEXT CHECK (relation IN ('compression', 'subagent', 'branch', 'fork')),
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'ended', 'finalized', 'archived', 'trashed', 'purged')),
    epoch INTEGER NOT NULL DEFAULT 1,
    started_at INTEGER NOT NULL,
    active_at INTEGER NOT NULL,
    due_at INTEGER,
    policy_serial INTEGER NOT NULL DEFAULT 0,
    ended_at INTEGER,
    end_reason TEXT,
    last_seq INTEGER NOT NULL DEFAULT 0,
    message_count INTEGER NOT NULL DEFAULT 0,
    byte_count INTEGER NOT NULL DEFAULT 0,
    turn_count INTEGER NOT NULL DEFAULT 0,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cached_tokens INTEGER NOT NULL DEFAULT 0,
    reasoning_tokens INTEGER NOT NULL DEFAULT 0,
    cost_micros INTEGER NOT NULL DEFAULT 0,
    title TEXT,
    preview TEXT,
    pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
    human_touched INTEGER NOT NULL DEFAULT 0 CHECK (human_touched IN (0, 1)),
    errored INTEGER NOT NULL DEFAULT 0 CHECK (errored IN (0, 1)),
    warned INTEGER NOT NULL DEFAULT 0,
    inherited INTEGER NOT NULL DEFAULT 0,
    compress_after INTEGER,
    root INTEGER,
    guard TEXT,
    vault INTEGER REFERENCES vault (ref),
    untold INTEGER,
    active_slot INTEGER NOT NULL DEFAULT 0,
    kept INTEGER NOT NULL DEFAULT 0 CHECK (kept IN (0, 1)),
    spared_at INTEGER,
    live_messages INTEGER,
    live_bytes INTEGER,
    UNIQUE (home, id),
    CHECK ((state = 'open') = (ended_at IS NULL)) ) STRICT;

CREATE TABLE shadow_reaps (home TEXT NOT NULL,
    session TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    active_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    contradicted_at INTEGER,
    PRIMARY KEY (home, session, active_at)) STRICT;

CREATE TABLE slices (counter INTEGER NOT NULL REFERENCES counters (ref) ON DELETE CASCADE,
    start INTEGER NOT NULL,
    spent INTEGER NOT NULL DEFAULT 0,
    reserved INTEGER NOT NULL DEFAULT 0,
    added INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (counter, start)) STRICT, WITHOUT ROWID;

CREATE TABLE sqlite_sequence (name,
    seq);

CREATE TABLE told_of_processes (process INTEGER NOT NULL REFERENCES processes (ref) ON DELETE CASCADE,
    what TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (process, what)) STRICT, WITHOUT ROWID;

CREATE TABLE vault (ref INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL CHECK (kind IN ('archive', 'trash')),
    holds TEXT NOT NULL CHECK (holds IN ('sessions', 'files')),
    home INTEGER NOT NULL REFERENCES homes (ref),
    source TEXT NOT NULL,
    host TEXT NOT NULL,
    place TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('writing', 'clearing', 'kept', 'restoring', 'removing')),
    worker TEXT,
    receipt TEXT NOT NULL,
    made_at INTEGER NOT NULL,
    expires_at INTEGER,
    bytes INTEGER NOT NULL DEFAULT 0,
    raw_bytes INTEGER NOT NULL DEFAULT 0,
    sha256 TEXT NOT NULL DEFAULT '',
    sessions INTEGER NOT NULL DEFAULT 0,
    messages INTEGER NOT NULL DEFAULT 0,
    files INTEGER NOT NULL DEFAULT 0,
    CHECK ((state = 'kept') = (worker IS NULL)) ) STRICT;

CREATE TABLE workers (id TEXT PRIMARY KEY,
    host TEXT NOT NULL,
    boot_id TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started INTEGER NOT NULL,
    inode INTEGER,
    pid_namespace INTEGER,
    uid INTEGER NOT NULL,
    kind TEXT NOT NULL,
    version TEXT NOT NULL,
    beat INTEGER NOT NULL DEFAULT 0,
    registered_at INTEGER NOT NULL,
    left_at INTEGER,
    swept_at INTEGER,
    sweeps_every INTEGER NOT NULL DEFAULT 0,
    dead_at INTEGER,
    evidence TEXT) STRICT;

CREATE TRIGGER finalizations_added AFTER INSERT ON finalizations WHEN NEW.state = 'pending' BEGIN UPDATE sessions SET state = 'ended' WHERE ref = NEW.session AND state = 'finalized'; END;

CREATE TRIGGER finalizations_retried AFTER UPDATE OF state ON finalizations WHEN NEW.state = 'pending' AND OLD.state <> 'pending' BEGIN UPDATE sessions SET state = 'ended' WHERE ref = NEW.session AND state = 'finalized'; END;

CREATE TRIGGER homes_attached AFTER UPDATE OF observed_at ON homes WHEN NEW.attached_at IS NULL BEGIN UPDATE homes SET attached_at = NEW.observed_at WHERE ref = NEW.ref; END;

CREATE TRIGGER sessions_active AFTER UPDATE OF active_at ON sessions WHEN NEW.active_slot <> NEW.active_at >> 20 BEGIN UPDATE sessions SET active_slot = NEW.active_at >> 20 WHERE ref = NEW.ref; END;

CREATE TRIGGER sessions_begun AFTER INSERT ON sessions WHEN NEW.active_slot <> NEW.active_at >> 20 BEGIN UPDATE sessions SET active_slot = NEW.active_at >> 20 WHERE ref = NEW.ref; END;

CREATE TRIGGER sessions_end AFTER UPDATE OF state ON sessions WHEN (OLD.state = 'open') <> (NEW.state = 'open') OR NEW.state <> 'open' AND NEW.last_seq > OLD.last_seq BEGIN DELETE FROM finalizations WHERE session = NEW.ref AND state = 'pending' AND claim = 0 AND NEW.state = 'open'; UPDATE finalizations SET through = NEW.last_seq WHERE session = NEW.ref AND state = 'pending' AND claim = 0 AND OLD.state <> 'open'; INSERT INTO finalizations (home, session, finalizer, since, through, owed_at, not_before) SELECT home, session, finalizer, MAX (since, earlier.seq), through, ended_at, 0 FROM dues CROSS JOIN (SELECT CASE WHEN OLD.state <> 'open' AND OLD.ended_at <= COALESCE (attached_at, OLD.ended_at) THEN OLD.last_seq ELSE 0 END AS seq FROM homes WHERE ref = NEW.home) AS earlier WHERE session = NEW.ref AND since < through; END;

CREATE TRIGGER sessions_seen_ended AFTER INSERT ON sessions WHEN NEW.state <> 'open' AND NEW.ended_at > (SELECT attached_at FROM homes WHERE ref = NEW.home) BEGIN INSERT INTO finalizations (home, session, finalizer, since, through, owed_at, not_before) SELECT home, session, finalizer, since, through, ended_at, 0 FROM dues WHERE session = NEW.ref AND since < through; END;

CREATE VIEW dues AS SELECT home, session, finalizer, ended_at, since, through FROM verdicts WHERE code = 'owes' AND state <> 'open';

CREATE VIEW verdicts AS SELECT home, session, finalizer, ended_at, state, since, through, least, CASE WHEN state NOT IN ('open', 'ended', 'finalized') THEN 'put_away' WHEN state <> 'open' AND end_reason = 'compression' AND untold IS NULL THEN 'compression' WHEN least IS NULL THEN 'other_source' WHEN message_count < least AND COALESCE (relation, '') <> 'compression' AND untold IS NULL THEN 'too_short' WHEN through <= since THEN 'nothing_new' ELSE 'owes' END AS code FROM (SELECT s.home, s.ref AS session, named.finalizer, s.ended_at, s.state, s.end_reason, s.untold, s.relation, s.message_count, COALESCE (s.untold, s.last_seq) AS through, COALESCE ((SELECT MAX (job.through) FROM finalizations AS job WHERE job.session = s.ref AND job.finalizer = named.finalizer), 0) AS since, (SELECT rule.min_messages FROM owing AS rule WHERE rule.finalizer = named.finalizer AND rule.source IN (s.source, '*') ORDER BY rule.source = '*' LIMIT 1) AS least FROM sessions AS s CROSS JOIN (SELECT DISTINCT finalizer FROM owing ORDER BY finalizer) AS named) AS asked;
