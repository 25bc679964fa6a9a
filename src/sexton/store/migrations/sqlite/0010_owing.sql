-- Of a session that was compressed without a summary: the last message that only it holds. It owes that itself.
ALTER TABLE sessions ADD COLUMN untold INTEGER;

-- The machine on which `memo` was written: the effect may be there already, in a file that others do not see.
ALTER TABLE finalizations ADD COLUMN memo_host TEXT;

-- How many workers died with it in their hands; a try counts only when its outcome is reported.
ALTER TABLE finalizations ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;

-- What sessions that are over owe by the rules, from the last message that is covered already. A compressed
-- conversation is longer than its newest session.
DROP VIEW dues;
CREATE VIEW dues AS
SELECT s.home, s.ref AS session, rule.finalizer, s.ended_at,
       COALESCE((SELECT MAX(f.through) FROM finalizations AS f
                 WHERE f.session = s.ref AND f.finalizer = rule.finalizer), 0) AS since,
       COALESCE(s.untold, s.last_seq) AS through
FROM sessions AS s
JOIN owing AS rule ON rule.source = s.source OR rule.source = '*' AND NOT EXISTS (
    SELECT 1 FROM owing AS own WHERE own.finalizer = rule.finalizer AND own.source = s.source
)
WHERE s.state IN ('ended', 'finalized') AND (COALESCE(s.end_reason, '') <> 'compression' OR s.untold IS NOT NULL)
  AND rule.min_messages IS NOT NULL
  AND (s.message_count >= rule.min_messages OR s.relation = 'compression' OR s.untold IS NOT NULL);

-- An end that is undone owes nothing any more, and what was said after an end joins the work that nobody has begun.
-- What somebody has begun stays, as its effect may be there already. Of a session that was old when its home was
-- attached only what is new is owed. Fresh work may be done at any time (0): clocks differ between machines.
DROP TRIGGER sessions_end;
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

DROP TRIGGER sessions_seen_ended;
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
