-- find_current
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.key = :key AND s.home = 1 AND s.state = 'open';

-- find_before
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.key = :key AND s.home = 1 AND s.state <> 'open' AND s.ref < :ref
ORDER BY s.ref DESC
LIMIT 1;

-- find_by_ref
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.ref = :ref;

-- find_by_id
-- The order of a cross join is kept: homes are few, and each is searched by its index.
SELECT {session}
FROM homes AS h CROSS JOIN sessions AS s
WHERE s.home = h.ref AND s.id = :id
ORDER BY h.ref;

-- find_by_prefix
SELECT {session}
FROM homes AS h CROSS JOIN sessions AS s
WHERE s.home = h.ref AND s.id >= :first AND s.id < :after
ORDER BY h.ref, s.id
LIMIT :limit;

-- find_holders
SELECT o.session, o.joined_at, o.busy_since, o.progress_at, {worker}
FROM holders AS o JOIN workers AS w ON w.id = o.worker
WHERE o.session = :ref
ORDER BY o.joined_at, w.id;

-- find_holders_of [sqlite]
SELECT o.session, o.joined_at, o.busy_since, o.progress_at, {worker}
FROM holders AS o JOIN workers AS w ON w.id = o.worker
WHERE o.session IN (SELECT value FROM json_each(:refs))
ORDER BY o.session, o.joined_at, w.id;

-- find_holders_of [postgres]
SELECT o.session, o.joined_at, o.busy_since, o.progress_at, {worker}
FROM holders AS o JOIN workers AS w ON w.id = o.worker
WHERE o.session IN (SELECT CAST(json_array_elements_text(CAST(:refs AS JSON)) AS BIGINT))
ORDER BY o.session, o.joined_at, w.id;

-- new_ref
-- Higher than every number there is, with 28 random bits at its end: a ledger that is set back to an earlier state
-- counts from there again, but gives no number a second time. Old handles find nothing under theirs.
((SELECT COALESCE(MAX(ref), 0) >> 28 FROM sessions) + 1) * 268435456 + :random

-- insert_session
INSERT INTO sessions (ref, home, id, key, source, chat_type, job, parent, relation, root, title,
                      started_at, active_at, active_slot, due_at, policy_serial)
VALUES ({new_ref}, 1, :id, :key, :source, :chat_type, :job, :parent, :relation, :root, :title,
        :now, :now, CAST(:now AS BIGINT) >> 20, :due_at, :serial)
ON CONFLICT DO NOTHING
RETURNING ref;

-- add_holder
-- No row: the ledger does not know the worker.
INSERT INTO holders (session, worker, joined_at)
SELECT :ref, id, :now FROM workers WHERE id = :worker
ON CONFLICT (session, worker) DO UPDATE SET joined_at = holders.joined_at
RETURNING session;

-- drop_holder
DELETE FROM holders WHERE session = :ref AND worker = :worker;

-- drop_holders
DELETE FROM holders WHERE session = :ref;

-- drop_all_of_worker
DELETE FROM holders WHERE worker = :worker;

-- lock_open [sqlite]
SELECT ref FROM sessions WHERE ref = :ref AND id = :id AND epoch = :epoch AND state = 'open';

-- lock_open [postgres]
-- The session before its holders, as everywhere: moves that meet wait instead of deadlocking.
SELECT ref FROM sessions WHERE ref = :ref AND id = :id AND epoch = :epoch AND state = 'open' FOR UPDATE;

-- join_session
-- A session without any holder left is adopted: whoever wrote under the old epoch is fenced off.
UPDATE sessions
SET epoch = epoch + CASE WHEN EXISTS (SELECT 1 FROM holders WHERE session = :ref) THEN 0 ELSE 1 END
WHERE ref = :ref AND id = :id AND epoch = :epoch AND state = 'open'
RETURNING epoch;

