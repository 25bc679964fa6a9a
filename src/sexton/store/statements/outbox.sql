-- letter
SELECT ref, target, key, event, title, text, home, session, state, attempts, claim, worker, posted_at,
       not_before, finished_at, last_error
FROM outbox

-- known_notices [sqlite]
SELECT DISTINCT key FROM outbox WHERE key IN (SELECT value FROM json_each(:keys));

-- known_notices [postgres]
SELECT DISTINCT key FROM outbox WHERE key IN (SELECT json_array_elements_text(CAST(:keys AS JSON)));

-- post_notice
INSERT INTO outbox (key, target, event, title, text, home, session, state, posted_at, not_before)
VALUES (:key, :target, :event, :title, :text, :home, :session, :state, :now, :now)
ON CONFLICT DO NOTHING;

-- claim_letters [sqlite]
UPDATE outbox
SET state = 'sending', worker = :worker, claim = claim + 1, attempts = attempts + 1
WHERE ref IN (
    SELECT n.ref
    FROM workers AS w CROSS JOIN outbox AS n
    WHERE w.id = :worker AND w.left_at IS NULL AND w.dead_at IS NULL
      AND n.state = 'pending' AND n.target = :target AND n.not_before <= :now
    ORDER BY n.not_before, n.ref
    LIMIT :limit
)
RETURNING ref;

-- claim_letters [postgres]
-- Whoever meets another passes over its rows; what is asked of a row is asked again when it is taken.
WITH ripe AS MATERIALIZED (
    SELECT n.ref
    FROM workers AS w CROSS JOIN outbox AS n
    WHERE w.id = :worker AND w.left_at IS NULL AND w.dead_at IS NULL
      AND n.state = 'pending' AND n.target = :target AND n.not_before <= :now
    ORDER BY n.not_before, n.ref
    LIMIT :limit
    FOR UPDATE OF n SKIP LOCKED
)
UPDATE outbox
SET state = 'sending', worker = :worker, claim = claim + 1, attempts = attempts + 1
WHERE ref IN (SELECT ref FROM ripe) AND state = 'pending' AND not_before <= :now
RETURNING ref;

-- find_letters
{letter}
WHERE ref IN ({refs})
ORDER BY not_before, ref;

-- finish_letter
UPDATE outbox SET state = 'delivered', worker = NULL, finished_at = :now
WHERE ref = :ref AND worker = :worker AND claim = :claim
RETURNING ref;

-- put_back_letter
UPDATE outbox
SET state = :state, worker = NULL, last_error = :error, finished_at = :finished,
    not_before = COALESCE(CAST(:again AS BIGINT), not_before)
WHERE ref = :ref AND worker = :worker AND claim = :claim
RETURNING ref;

-- free_letters
-- A worker that is not known any more has left long ago.
UPDATE outbox
SET state = 'pending', worker = NULL, not_before = :now
WHERE state = 'sending'
  AND (worker = :worker
       OR NOT EXISTS (SELECT 1 FROM workers AS w
                      WHERE w.id = outbox.worker AND w.left_at IS NULL AND w.dead_at IS NULL))
RETURNING ref;

-- hasten_letters
UPDATE outbox SET not_before = :now WHERE state = 'pending' AND not_before > :latest;

-- forget_letters
DELETE FROM outbox WHERE posted_at < :before RETURNING ref;

-- page_letters
{letter}
WHERE ref < :before
ORDER BY ref DESC
LIMIT :limit;

-- page_letters_in_state
{letter}
WHERE state = :state AND ref < :before
ORDER BY ref DESC
LIMIT :limit;

-- all_held
SELECT session, since FROM held_resets ORDER BY session;

-- forget_held
DELETE FROM held_resets WHERE session NOT IN ({refs});

-- remember_held
INSERT INTO held_resets (session, since)
SELECT ref, CAST(:now AS BIGINT) FROM sessions WHERE ref IN ({refs})
ON CONFLICT DO NOTHING;
