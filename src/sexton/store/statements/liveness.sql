-- beat
-- No row: the worker was declared dead or has left, and must not go on as it is.
UPDATE workers
SET beat = beat + 1
WHERE id = :worker AND dead_at IS NULL AND left_at IS NULL
RETURNING beat;

-- dead_and_holding
-- Declared dead by a keeper that did not get to the end of it.
SELECT {worker}
FROM workers AS w
WHERE w.dead_at IS NOT NULL AND EXISTS (SELECT 1 FROM holders AS o WHERE o.worker = w.id);

-- workers [sqlite]
SELECT value FROM json_each(:workers)

-- workers [postgres]
SELECT json_array_elements_text(CAST(:workers AS JSON))

-- sessions_of_worker
-- A row for each holder of each session that any of the workers holds, those of one session together.
SELECT {session}, s.ref, o.joined_at, o.busy_since, o.progress_at, {worker}
FROM sessions AS s
JOIN homes AS h ON h.ref = s.home
JOIN holders AS o ON o.session = s.ref AND s.state = 'open'
JOIN workers AS w ON w.id = o.worker
WHERE s.ref IN (SELECT mine.session FROM holders AS mine WHERE mine.worker IN ({workers}))
ORDER BY s.ref, o.joined_at, w.id;

-- left_by
-- The same, but only what ending them takes.
SELECT s.ref, h.name, s.id, s.epoch, s.active_at, s.message_count, s.turn_count, s.pinned,
       s.source, s.parent, o.worker
FROM sessions AS s
JOIN homes AS h ON h.ref = s.home
JOIN holders AS o ON o.session = s.ref AND s.state = 'open'
WHERE s.ref IN (SELECT mine.session FROM holders AS mine WHERE mine.worker IN ({workers}))
ORDER BY s.ref, o.joined_at, o.worker;

-- refs [sqlite]
SELECT value FROM json_each(:refs)

-- refs [postgres]
SELECT CAST(json_array_elements_text(CAST(:refs AS JSON)) AS BIGINT)

-- held [sqlite]
SELECT value ->> 0 AS session, value ->> 1 AS worker, value ->> 2 AS beat FROM json_each(:held)

-- held [postgres]
SELECT CAST(each ->> 0 AS BIGINT) AS session, each ->> 1 AS worker, CAST(each ->> 2 AS BIGINT) AS beat
FROM json_array_elements(CAST(:held AS JSON)) AS each

-- deaths [sqlite]
SELECT value ->> 0 AS worker, value ->> 1 AS beat, value ->> 2 AS evidence FROM json_each(:deaths)

-- deaths [postgres]
SELECT each ->> 0 AS worker, CAST(each ->> 1 AS BIGINT) AS beat, each ->> 2 AS evidence
FROM json_array_elements(CAST(:deaths AS JSON)) AS each

-- reaps [sqlite]
SELECT value ->> 0 AS ref, value ->> 1 AS epoch, value ->> 2 AS active_at,
       value ->> 3 AS message_count, value ->> 4 AS turn_count, value ->> 5 AS reason, value ->> 6 AS dead,
       value ->> 7 AS id
FROM json_each(:reaps)

-- reaps [postgres]
SELECT CAST(each ->> 0 AS BIGINT) AS ref, CAST(each ->> 1 AS BIGINT) AS epoch, CAST(each ->> 2 AS BIGINT) AS active_at,
       CAST(each ->> 3 AS BIGINT) AS message_count, CAST(each ->> 4 AS BIGINT) AS turn_count,
       each ->> 5 AS reason, CAST(each ->> 6 AS BIGINT) AS dead, each ->> 7 AS id
FROM json_array_elements(CAST(:reaps AS JSON)) AS each

-- entries [sqlite]
SELECT value ->> 0 AS at, value ->> 1 AS actor, value ->> 2 AS receipt,
       value ->> 3 AS home, value ->> 4 AS session, value ->> 5 AS action,
       value ->> 6 AS result, value ->> 7 AS reason, value ->> 8 AS explanation
FROM json_each(:entries)

-- entries [postgres]
SELECT CAST(each ->> 0 AS BIGINT) AS at, each ->> 1 AS actor, each ->> 2 AS receipt,
       each ->> 3 AS home, each ->> 4 AS session, each ->> 5 AS action,
       each ->> 6 AS result, each ->> 7 AS reason, each ->> 8 AS explanation
FROM json_array_elements(CAST(:entries AS JSON)) AS each

-- insert_entries
INSERT INTO journal (at, actor, receipt, home, session, action, result, reason, explanation)
SELECT at, actor, receipt, home, session, action, result, reason, explanation
FROM ({entries}) AS told;

-- lock_sessions [sqlite]
-- Nobody else writes during a transaction.
SELECT 1;

-- lock_sessions [postgres]
-- In order: keepers that meet wait instead of deadlocking. Whoever joins is seen afterwards, or waits.
SELECT ref FROM sessions WHERE ref IN ({refs}) ORDER BY ref FOR UPDATE;

