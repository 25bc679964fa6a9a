-- What people are told, once for each target; forgotten after a while, whatever became of it.
CREATE TABLE outbox (
    ref         INTEGER PRIMARY KEY,
    key         TEXT    NOT NULL,               -- the same for whoever tells it, however often
    target      TEXT    NOT NULL,               -- the name of a way to reach people, not its address
    event       TEXT    NOT NULL,
    title       TEXT    NOT NULL,
    text        TEXT    NOT NULL,
    home        TEXT,                            -- the session it is about, if it is about one
    session     TEXT,
    state       TEXT    NOT NULL CHECK (state IN ('pending', 'sending', 'delivered', 'failed', 'folded')),
    attempts    INTEGER NOT NULL DEFAULT 0,
    claim       INTEGER NOT NULL DEFAULT 0,     -- the fence: raised whenever somebody takes it on
    worker      TEXT,                            -- who has taken it on
    posted_at   INTEGER NOT NULL,
    not_before  INTEGER NOT NULL,
    finished_at INTEGER,                         -- delivered or given up since
    last_error  TEXT,
    UNIQUE (key, target),
    CHECK ((state = 'sending') = (worker IS NOT NULL))
) STRICT;

CREATE INDEX outbox_ripe   ON outbox (target, not_before, ref) WHERE state = 'pending';
CREATE INDEX outbox_state  ON outbox (state, ref);
CREATE INDEX outbox_posted ON outbox (posted_at);

-- Since when resets are held back; only kept where somebody wants to be told of it.
CREATE TABLE held_resets (
    session INTEGER PRIMARY KEY REFERENCES sessions (ref) ON DELETE CASCADE,
    since   INTEGER NOT NULL
) STRICT;
