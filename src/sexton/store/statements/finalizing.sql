-- clear_owing
DELETE FROM owing;

-- insert_owing
INSERT INTO owing (finalizer, source, min_messages) VALUES (:finalizer, :source, :min_messages);

-- finalization
SELECT f.ref, h.name, s.id, f.session, f.finalizer, f.since, f.through, f.state, f.attempts, f.claim,
       f.worker, f.owed_at, f.not_before, f.finished_at, f.last_error, f.note, f.crashes
FROM finalizations AS f
JOIN sessions AS s ON s.ref = f.session
JOIN homes AS h ON h.ref = f.home

-- claim_finalizations [sqlite]
-- For each home of the worker's host and each finalizer the first few, then the first of these. What was begun of a
-- session that is open again waits for its next end; what has a memo is for the host that wrote it, for a while.
UPDATE finalizations
SET state = 'running', worker = :worker, claim = claim + 1,
    memo_host = CASE WHEN memo_host IS NOT NULL THEN (SELECT host FROM workers WHERE id = :worker) END
WHERE ref IN (
    SELECT ripe.value ->> 1
    FROM workers AS w
    JOIN homes AS h ON h.host IS NULL OR h.host = w.host
    CROSS JOIN json_each(:finalizers) AS mine
    CROSS JOIN json_each((
        SELECT json_group_array(json_array(not_before, ref))
        FROM (SELECT not_before, ref FROM finalizations
              WHERE state = 'pending' AND home = h.ref AND finalizer = mine.value AND not_before <= :now
                AND (memo_host IS NULL OR memo_host = w.host OR not_before <= :given_up)
                AND EXISTS (SELECT 1 FROM sessions AS s WHERE s.ref = session AND s.state <> 'open')
              ORDER BY not_before, ref LIMIT :limit)
    )) AS ripe
    WHERE w.id = :worker AND w.left_at IS NULL AND w.dead_at IS NULL
    ORDER BY ripe.value ->> 0, ripe.value ->> 1
    LIMIT :limit
)
RETURNING ref;

-- claim_finalizations [postgres]
-- Whoever meets another passes over its rows; what is asked of a row is asked again when it is taken.
WITH ripe AS MATERIALIZED (
    SELECT first.ref
    FROM workers AS w
    JOIN homes AS h ON h.host IS NULL OR h.host = w.host
    CROSS JOIN json_array_elements_text(CAST(:finalizers AS JSON)) AS mine
    CROSS JOIN LATERAL (
        SELECT f.not_before, f.ref FROM finalizations AS f
        WHERE f.state = 'pending' AND f.home = h.ref AND f.finalizer = mine AND f.not_before <= :now
          AND (f.memo_host IS NULL OR f.memo_host = w.host OR f.not_before <= :given_up)
          AND EXISTS (SELECT 1 FROM sessions AS s WHERE s.ref = f.session AND s.state <> 'open')
        ORDER BY f.not_before, f.ref LIMIT :limit
        FOR UPDATE SKIP LOCKED
    ) AS first
    WHERE w.id = :worker AND w.left_at IS NULL AND w.dead_at IS NULL
    ORDER BY first.not_before, first.ref
    LIMIT :limit
)
UPDATE finalizations
SET state = 'running', worker = :worker, claim = claim + 1,
    memo_host = CASE WHEN memo_host IS NOT NULL THEN (SELECT host FROM workers WHERE id = :worker) END
WHERE ref IN (SELECT ref FROM ripe) AND state = 'pending' AND not_before <= :now
  AND finalizer IN (SELECT json_array_elements_text(CAST(:finalizers AS JSON)))
RETURNING ref;

-- find_finalizations
{finalization}
WHERE f.ref IN ({refs})
ORDER BY f.not_before, f.ref;

-- find_memo
SELECT memo FROM finalizations WHERE ref = :ref;

-- memoise
UPDATE finalizations SET memo = :memo, memo_host = (SELECT host FROM workers WHERE id = :worker)
WHERE ref = :ref AND session = :session AND worker = :worker AND claim = :claim AND state = 'running'
RETURNING ref;

