-- append_guard
-- The fence, the counts and the due time in one step; no row means that nothing may be written. The writer has seen
-- a message stored under the number `seen`: a session that has fewer was set back to an earlier state.
UPDATE sessions
SET last_seq      = last_seq + :count,
    message_count = message_count + :count,
    byte_count    = byte_count + :bytes,
    active_at     = :now,
    due_at        = CASE WHEN message_count + :count >= :at_messages
                           OR byte_count + :bytes >= :at_bytes
                           OR turn_count >= :at_turns
                         THEN :now ELSE :due_at END,
    preview       = COALESCE(preview, :preview),
    human_touched = human_touched | :human
WHERE ref = :ref AND id = :id AND epoch = :epoch AND state = 'open' AND policy_serial = :serial AND last_seq >= :seen
RETURNING last_seq, warned, (SELECT COALESCE(MAX(serial), 0) FROM policies) AS serial;

-- take_policies
-- Only after a guard has found other ones: an index over the serial would be written anew with every message. Whoever
-- comes second finds them taken, and goes on all the same.
UPDATE sessions
SET policy_serial = :serial
WHERE ref = :ref AND id = :id AND epoch = :epoch AND state = 'open' AND last_seq >= :seen
RETURNING ref;

-- insert_message
INSERT INTO messages (session, seq, at, role, is_text, content, extra)
VALUES (:session, :seq, :at, :role, :is_text, :content, :extra);

-- append_messages [postgres]
-- Guard and rows in one statement: one round trip, one commit.
WITH guard AS (
{append_guard}
), stored AS (
    INSERT INTO messages (session, seq, at, role, is_text, content, extra)
    SELECT :ref, guard.last_seq - :count + draft.place, :now, draft.role, draft.is_text, draft.content, draft.extra
    FROM guard,
         unnest(CAST(:roles AS text[]), CAST(:texts AS bigint[]), CAST(:contents AS bytea[]), CAST(:extras AS bytea[]))
         WITH ORDINALITY AS draft (role, is_text, content, extra, place)
)
SELECT last_seq, warned, serial FROM guard;

-- find_place
-- Where the messages of a session are: here, or in the vault.
SELECT s.id, s.state, v.receipt, s.last_seq
FROM sessions AS s LEFT JOIN vault AS v ON v.ref = s.vault
WHERE s.ref = :ref;

-- marks [sqlite]
SELECT value ->> 0 AS ref, value ->> 1 AS seen FROM json_each(:marks)

-- marks [postgres]
SELECT CAST(each ->> 0 AS BIGINT) AS ref, CAST(each ->> 1 AS BIGINT) AS seen
FROM json_array_elements(CAST(:marks AS JSON)) AS each

-- lacking
SELECT mark.ref
FROM ({marks}) AS mark LEFT JOIN sessions AS s ON s.ref = mark.ref
WHERE COALESCE(s.last_seq, -1) < mark.seen
ORDER BY mark.ref;

-- page_sizes
SELECT seq, COALESCE(LENGTH(content), 0) + COALESCE(LENGTH(extra), 0)
FROM messages
WHERE session = :session AND seq > :after
ORDER BY seq
LIMIT :limit;

-- page_messages
SELECT seq, role, is_text, content, at, extra
FROM messages
WHERE session = :session AND seq > :after AND seq <= :through
ORDER BY seq;