-- lock_workers [sqlite]
SELECT 1;

-- lock_workers [postgres]
-- A beat that comes in now waits for us, and then finds its worker dead.
SELECT id FROM workers WHERE id IN (SELECT worker FROM ({deaths}) AS dead) ORDER BY id FOR NO KEY UPDATE;

-- confirm_dead
-- One row for each holder that is as dead as it was taken for.
SELECT o.session
FROM ({held}) AS seen
CROSS JOIN holders AS o
CROSS JOIN workers AS w
WHERE o.session = seen.session AND o.worker = seen.worker AND w.id = o.worker
  AND (w.dead_at IS NOT NULL OR w.beat = seen.beat);

-- reap_sessions
-- A session ended when it was last active; whoever joined meanwhile keeps it.
UPDATE sessions
SET state = 'ended', ended_at = sessions.active_at, end_reason = seen.reason
FROM ({reaps}) AS seen
WHERE sessions.ref = seen.ref AND sessions.id = seen.id AND sessions.state = 'open' AND sessions.epoch = seen.epoch
  AND sessions.active_at = seen.active_at
  AND sessions.message_count = seen.message_count AND sessions.turn_count = seen.turn_count
  AND seen.dead = (SELECT COUNT(*) FROM holders WHERE holders.session = sessions.ref)
RETURNING sessions.ref;

-- drop_holders_of
DELETE FROM holders WHERE session IN ({refs});

-- release_holders
-- Only who was declared dead, or whose session has ended: whoever beat in between keeps what it holds.
DELETE FROM holders
WHERE (session, worker) IN (SELECT session, worker FROM ({held}) AS freed)
  AND (EXISTS (SELECT 1 FROM workers WHERE workers.id = holders.worker AND workers.dead_at IS NOT NULL)
       OR EXISTS (SELECT 1 FROM sessions WHERE sessions.ref = holders.session AND sessions.state <> 'open'));

-- release_ended
-- What ended otherwise, by its home's own hand, is free of whoever died with it.
DELETE FROM holders
WHERE worker IN (SELECT id FROM workers WHERE dead_at IS NOT NULL)
  AND EXISTS (SELECT 1 FROM sessions WHERE sessions.ref = holders.session AND sessions.state <> 'open');

-- declare_dead
UPDATE workers
SET dead_at = :now, evidence = dead.evidence
FROM ({deaths}) AS dead
WHERE workers.id = dead.worker AND workers.beat = dead.beat
  AND COALESCE(workers.dead_at, workers.left_at) IS NULL
RETURNING workers.id;

-- revive_session
-- An agent takes back a reap only; a person any end of the journal, as long as it is the last one, and no policy ends
-- the session again before somebody has used it.
UPDATE sessions
SET state = 'open', ended_at = NULL, end_reason = NULL, epoch = epoch + 1, active_at = :now,
    due_at = :due_at, policy_serial = :serial,
    spared_at = CASE WHEN CAST(:undoes AS BIGINT) IS NULL THEN spared_at ELSE :now END
WHERE ref = :ref AND state IN ('ended', 'finalized')
  AND (CAST(:undoes AS BIGINT) IS NOT NULL OR end_reason LIKE 'reaped:%')
  AND NOT EXISTS (
      SELECT 1 FROM sessions AS newer
      WHERE newer.home = 1 AND newer.state = 'open' AND newer.key = sessions.key
  )
  AND NOT EXISTS (
      SELECT 1 FROM journal AS later
      WHERE later.home = 'native' AND later.session = sessions.id AND later.action = 'revive'
        AND later.ref > CAST(:undoes AS BIGINT)
  )
RETURNING ref;

-- make_progress
UPDATE holders SET progress_at = :now WHERE session = :ref AND worker = :worker AND turns > 0;

-- store_sample
INSERT INTO samples (home, at, open, live, waiting, leaked, unproven)
VALUES (:home, :at, :open, :live, :waiting, :leaked, :unproven)
ON CONFLICT DO NOTHING;

-- forget_samples
DELETE FROM samples WHERE at < :before;

-- samples_since
SELECT home, at, open, live, waiting, leaked, unproven
FROM samples
WHERE at >= :since
ORDER BY at, home;

-- record_shadow_reap
INSERT INTO shadow_reaps (home, session, recorded_at, active_at, reason)
VALUES (:home, :session, :now, :active_at, :reason)
ON CONFLICT DO NOTHING
RETURNING session;

-- recorded_reaps
SELECT session, active_at FROM shadow_reaps WHERE home = :home;

-- contradict_shadow_reap
UPDATE shadow_reaps
SET contradicted_at = :now
WHERE home = :home AND session = :session AND contradicted_at IS NULL AND active_at < :active_at;

-- count_shadow_reaps
SELECT home, COUNT(*), COUNT(contradicted_at) FROM shadow_reaps GROUP BY home ORDER BY home;

-- forget_shadow_reaps
DELETE FROM shadow_reaps WHERE recorded_at < :before;
