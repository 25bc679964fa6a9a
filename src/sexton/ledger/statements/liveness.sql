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

-- sessions_of_worker
SELECT {session}
FROM holders AS o
JOIN sessions AS s ON s.ref = o.session AND s.state = 'open'
JOIN homes AS h ON h.ref = s.home
WHERE o.worker = :worker;

-- confirm_dead [sqlite]
SELECT w.id
FROM holders AS o JOIN workers AS w ON w.id = o.worker
WHERE o.session = :ref AND o.worker = :worker AND (w.dead_at IS NOT NULL OR w.beat = :beat);

-- confirm_dead [postgres]
-- A beat that comes in now waits for us, and then finds its worker dead.
SELECT w.id
FROM holders AS o JOIN workers AS w ON w.id = o.worker
WHERE o.session = :ref AND o.worker = :worker AND (w.dead_at IS NOT NULL OR w.beat = :beat)
FOR NO KEY UPDATE OF w;

-- reap_session
-- The session ended when it was last active; whoever joined meanwhile keeps it.
UPDATE sessions
SET state = 'ended', ended_at = active_at, end_reason = :reason
WHERE ref = :ref AND state = 'open' AND epoch = :epoch
  AND active_at = :active_at AND message_count = :message_count AND turn_count = :turn_count
  AND :dead = (SELECT COUNT(*) FROM holders WHERE session = :ref)
RETURNING ref;

-- release_holder
-- Only who was declared dead: whoever beat in between keeps what it holds.
DELETE FROM holders
WHERE session = :ref AND worker = :worker
  AND EXISTS (SELECT 1 FROM workers WHERE id = :worker AND dead_at IS NOT NULL);

-- declare_dead
UPDATE workers
SET dead_at = :now, evidence = :evidence
WHERE id = :worker AND dead_at IS NULL AND left_at IS NULL AND beat = :beat
RETURNING id;

-- revive_session
UPDATE sessions
SET state = 'open', ended_at = NULL, end_reason = NULL, epoch = epoch + 1,
    due_at = :due_at, policy_serial = :serial
WHERE ref = :ref AND state = 'ended' AND end_reason LIKE 'reaped:%'
  AND NOT EXISTS (
      SELECT 1 FROM sessions AS newer
      WHERE newer.home = 1 AND newer.state = 'open' AND newer.key = sessions.key
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

-- contradict_shadow_reap
UPDATE shadow_reaps
SET contradicted_at = :now
WHERE home = :home AND session = :session AND contradicted_at IS NULL AND active_at < :active_at;

-- count_shadow_reaps
SELECT home, COUNT(*), COUNT(contradicted_at) FROM shadow_reaps GROUP BY home ORDER BY home;

-- forget_shadow_reaps
DELETE FROM shadow_reaps WHERE recorded_at < :before;
