-- caps_of
SELECT scope, subject, unit, period, cap, action
FROM counters
WHERE cap IS NOT NULL
  AND (scope = 'session' AND subject = :session OR scope = 'tree' AND subject = :root
       OR scope = 'source' AND subject = :source);

-- fenced_caps
-- The same of a session that is open under its epoch; of any other there is not even an empty row.
SELECT c.scope, c.subject, c.unit, c.period, c.cap, c.action
FROM sessions AS s LEFT JOIN ({caps_of}) AS c ON TRUE
WHERE s.ref = :ref AND s.epoch = :epoch AND s.state = 'open';

-- lock_counter [sqlite]
SELECT ref, used_at FROM counters
WHERE scope = :scope AND subject = :subject AND unit = :unit AND period = :period;

-- lock_counter [postgres]
-- Whoever spends from a counter queues here, so that what is asked afterwards is asked by one at a time.
SELECT ref, used_at FROM counters
WHERE scope = :scope AND subject = :subject AND unit = :unit AND period = :period
FOR UPDATE;

-- open_counter
INSERT INTO counters (scope, subject, unit, period, used_at)
VALUES (:scope, :subject, :unit, :period, :now)
ON CONFLICT (scope, subject, unit, period) DO UPDATE SET used_at = excluded.used_at
RETURNING ref;

-- find_standing
SELECT COALESCE(CAST(SUM(i.spent) AS BIGINT), 0), COALESCE(CAST(SUM(i.reserved) AS BIGINT), 0),
       COALESCE(CAST(SUM(i.added) AS BIGINT), 0), MIN(CASE WHEN i.spent + i.reserved > 0 THEN i.start END),
       COUNT(i.start), c.stopped_at, c.ref
FROM counters AS c LEFT JOIN slices AS i ON i.counter = c.ref AND i.start >= :since AND i.start <= :ahead
WHERE c.scope = :scope AND c.subject = :subject AND c.unit = :unit AND c.period = :period
GROUP BY c.ref;

-- sum_slices
SELECT COALESCE(CAST(SUM(spent) AS BIGINT), 0), COALESCE(CAST(SUM(reserved) AS BIGINT), 0),
       COALESCE(CAST(SUM(added) AS BIGINT), 0), MIN(CASE WHEN spent + reserved > 0 THEN start END), COUNT(*)
FROM slices
WHERE counter = :counter AND start >= :since AND start <= :ahead;

-- take_slice
INSERT INTO slices (counter, start, spent, reserved)
SELECT CAST(:counter AS BIGINT), CAST(:start AS BIGINT), CAST(:spent AS BIGINT), CAST(:reserved AS BIGINT)
WHERE CAST(:most AS BIGINT) IS NULL OR :most >= CAST(:spent AS BIGINT) + CAST(:reserved AS BIGINT) + (
    SELECT COALESCE(CAST(SUM(spent + reserved - added) AS BIGINT), 0)
    FROM slices
    WHERE counter = :counter AND start >= :since AND start <= :ahead
)
ON CONFLICT (counter, start) DO UPDATE
SET spent = slices.spent + excluded.spent, reserved = slices.reserved + excluded.reserved
RETURNING counter;

-- insert_grant
-- No row: the slot holds an earlier grant that was not settled; see vacate_slot.
INSERT INTO grants (session, worker, made_at, held, slot, number)
VALUES (:session, :worker, :made_at, :held, :slot, :number)
ON CONFLICT (slot) DO UPDATE
SET session = excluded.session, worker = excluded.worker, made_at = excluded.made_at, held = excluded.held,
    number = excluded.number, freed_at = NULL, settled = NULL
WHERE grants.settled IS NOT NULL
RETURNING ref;

-- settle_grant
UPDATE grants SET settled = COALESCE(freed_at, 0), freed_at = made_at
WHERE slot = :slot AND number = :number AND settled IS NULL
RETURNING held, settled;

