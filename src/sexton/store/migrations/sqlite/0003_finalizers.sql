-- Who owes which end-of-session work, by source; written anew with the policies it comes from.
CREATE TABLE owing (
    finalizer    TEXT    NOT NULL,
    source       TEXT    NOT NULL,              -- '*': every source without a row of its own
    min_messages INTEGER,                        -- NULL: owes nothing
    PRIMARY KEY (finalizer, source)
) STRICT, WITHOUT ROWID;

-- End-of-session work. Rows of a session live as long as it does: the highest `through` is never forgotten.
CREATE TABLE finalizations (
    ref         INTEGER PRIMARY KEY,
    home        INTEGER NOT NULL,               -- of its session, so that a keeper finds its own by an index
    session     INTEGER NOT NULL REFERENCES sessions (ref) ON DELETE CASCADE,
    finalizer   TEXT    NOT NULL,
    since       INTEGER NOT NULL,               -- covers the messages after this one
    through     INTEGER NOT NULL,               -- up to this one
    state       TEXT    NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'running', 'done', 'dead')),
    attempts    INTEGER NOT NULL DEFAULT 0,
    claim       INTEGER NOT NULL DEFAULT 0,     -- the fence: raised whenever somebody takes it on
    worker      TEXT,                            -- who has taken it on
    owed_at     INTEGER NOT NULL,
    not_before  INTEGER NOT NULL,
    finished_at INTEGER,                         -- done since
    last_error  TEXT,
    note        TEXT,                            -- what came of it, in a few words
    memo        BLOB,                            -- what must not be asked for twice, until it is done
    UNIQUE (session, finalizer, through),
    CHECK (since < through),
    CHECK ((state = 'running') = (worker IS NOT NULL))
) STRICT;

CREATE INDEX finalizations_ripe  ON finalizations (home, finalizer, not_before, ref) WHERE state = 'pending';
CREATE INDEX finalizations_state ON finalizations (state, ref);
CREATE INDEX sessions_ended      ON sessions (ended_at, ref) WHERE ended_at IS NOT NULL;

-- What finalizers have spent of their daily budgets.
CREATE TABLE finalizer_days (
    day       TEXT    NOT NULL,                  -- as 2026-12-31, in UTC
    finalizer TEXT    NOT NULL,
    calls     INTEGER NOT NULL,
    PRIMARY KEY (day, finalizer)
) STRICT, WITHOUT ROWID;

-- What sessions that are over owe by the rules, from the last message that is covered already.
CREATE VIEW dues AS
SELECT s.home, s.ref AS session, rule.finalizer, s.ended_at,
       COALESCE((SELECT MAX(f.through) FROM finalizations AS f
                 WHERE f.session = s.ref AND f.finalizer = rule.finalizer), 0) AS since,
       s.last_seq AS through
FROM sessions AS s
JOIN owing AS rule ON rule.source = s.source OR rule.source = '*' AND NOT EXISTS (
    SELECT 1 FROM owing AS own WHERE own.finalizer = rule.finalizer AND own.source = s.source
)
WHERE s.state IN ('ended', 'finalized') AND COALESCE(s.end_reason, '') <> 'compression'
  AND s.message_count >= rule.min_messages;

-- Whatever ends a session, by whatever version of Sexton, owes in the same transaction. An end that is undone, or
-- that more was said after, owes nothing any more; what somebody has begun stays, as its effect may be there already.
CREATE TRIGGER sessions_end AFTER UPDATE OF state ON sessions
WHEN (OLD.state = 'open') <> (NEW.state = 'open') OR NEW.state <> 'open' AND NEW.last_seq > OLD.last_seq
BEGIN
    DELETE FROM finalizations WHERE session = NEW.ref AND state = 'pending' AND claim = 0;
    INSERT INTO finalizations (home, session, finalizer, since, through, owed_at, not_before)
    SELECT home, session, finalizer, since, through, ended_at, ended_at
    FROM dues
    WHERE session = NEW.ref AND since < through;
END;

ALTER TABLE homes ADD COLUMN attached_at INTEGER;  -- what had ended before owes nothing

UPDATE homes SET attached_at = observed_at;

-- Attached is what was once seen to the end: until then everything is old.
CREATE TRIGGER homes_attached AFTER UPDATE OF observed_at ON homes
WHEN NEW.attached_at IS NULL
BEGIN
    UPDATE homes SET attached_at = NEW.observed_at WHERE ref = NEW.ref;
END;

-- First seen when it was over already.
CREATE TRIGGER sessions_seen_ended AFTER INSERT ON sessions
WHEN NEW.state <> 'open' AND NEW.ended_at > (SELECT attached_at FROM homes WHERE ref = NEW.home)
BEGIN
    INSERT INTO finalizations (home, session, finalizer, since, through, owed_at, not_before)
    SELECT home, session, finalizer, since, through, ended_at, ended_at
    FROM dues
    WHERE session = NEW.ref AND since < through;
END;
