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
CREATE OR REPLACE VIEW dues AS
SELECT home, session, finalizer, ended_at, since, through
FROM verdicts
WHERE code = 'owes' AND state <> 'open';
