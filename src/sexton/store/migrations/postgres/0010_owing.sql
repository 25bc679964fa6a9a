-- Of a session that was compressed without a summary: the last message that only it holds. It owes that itself.
ALTER TABLE sessions ADD COLUMN untold BIGINT;

-- The machine on which `memo` was written: the effect may be there already, in a file that others do not see.
ALTER TABLE finalizations ADD COLUMN memo_host TEXT COLLATE "C";

-- How many workers died with it in their hands; a try counts only when its outcome is reported.
ALTER TABLE finalizations ADD COLUMN crashes BIGINT NOT NULL DEFAULT 0;

-- What sessions that are over owe by the rules, from the last message that is covered already. A compressed
-- conversation is longer than its newest session.
CREATE OR REPLACE VIEW dues AS
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
CREATE OR REPLACE FUNCTION owe_finalizations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM sexton.finalizations
    WHERE session = NEW.ref AND state = 'pending' AND claim = 0 AND NEW.state = 'open';
    UPDATE sexton.finalizations SET through = NEW.last_seq
    WHERE session = NEW.ref AND state = 'pending' AND claim = 0 AND OLD.state <> 'open';
    INSERT INTO sexton.finalizations (home, session, finalizer, since, through, owed_at, not_before)
    SELECT home, session, finalizer, GREATEST(since, earlier.seq), through, ended_at, 0
    FROM sexton.dues CROSS JOIN (
        SELECT CASE WHEN OLD.state <> 'open' AND OLD.ended_at <= COALESCE(attached_at, OLD.ended_at)
                    THEN OLD.last_seq ELSE 0 END AS seq
        FROM sexton.homes WHERE ref = NEW.home
    ) AS earlier
    WHERE session = NEW.ref AND since < through;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION owe_if_ended_since_attached() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.ended_at > (SELECT attached_at FROM sexton.homes WHERE ref = NEW.home) THEN
        INSERT INTO sexton.finalizations (home, session, finalizer, since, through, owed_at, not_before)
        SELECT home, session, finalizer, since, through, ended_at, 0
        FROM sexton.dues
        WHERE session = NEW.ref AND since < through;
    END IF;
    RETURN NULL;
END $$;

-- A session with something left to do is not finalized, whoever found it.
CREATE FUNCTION unfinalize_session() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE sexton.sessions SET state = 'ended' WHERE ref = NEW.session AND state = 'finalized';
    RETURN NULL;
END $$;

CREATE TRIGGER finalizations_added AFTER INSERT ON finalizations
FOR EACH ROW
WHEN (NEW.state = 'pending')
EXECUTE FUNCTION unfinalize_session();

CREATE TRIGGER finalizations_retried AFTER UPDATE OF state ON finalizations
FOR EACH ROW
WHEN (NEW.state = 'pending' AND OLD.state <> 'pending')
EXECUTE FUNCTION unfinalize_session();
