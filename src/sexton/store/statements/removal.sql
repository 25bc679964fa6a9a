-- vault_file
SELECT v.ref, v.name, v.kind, v.holds, h.name, v.source, v.host, v.place, v.state, v.worker, v.receipt, v.made_at,
       v.expires_at, v.bytes, v.raw_bytes, v.sha256, v.sessions, v.messages, v.files
FROM vault AS v JOIN homes AS h ON h.ref = v.home

-- stored_session
SELECT s.ref, s.state, s.last_seq, {row} FROM sessions AS s WHERE s.ref IN ({refs}) ORDER BY s.ref;

-- stored_finalizations
SELECT session, finalizer, since, through, state, attempts, owed_at, finished_at, last_error, note
FROM finalizations
WHERE session IN ({refs})
ORDER BY session, ref;

-- stored_messages
SELECT session, seq, at, role, is_text, content, extra
FROM messages
WHERE session IN ({refs})
ORDER BY session, seq;

-- page_stored
SELECT seq, at, role, is_text, content, extra
FROM messages
WHERE session = :session AND seq > :after AND seq <= :through
ORDER BY seq;

-- insert_file
INSERT INTO vault (name, kind, holds, home, source, host, place, state, worker, receipt, made_at, expires_at)
SELECT CAST(:name AS TEXT), CAST(:kind AS TEXT), CAST(:holds AS TEXT), ref, CAST(:source AS TEXT), CAST(:host AS TEXT),
       CAST(:place AS TEXT), 'writing', CAST(:worker AS TEXT), CAST(:receipt AS TEXT), CAST(:now AS BIGINT),
       CAST(:expires_at AS BIGINT)
FROM homes
WHERE name = :home
RETURNING ref;

-- lock_file [sqlite]
SELECT ref FROM vault WHERE ref = :ref AND state = :state AND worker = :worker;

-- lock_file [postgres]
-- Whoever has taken the file over is seen, or waits until we are done.
SELECT ref FROM vault WHERE ref = :ref AND state = :state AND worker = :worker FOR UPDATE;

-- free_to_go
-- How the sessions stand that nobody holds, that are not pinned and that owe nothing.
SELECT s.ref, s.state, s.epoch, s.active_at, s.message_count, s.turn_count, s.last_seq,
       (SELECT COUNT(*) FROM messages AS m WHERE m.session = s.ref)
FROM sessions AS s
WHERE s.ref IN ({refs}) AND s.state IN ('ended', 'finalized') AND s.pinned = 0
  AND NOT EXISTS (SELECT 1 FROM holders AS o WHERE o.session = s.ref)
  AND NOT EXISTS (SELECT 1 FROM finalizations AS f
                  WHERE f.session = s.ref
                    AND (f.state IN ('pending', 'running') OR f.state = 'dead' AND f.finished_at > :spares));

-- move_sessions
UPDATE sessions SET state = :state, vault = :vault WHERE ref IN ({refs}) AND state IN ('ended', 'finalized');

-- tell_of_sessions
INSERT INTO journal (at, actor, receipt, home, session, action, result, reason, explanation)
SELECT CAST(:at AS BIGINT), CAST(:actor AS TEXT), CAST(:receipt AS TEXT), h.name, s.id, CAST(:action AS TEXT),
       CAST(:result AS TEXT), CAST(:reason AS TEXT), CAST(:explanation AS TEXT)
FROM sessions AS s CROSS JOIN homes AS h
WHERE s.ref IN ({refs}) AND h.ref = s.home;

-- count_removed
INSERT INTO removal_days (home, day, sessions)
SELECT home, CAST(:day AS TEXT), CAST(:sessions AS BIGINT) FROM vault WHERE ref = :ref
ON CONFLICT (home, day) DO UPDATE SET sessions = removal_days.sessions + excluded.sessions;

-- forget_removal_days
DELETE FROM removal_days WHERE day < :before;

-- removed_on
SELECT d.sessions FROM removal_days AS d JOIN homes AS h ON h.ref = d.home WHERE h.name = :home AND d.day = :day;

-- store_written
UPDATE vault
SET bytes = :bytes, raw_bytes = :raw_bytes, sha256 = :digest, sessions = :sessions, messages = :messages, files = :files
WHERE ref = :ref;

-- turn_file
UPDATE vault
SET state = :next, worker = :hand
WHERE ref = :ref AND state = :state AND COALESCE(worker, '') = COALESCE(CAST(:worker AS TEXT), '')
RETURNING ref;

-- forget_file
-- Never while a session is in it: what is in there would be lost.
DELETE FROM vault
WHERE ref = :ref AND state = :state AND worker = :worker
  AND NOT EXISTS (SELECT 1 FROM sessions AS s WHERE s.vault = vault.ref)
RETURNING ref;

-- sessions_inside
SELECT s.ref, s.id, s.state, s.message_count
FROM sessions AS s
WHERE s.vault = :vault
ORDER BY s.ref;

-- count_inside
SELECT s.vault, COUNT(*) FROM sessions AS s WHERE s.vault IN ({refs}) GROUP BY s.vault;

-- clear_messages
DELETE FROM messages
WHERE session IN (SELECT s.ref FROM sessions AS s WHERE s.vault = :vault AND s.ref IN ({refs}));

