-- process
SELECT p.ref, p.host, p.boot_id, p.pid, p.started, p.inode, p.pid_namespace, p.uid, p.session, p.home, p.session_id,
       s.state, s.epoch, s.end_reason, p.task, p.kind, p.tag, p.command, p.cwd, p.started_at, p.expires_at, p.registered_by,
       p.kept, p.ended_at, p.ended_how, p.doing, p.judged_at, p.figures, p.kept_by_agent
FROM processes AS p LEFT JOIN sessions AS s ON s.ref = p.session

-- register_process
-- The same process registered again, by whomever, begins anew; a tag stays, as its environment does, and so does
-- what a person decided. Its number never comes again, as that of a session.
INSERT INTO processes (ref, session, home, session_id, task, kind, host, boot_id, pid, started, inode, pid_namespace, uid,
                       tag, command, cwd, started_at, expires_at, registered_by)
SELECT ((SELECT COALESCE(MAX(ref), 0) >> 28 FROM processes) + 1) * 268435456 + :random,
       s.ref, h.name, s.id, CAST(:task AS TEXT), CAST(:kind AS TEXT), CAST(:host AS TEXT), CAST(:boot_id AS TEXT),
       :pid, :started, CAST(:inode AS BIGINT), CAST(:pid_namespace AS BIGINT), :uid, CAST(:tag AS TEXT),
       CAST(:command AS TEXT), CAST(:cwd AS TEXT), :started_at, CAST(:expires_at AS BIGINT), CAST(:registered_by AS TEXT)
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.ref = :session AND s.id = :id AND s.epoch = :epoch AND s.state = 'open'
ON CONFLICT (host, boot_id, pid, started) WHERE ended_at IS NULL AND pid > 0
DO UPDATE SET session = excluded.session, home = excluded.home, session_id = excluded.session_id,
    task = excluded.task, kind = excluded.kind, inode = excluded.inode, pid_namespace = excluded.pid_namespace,
    uid = excluded.uid, tag = COALESCE(excluded.tag, processes.tag), command = excluded.command, cwd = excluded.cwd,
    started_at = excluded.started_at, expires_at = excluded.expires_at, registered_by = excluded.registered_by,
    doing = 'unknown', judged_at = NULL, figures = NULL
RETURNING ref;

-- former_session [sqlite]
SELECT home, session_id FROM processes
WHERE host = :host AND boot_id = :boot_id AND pid = :pid AND started = :started AND ended_at IS NULL AND pid > 0
  AND COALESCE(session, 0) <> :session;

-- former_session [postgres]
SELECT home, session_id FROM processes
WHERE host = :host AND boot_id = :boot_id AND pid = :pid AND started = :started AND ended_at IS NULL AND pid > 0
  AND COALESCE(session, 0) <> :session
FOR UPDATE;

-- identify_process
UPDATE processes SET pid = :pid, started = :started, inode = :inode, uid = :uid
WHERE ref = :ref AND pid = 0 AND ended_at IS NULL
RETURNING ref;

-- end_twins
-- A pid that is used again in the same tick; its former owner is gone.
UPDATE processes SET ended_at = :now, ended_how = 'its pid was used again'
WHERE host = :host AND boot_id = :boot_id AND pid = :pid AND started = :started AND ended_at IS NULL AND pid > 0
  AND ref <> :ref;

-- find_process
{process}
WHERE p.ref = :ref;

-- running_processes
{process}
WHERE p.ended_at IS NULL
ORDER BY p.ref;

-- processes_of_session
{process}
WHERE p.session = :session AND p.ended_at IS NULL
ORDER BY p.ref;

-- page_processes
{process}
WHERE p.ref < :before
ORDER BY p.ref DESC
LIMIT :limit;

-- judge_process
UPDATE processes SET doing = :doing, judged_at = :now, figures = :figures WHERE ref = :ref AND ended_at IS NULL;

-- end_process
UPDATE processes SET ended_at = :now, ended_how = :how WHERE ref = :ref AND ended_at IS NULL RETURNING ref;

-- keep_process
UPDATE processes SET kept = 1, kept_by_agent = CASE WHEN kept > kept_by_agent THEN 0 ELSE :kept_by_agent END
WHERE ref = :ref AND ended_at IS NULL
RETURNING ref;

-- release_process
UPDATE processes SET kept = 0, kept_by_agent = 0
WHERE ref = :ref AND ended_at IS NULL AND kept <= kept_by_agent + :by_person
RETURNING ref;

-- tell_of_process
INSERT INTO told_of_processes (process, what, at)
SELECT ref, CAST(:what AS TEXT), CAST(:now AS BIGINT) FROM processes WHERE ref = :ref AND ended_at IS NULL
ON CONFLICT (process, what) DO NOTHING
RETURNING at;

-- told_of_process
SELECT at FROM told_of_processes WHERE process = :ref AND what = :what;

-- forget_told
DELETE FROM told_of_processes WHERE process = :ref;

-- move_processes
UPDATE processes SET session = :child, session_id = :id WHERE session = :ref;

-- forget_ended_processes
DELETE FROM processes WHERE ended_at IS NOT NULL AND ended_at < :before RETURNING ref;

-- forget_lost_processes
-- Nobody has seen it for so long: its host is gone, and so is it.
DELETE FROM processes WHERE ended_at IS NULL AND COALESCE(judged_at, started_at) < :before RETURNING ref;
