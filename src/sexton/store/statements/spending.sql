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

-- listed [sqlite]
json_each(:rows) AS listed

-- listed [postgres]
json_array_elements(CAST(:rows AS JSON)) WITH ORDINALITY AS listed (value, key)

-- lock_counters [sqlite]
SELECT c.scope, c.subject, c.unit, c.period, c.ref
FROM {listed} CROSS JOIN counters AS c
    ON c.scope = listed.value ->> 0 AND c.subject = listed.value ->> 1
    AND c.unit = listed.value ->> 2 AND c.period = listed.value ->> 3
WHERE c.used_at >= :fresh;

-- lock_counters [postgres]
-- Whoever spends from counters queues here, so that what is asked afterwards is asked by one at a time. Locks all of
-- them in the order of the list, or none if one is missing: open_counters then goes through them in the same order.
WITH known AS (
    SELECT listed.key, c.ref
    FROM {listed} JOIN counters AS c
        ON c.scope = listed.value ->> 0 AND c.subject = listed.value ->> 1
        AND c.unit = listed.value ->> 2 AND c.period = listed.value ->> 3
    WHERE c.used_at >= :fresh
)
SELECT c.scope, c.subject, c.unit, c.period, c.ref
FROM known JOIN counters AS c ON c.ref = known.ref
WHERE (SELECT COUNT(*) FROM known) = json_array_length(CAST(:rows AS JSON))
ORDER BY known.key
FOR UPDATE OF c;

-- open_counters
INSERT INTO counters (scope, subject, unit, period, used_at)
SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, CAST(:now AS BIGINT)
FROM (SELECT key, value FROM {listed} ORDER BY key) AS named
WHERE TRUE
ON CONFLICT (scope, subject, unit, period) DO UPDATE SET used_at = excluded.used_at
RETURNING scope, subject, unit, period, ref;

-- find_standing
SELECT COALESCE(CAST(SUM(i.spent) AS BIGINT), 0), COALESCE(CAST(SUM(i.reserved) AS BIGINT), 0),
       COALESCE(CAST(SUM(i.added) AS BIGINT), 0), MIN(CASE WHEN i.spent + i.reserved > 0 THEN i.start END),
       COUNT(i.start), c.stopped_at, c.ref
FROM counters AS c LEFT JOIN slices AS i ON i.counter = c.ref AND i.start >= :since AND i.start <= :ahead
WHERE c.scope = :scope AND c.subject = :subject AND c.unit = :unit AND c.period = :period
GROUP BY c.ref;

-- sum_slices
SELECT COALESCE(CAST(SUM(i.spent) AS BIGINT), 0), COALESCE(CAST(SUM(i.reserved) AS BIGINT), 0),
       COALESCE(CAST(SUM(i.added) AS BIGINT), 0), MIN(CASE WHEN i.spent + i.reserved > 0 THEN i.start END),
       COUNT(i.start)
FROM {listed} LEFT JOIN slices AS i
    ON i.counter = CAST(listed.value ->> 0 AS BIGINT)
    AND i.start >= CAST(listed.value ->> 1 AS BIGINT) AND i.start <= CAST(listed.value ->> 2 AS BIGINT)
GROUP BY listed.key
ORDER BY listed.key;

-- take_slices
-- In the order of the list. A limit that others have reached meanwhile leaves its row out.
INSERT INTO slices (counter, start, spent, reserved)
SELECT wish.counter, wish.start, wish.spent, wish.reserved
FROM (SELECT CAST(value ->> 0 AS BIGINT) AS counter, CAST(value ->> 1 AS BIGINT) AS start,
             CAST(value ->> 2 AS BIGINT) AS since, CAST(value ->> 3 AS BIGINT) AS ahead,
             CAST(value ->> 4 AS BIGINT) AS spent, CAST(value ->> 5 AS BIGINT) AS reserved,
             CAST(value ->> 6 AS BIGINT) AS most
      FROM {listed} ORDER BY key) AS wish
WHERE wish.most IS NULL OR wish.most >= wish.spent + wish.reserved + (
    SELECT COALESCE(CAST(SUM(i.spent + i.reserved - i.added) AS BIGINT), 0)
    FROM slices AS i
    WHERE i.counter = wish.counter AND i.start >= wish.since AND i.start <= wish.ahead
)
ON CONFLICT (counter, start) DO UPDATE
SET spent = slices.spent + excluded.spent, reserved = slices.reserved + excluded.reserved
RETURNING counter;

-- insert_grant
-- No row: the slot holds an earlier grant that was not settled, see vacate_slot, or this one was settled before.
INSERT INTO grants (session, worker, made_at, held, slot, number)
VALUES (:session, :worker, :made_at, :held, :slot, :number)
ON CONFLICT (slot) DO UPDATE
SET session = excluded.session, worker = excluded.worker, made_at = excluded.made_at, held = excluded.held,
    number = excluded.number, freed_at = NULL, settled = NULL
WHERE grants.settled IS NOT NULL AND grants.number < excluded.number
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
WITH RECURSIVE line (home, ref, id, root, parent) AS (
    SELECT home, ref, id, root, CASE WHEN relation IN ('subagent', 'compression') THEN parent END
    FROM sessions WHERE ref = :ref
    UNION
    SELECT elder.home, elder.ref, elder.id, elder.root,
           CASE WHEN elder.relation IN ('subagent', 'compression') THEN elder.parent END
    FROM line JOIN sessions AS elder ON elder.home = line.home AND elder.id = line.parent
    WHERE line.root IS NULL
)
SELECT COALESCE(MIN(root), MIN(ref))
FROM line
WHERE root IS NOT NULL OR NOT EXISTS (SELECT 1 FROM line AS elder WHERE elder.id = line.parent);

-- find_ref
SELECT ref FROM sessions WHERE home = 1 AND id = :id;

-- find_guard
{chain} SELECT guard FROM chain WHERE guard IS NOT NULL ORDER BY place LIMIT 1;

-- store_guard
UPDATE sessions SET guard = :guard WHERE ref = :ref AND id = :id AND epoch = :epoch;