-- end_as_seen
UPDATE sessions
SET state = 'ended', ended_at = :now, end_reason = :reason
WHERE ref = :ref AND id = :id AND state = 'open' AND epoch = :epoch
  AND active_at = :active_at AND message_count = :message_count
  AND turn_count = :turn_count AND pinned = :pinned
RETURNING ref;

-- end_fenced
UPDATE sessions
SET state = 'ended', ended_at = :now, end_reason = :reason
WHERE ref = :ref AND id = :id AND state = 'open' AND epoch = :epoch
RETURNING ref;

-- lock_held [sqlite]
SELECT session FROM holders WHERE worker = :worker;

-- lock_held [postgres]
-- Two last holders that leave together queue here; without it each would see the other and neither ends.
SELECT ref FROM sessions
WHERE ref IN (SELECT session FROM holders WHERE worker = :worker)
ORDER BY ref
FOR UPDATE;

-- end_with_owner
UPDATE sessions
SET state = 'ended', ended_at = :now, end_reason = 'closed'
WHERE state = 'open' AND source = :source
  AND ref IN (SELECT session FROM holders WHERE worker = :worker)
  AND NOT EXISTS (SELECT 1 FROM holders AS o WHERE o.session = sessions.ref AND o.worker <> :worker)
RETURNING ref;

-- start_turn
UPDATE sessions
SET turn_count = turn_count + 1,
    due_at = CASE WHEN turn_count + 1 >= :at_turns THEN :now ELSE due_at END
WHERE ref = :ref AND id = :id AND epoch = :epoch AND state = 'open' AND last_seq >= :seen
RETURNING last_seq, warned, (SELECT COALESCE(MAX(serial), 0) FROM policies);

-- mark_busy
-- A forked child that goes on with its parent's session becomes a holder by its first turn.
-- No row: the ledger does not know the worker.
INSERT INTO holders (session, worker, joined_at, turns, busy_since)
SELECT :ref, id, :now, 1, :now FROM workers WHERE id = :worker
ON CONFLICT (session, worker) DO UPDATE
SET turns = holders.turns + 1, busy_since = COALESCE(holders.busy_since, excluded.busy_since)
RETURNING session;

-- clear_busy
UPDATE holders
SET turns = turns - 1,
    busy_since = CASE WHEN turns > 1 THEN busy_since END,
    progress_at = CASE WHEN turns > 1 THEN progress_at END
WHERE session = :ref AND worker = :worker AND turns > 0
RETURNING session;

-- busy_sessions
SELECT session, turns FROM holders WHERE worker = :worker AND turns > 0;

-- recount_turns
UPDATE holders
SET turns = CAST(:running AS BIGINT),
    busy_since = CASE WHEN CAST(:running AS BIGINT) > 0 THEN busy_since END,
    progress_at = CASE WHEN CAST(:running AS BIGINT) > 0 THEN progress_at END
WHERE session = :ref AND worker = :worker AND turns = :seen;

-- mark_errored
UPDATE sessions SET errored = 1 WHERE ref = :ref AND id = :id AND epoch = :epoch AND errored = 0;

-- mark_pinned
-- Together with all that it was compressed from: a conversation is kept or let go as one.
WITH RECURSIVE talk (ref, parent, inherited) AS (
    SELECT ref, parent, inherited FROM sessions
    WHERE ref = :ref AND epoch = COALESCE(CAST(:epoch AS BIGINT), epoch)
    UNION
    SELECT elder.ref, elder.parent, elder.inherited
    FROM talk JOIN sessions AS elder ON elder.home = 1 AND elder.id = talk.parent
    WHERE talk.inherited > 0
)
UPDATE sessions SET pinned = :pinned, kept = :pinned
WHERE ref IN (SELECT ref FROM talk)
RETURNING ref;

-- mark_title
UPDATE sessions SET title = :title
WHERE ref = :ref AND epoch = COALESCE(CAST(:epoch AS BIGINT), epoch)
RETURNING ref;