-- finish_finalization
UPDATE finalizations
SET state = 'done', worker = NULL, memo = NULL, memo_host = NULL, note = :note, finished_at = :now,
    attempts = attempts + 1, last_error = NULL
WHERE ref = :ref AND session = :session AND worker = :worker AND claim = :claim AND state = 'running'
RETURNING ref;

-- put_back_finalization
UPDATE finalizations
SET state = :state, worker = NULL, attempts = attempts + :counted, last_error = :error,
    finished_at = CAST(:finished AS BIGINT),
    not_before = COALESCE(CAST(:again AS BIGINT), not_before)
WHERE ref = :ref AND session = :session AND worker = :worker AND claim = :claim AND state = 'running'
RETURNING ref;

-- finalize_session
UPDATE sessions SET state = 'finalized'
WHERE ref = :session AND state = 'ended'
  AND NOT EXISTS (SELECT 1 FROM finalizations AS f
                  WHERE f.session = sessions.ref AND f.state IN ('pending', 'running'));

-- forget_superseded
-- A later one covers more: the highest stays, and with it what is done for the session.
DELETE FROM finalizations
WHERE session = :session AND finalizer = :finalizer AND through < :through
  AND state = 'done' AND finished_at < :before;

-- free_finalizations
-- A worker that is not known any more has left long ago. Who left has given back what it had; only a death is counted.
UPDATE finalizations
SET state = 'pending', worker = NULL, not_before = :now, crashes = crashes + (
    SELECT COUNT(*) FROM workers AS w WHERE w.id = finalizations.worker AND w.dead_at IS NOT NULL
)
WHERE state = 'running'
  AND NOT EXISTS (SELECT 1 FROM workers AS w
                  WHERE w.id = finalizations.worker AND w.left_at IS NULL AND w.dead_at IS NULL)
RETURNING ref, crashes;

-- hasten_finalizations
UPDATE finalizations SET not_before = :now WHERE state = 'pending' AND not_before > :latest;

-- delay_finalization
UPDATE finalizations SET not_before = :again, last_error = :error WHERE ref = :ref;

-- page_finalizations
{finalization}
WHERE f.ref < :before
  AND (CAST(:finalizer AS TEXT) IS NULL OR f.finalizer = :finalizer)
  AND (CAST(:home AS TEXT) IS NULL OR h.name = :home)
ORDER BY f.ref DESC
LIMIT :limit;

-- page_finalizations_in_state
{finalization}
WHERE f.state = :state AND f.ref < :before
  AND (CAST(:finalizer AS TEXT) IS NULL OR f.finalizer = :finalizer)
  AND (CAST(:home AS TEXT) IS NULL OR h.name = :home)
ORDER BY f.ref DESC
LIMIT :limit;

-- page_finalizations_of_session
-- From the session to its few rows, whatever its home.
SELECT f.ref, h.name, s.id, f.session, f.finalizer, f.since, f.through, f.state, f.attempts, f.claim,
       f.worker, f.owed_at, f.not_before, f.finished_at, f.last_error, f.note, f.crashes
FROM homes AS h CROSS JOIN sessions AS s CROSS JOIN finalizations AS f
WHERE s.home = h.ref AND s.id = :session AND f.session = s.ref AND f.ref < :before
  AND (CAST(:finalizer AS TEXT) IS NULL OR f.finalizer = :finalizer)
  AND (CAST(:home AS TEXT) IS NULL OR h.name = :home)
  AND (CAST(:state AS TEXT) IS NULL OR f.state = :state)
ORDER BY f.ref DESC
LIMIT :limit;

-- tally_finalizations
SELECT finalizer, state, COUNT(*) FROM finalizations
WHERE state IN ('pending', 'running', 'dead')
GROUP BY finalizer, state
ORDER BY finalizer, state;

-- session_of_finalization
SELECT session FROM finalizations WHERE ref = :ref;

-- retry_finalization
UPDATE finalizations
SET state = 'pending', attempts = 0, crashes = 0, not_before = :now, finished_at = NULL
WHERE ref = :ref AND state = 'dead'
RETURNING ref;

