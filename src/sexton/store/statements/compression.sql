-- find_readiness
SELECT compress_after FROM sessions WHERE ref = :ref AND id = :id AND epoch = :epoch AND state = 'open';

-- rest_session
UPDATE sessions SET compress_after = :until WHERE ref = :ref AND id = :id AND epoch = :epoch AND state = 'open'
RETURNING ref;

-- end_compressed
UPDATE sessions
SET state = 'ended', ended_at = :now, end_reason = 'compression', untold = CAST(:untold AS BIGINT)
WHERE ref = :ref AND id = :id AND epoch = :epoch AND state = 'open' AND last_seq >= :seen
RETURNING ref;

-- insert_shorter
-- After its parent has ended in the same transaction: a key has one open session. It is the same conversation, so
-- its clocks and turns go on; warnings about its size (1 messages, 2 bytes) may be given again.
INSERT INTO sessions (ref, home, id, key, source, chat_type, job, parent, relation, epoch, started_at, active_at, active_slot,
                      due_at, policy_serial, last_seq, message_count, byte_count, turn_count, title, preview, pinned,
                      human_touched, errored, warned, inherited, root)
SELECT {new_ref}, s.home, :id, s.key, s.source, s.chat_type, s.job, s.id, 'compression', s.epoch, s.started_at, s.active_at,
       s.active_slot, s.due_at, s.policy_serial, s.last_seq - :through + :head + 1, kept.messages + 1, kept.bytes + :size,
       s.turn_count, s.title, s.preview, s.pinned, s.human_touched, s.errored, s.warned & 12,
       s.last_seq - :through + :head + 1, CAST(:root AS BIGINT)
FROM sessions AS s CROSS JOIN (
    SELECT COUNT(*) AS messages,
           COALESCE(SUM(COALESCE(LENGTH(content), 0) + COALESCE(LENGTH(extra), 0)), 0) AS bytes
    FROM messages
    WHERE session = :ref AND (seq <= :head OR seq > :through)
) AS kept
WHERE s.ref = :ref
RETURNING ref;

-- copy_messages
-- The summary has the number after the head; the rest follows.
INSERT INTO messages (session, seq, at, role, is_text, content, extra)
SELECT :child, CASE WHEN seq <= :head THEN seq ELSE seq - :through + :head + 1 END, at, role, is_text, content, extra
FROM messages
WHERE session = :ref AND (seq <= :head OR seq > :through);

-- move_holders
UPDATE holders SET session = :child WHERE session = :ref;

-- cover_copies
-- What was covered in the parent is covered in the child: no turn is finalized twice. A summary counts as covered
-- only if all that it is about was.
INSERT INTO finalizations (home, session, finalizer, since, through, state, owed_at, not_before, finished_at, note)
SELECT 1, :child, done.finalizer, 0, done.copied, 'done', :now, :now, :now, 'covered before its session was compressed'
FROM (
    SELECT finalizer, CASE WHEN MAX(through) >= :through THEN MAX(through) - :through + :head + 1
                           WHEN MAX(through) < :head THEN MAX(through) ELSE :head END AS copied
    FROM finalizations
    WHERE session = :ref
    GROUP BY finalizer
) AS done
WHERE done.copied > 0;

-- find_tip
WITH RECURSIVE later (ref, id, place) AS (
    SELECT ref, id, 0 FROM sessions WHERE ref = :ref
    UNION ALL
    SELECT child.ref, child.id, later.place + 1
    FROM later CROSS JOIN sessions AS child
    WHERE child.home = 1 AND child.parent = later.id AND child.inherited > 0
)
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.ref = (SELECT ref FROM later WHERE place > 0 ORDER BY place DESC LIMIT 1);

-- chain
-- The parts of a conversation that was compressed, the newest first. What homes say of one another may be a circle.
WITH RECURSIVE chain (ref, home, parent, relation, inherited, guard, place) AS (
    SELECT ref, home, parent, relation, inherited, guard, 0 FROM sessions WHERE ref = :ref
    UNION ALL
    SELECT elder.ref, elder.home, elder.parent, elder.relation, elder.inherited, elder.guard, chain.place + 1
    FROM chain JOIN sessions AS elder ON elder.home = chain.home AND elder.id = chain.parent
    WHERE chain.relation = 'compression' AND (chain.home = 1 OR chain.place < 1000)
)

-- find_chain
{chain} SELECT ref, inherited FROM chain ORDER BY place DESC;