-- clear_some_messages
DELETE FROM messages
WHERE ref IN (SELECT m.ref
              FROM sessions AS s CROSS JOIN messages AS m
              WHERE s.vault = :vault AND s.ref = :session AND m.session = s.ref
              LIMIT :limit)
RETURNING ref;

-- owners_of_files
-- The sessions that stayed, and only files of theirs went.
SELECT s.ref FROM vault AS v CROSS JOIN sessions AS s WHERE v.ref = :ref AND s.home = v.home AND s.id IN ({names});

-- doom_file
UPDATE vault
SET state = 'removing', worker = :worker
WHERE ref = :ref AND state = 'kept' AND kind = 'trash' AND expires_at <= :deadline
  AND NOT EXISTS (
      SELECT 1 FROM sessions AS s
      WHERE s.ref IN ({refs})
        AND (s.pinned = 1
             OR EXISTS (SELECT 1 FROM finalizations AS f
                        WHERE f.session = s.ref
                          AND (f.state IN ('pending', 'running') OR f.state = 'dead' AND f.finished_at > :spares)))
  )
RETURNING ref;

-- expire_archives
-- Only where it is not so already: most of the time nothing changes.
UPDATE vault
SET expires_at = made_at + CAST(:age AS BIGINT)
WHERE host = :host AND kind = 'archive' AND COALESCE(expires_at, 0) <> COALESCE(made_at + CAST(:age AS BIGINT), 0);

-- discard_file
UPDATE vault
SET kind = 'trash', expires_at = :until
WHERE ref = :ref AND state = 'kept' AND kind = 'archive' AND expires_at <= :now
  AND NOT EXISTS (SELECT 1 FROM sessions AS s WHERE s.ref IN ({refs}) AND s.pinned = 1)
RETURNING ref;

-- discard_sessions
UPDATE sessions SET state = 'trashed' WHERE vault = :vault AND state = 'archived'
RETURNING ref;

-- purge_sessions
-- A title and a preview are content, too.
UPDATE sessions SET state = 'purged', vault = NULL, title = NULL, preview = NULL
WHERE vault = :vault AND state = 'trashed'
RETURNING ref;

-- purge_finalizations
DELETE FROM finalizations WHERE session IN ({refs});

-- arrivals [sqlite]
SELECT value ->> 0 AS ref, value ->> 1 AS state FROM json_each(:arrivals)

-- arrivals [postgres]
SELECT CAST(each ->> 0 AS BIGINT) AS ref, each ->> 1 AS state FROM json_array_elements(CAST(:arrivals AS JSON)) AS each

-- still_inside [sqlite]
SELECT s.ref FROM sessions AS s WHERE s.vault = :vault AND s.ref IN ({refs});

-- still_inside [postgres]
SELECT s.ref FROM sessions AS s WHERE s.vault = :vault AND s.ref IN ({refs}) ORDER BY s.ref FOR UPDATE;

-- insert_stored
-- Again after a crash: what is there already stays.
INSERT INTO messages (session, seq, at, role, is_text, content, extra)
VALUES (:session, :seq, :at, :role, :is_text, :content, :extra)
ON CONFLICT (session, seq) DO NOTHING;

-- bring_back
-- Whole or not at all. From the arrivals to their rows, not from all that is in the file. The messages of a
-- foreign home are there, and not here.
UPDATE sessions
SET state = seen.state, vault = NULL
FROM ({arrivals}) AS seen
WHERE sessions.ref = seen.ref AND COALESCE(sessions.vault, 0) = :vault
  AND (sessions.home <> 1
       OR sessions.message_count = (SELECT COUNT(*) FROM messages AS m WHERE m.session = sessions.ref))
RETURNING sessions.ref;

-- file_of_session
SELECT v.ref, v.name, v.kind, v.holds, h.name, v.source, v.host, v.place, v.state, v.worker, v.receipt, v.made_at,
       v.expires_at, v.bytes, v.raw_bytes, v.sha256, v.sessions, v.messages, v.files
FROM sessions AS s CROSS JOIN vault AS v CROSS JOIN homes AS h
WHERE s.ref = :session AND v.ref = s.vault AND h.ref = v.home;

-- find_file
{vault_file}
WHERE v.ref = :ref;

-- files_of_receipt
{vault_file}
WHERE v.receipt = :receipt
ORDER BY v.ref;

-- unfinished_files
{vault_file}
WHERE v.host = :host AND v.state <> 'kept'
ORDER BY v.ref;

-- expired_files
{vault_file}
WHERE v.host = :host AND v.state = 'kept' AND v.kind = :kind AND v.expires_at IS NOT NULL AND v.expires_at <= :now
ORDER BY v.expires_at
LIMIT :limit;

-- newest_files
{vault_file}
WHERE v.ref < :before
  AND (CAST(:kind AS TEXT) IS NULL OR v.kind = :kind)
  AND (CAST(:home AS TEXT) IS NULL OR h.name = :home)
  AND (CAST(:source AS TEXT) IS NULL OR v.source = :source)
ORDER BY v.ref DESC
LIMIT :limit;

-- page_files
{vault_file}
WHERE v.ref > :after
  AND (CAST(:kind AS TEXT) IS NULL OR v.kind = :kind)
  AND (CAST(:home AS TEXT) IS NULL OR h.name = :home)
  AND (CAST(:source AS TEXT) IS NULL OR v.source = :source)
ORDER BY v.ref
LIMIT :limit;