-- discard_finalization
UPDATE finalizations
SET state = 'done', memo = NULL, note = 'discarded', finished_at = :now
WHERE ref = :ref AND state IN ('pending', 'dead')
RETURNING ref;

-- find_dues
SELECT v.session, v.finalizer, v.code, v.since, v.through, v.least, v.state, s.source, s.message_count, s.byte_count
FROM verdicts AS v JOIN sessions AS s ON s.ref = v.session
WHERE v.session IN ({refs})
ORDER BY v.session, v.finalizer;

-- verdicts
-- The view `verdicts` in its own words, for rules that are not stored.
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

-- drafted [sqlite]
SELECT value ->> 0 AS finalizer, value ->> 1 AS source, value ->> 2 AS min_messages FROM json_each(:rules)

-- drafted [postgres]
SELECT value ->> 0 AS finalizer, value ->> 1 AS source, CAST(value ->> 2 AS BIGINT) AS min_messages
FROM json_array_elements(CAST(:rules AS JSON))

-- find_drafted_dues
-- The drafted rules stand in place of the stored ones, so that nothing is written.
WITH owing AS ({drafted}), answered AS ({verdicts})
SELECT v.session, v.finalizer, v.code, v.since, v.through, v.least, v.state, s.source, s.message_count, s.byte_count
FROM answered AS v JOIN sessions AS s ON s.ref = v.session
WHERE v.session IN ({refs})
ORDER BY v.session, v.finalizer;

-- backlog
-- Sessions for which nothing was ever owed. What was copied into the session that went on is told by that one.
SELECT dues.home, dues.session, dues.ended_at, dues.through, COALESCE((
    SELECT younger.inherited - (s.last_seq - s.untold) - 1
    FROM sessions AS s JOIN sessions AS younger ON younger.home = s.home AND younger.parent = s.id
    WHERE s.ref = dues.session AND younger.inherited > 0
), 0) AS since
FROM dues
WHERE dues.finalizer = :finalizer AND dues.ended_at >= :since AND dues.since = 0;

-- count_backfill
SELECT COUNT(*), COALESCE(CAST(SUM(s.message_count) AS BIGINT), 0), COALESCE(CAST(SUM(s.byte_count) AS BIGINT), 0)
FROM ({backlog}) AS old JOIN sessions AS s ON s.ref = old.session
WHERE old.since < old.through;

-- backfill [sqlite]
INSERT INTO finalizations (home, session, finalizer, since, through, owed_at, not_before)
SELECT home, session, :finalizer, since, through, :now, :now
FROM ({backlog}) AS old
WHERE since < through
ORDER BY ended_at, session
LIMIT :limit
RETURNING ref;

-- backfill [postgres]
-- A session that is being revived is passed over; of one that ended again meanwhile the newer work is there.
WITH first AS MATERIALIZED (
    SELECT session, since FROM ({backlog}) AS old
    WHERE since < through
    ORDER BY ended_at, session
    LIMIT :limit
), ended AS MATERIALIZED (
    SELECT s.home, s.ref, first.since, COALESCE(s.untold, s.last_seq) AS through
    FROM first JOIN sessions AS s ON s.ref = first.session
    WHERE s.state IN ('ended', 'finalized')
    FOR UPDATE OF s SKIP LOCKED
)
INSERT INTO finalizations (home, session, finalizer, since, through, owed_at, not_before)
SELECT home, ref, CAST(:finalizer AS TEXT), since, through, :now, :now
FROM ended
ON CONFLICT DO NOTHING
RETURNING ref;

-- spend_calls
INSERT INTO finalizer_days (day, finalizer, calls)
SELECT CAST(:day AS TEXT), CAST(:finalizer AS TEXT), CAST(:calls AS BIGINT)
WHERE CAST(:calls AS BIGINT) <= :most
ON CONFLICT (day, finalizer) DO UPDATE SET calls = finalizer_days.calls + excluded.calls
WHERE finalizer_days.calls + excluded.calls <= :most
RETURNING calls;

-- forget_days
DELETE FROM finalizer_days WHERE day < :before;