-- note_settled
-- The same of a grant that the ledger does not know. No row: it was settled before, or see vacate_slot.
INSERT INTO grants (session, worker, made_at, held, freed_at, slot, number, settled)
VALUES (:session, :worker, :made_at, '[]', :made_at, :slot, :number, 0)
ON CONFLICT (slot) DO UPDATE
SET session = excluded.session, worker = excluded.worker, made_at = excluded.made_at, held = excluded.held,
    number = excluded.number, freed_at = excluded.freed_at, settled = excluded.settled
WHERE grants.settled IS NOT NULL AND grants.number < excluded.number
RETURNING ref;

-- vacate_slot
-- An earlier grant of the slot is open if its worker never heard of it, or if a crash took its release back.
DELETE FROM grants WHERE slot = :slot AND number < :number RETURNING held, freed_at;

-- settle_slice
INSERT INTO slices (counter, start, spent) VALUES (:counter, :start, :used)
ON CONFLICT (counter, start) DO UPDATE
SET spent = slices.spent + excluded.spent, reserved = slices.reserved - :amount;

-- add_usage
UPDATE sessions
SET input_tokens = input_tokens + :input, output_tokens = output_tokens + :output,
    cached_tokens = cached_tokens + :cached, reasoning_tokens = reasoning_tokens + :reasoning,
    cost_micros = cost_micros + :cost
WHERE ref = :ref;

-- used_by_session
SELECT input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_micros, message_count
FROM sessions
WHERE ref = :ref;

-- free_grants
-- A worker that is not known any more has left long ago.
UPDATE grants SET freed_at = :now
WHERE freed_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM workers AS w
                  WHERE w.id = grants.worker AND w.left_at IS NULL AND w.dead_at IS NULL)
RETURNING held, worker, (SELECT s.id FROM sessions AS s WHERE s.ref = grants.session);

-- forget_grants
DELETE FROM grants WHERE freed_at < :before;

-- forget_slices
DELETE FROM slices WHERE start > 0 AND start < :before;

-- forget_counters
DELETE FROM counters WHERE used_at < :before AND cap IS NULL;

-- mark_warned
UPDATE counters SET warned_at = :now, warned = :most
WHERE ref = :ref AND (warned_at IS NULL OR warned_at < :before OR warned < :most)
RETURNING ref;

-- mark_stopped
UPDATE counters SET stopped_at = :now
WHERE ref = :ref AND (stopped_at IS NULL OR stopped_at < :before)
RETURNING ref;

-- clear_marks
UPDATE counters SET warned_at = NULL, warned = NULL, stopped_at = NULL WHERE ref = :ref;

-- set_cap
UPDATE counters SET cap = CAST(:cap AS BIGINT), action = CAST(:action AS TEXT) WHERE ref = :ref;

-- add_slice
INSERT INTO slices (counter, start, added) VALUES (:counter, :start, :amount)
ON CONFLICT (counter, start) DO UPDATE SET added = slices.added + excluded.added;

-- clear_added
UPDATE slices SET added = 0 WHERE counter = :ref;

-- find_root
-- A session from before roots were kept is followed up to where its tree grew from.
WITH RECURSIVE line (ref, id, root, parent) AS (
    SELECT ref, id, root, CASE WHEN relation IN ('subagent', 'compression') THEN parent END
    FROM sessions WHERE ref = :ref
    UNION
    SELECT elder.ref, elder.id, elder.root,
           CASE WHEN elder.relation IN ('subagent', 'compression') THEN elder.parent END
    FROM line JOIN sessions AS elder ON elder.home = 1 AND elder.id = line.parent
    WHERE line.root IS NULL
)
SELECT COALESCE(MIN(root), MIN(ref))
FROM line
WHERE root IS NOT NULL OR NOT EXISTS (SELECT 1 FROM line AS elder WHERE elder.id = line.parent);

-- find_ref
SELECT ref FROM sessions WHERE home = 1 AND id = :id;

-- find_guard
SELECT guard FROM sessions WHERE ref = :ref;

-- store_guard
UPDATE sessions SET guard = :guard WHERE ref = :ref AND id = :id AND epoch = :epoch;
