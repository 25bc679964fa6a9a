-- insert_worker
INSERT INTO workers (id, host, boot_id, pid, started, inode, pid_namespace, uid, kind, version, registered_at)
VALUES (:id, :host, :boot_id, :pid, :started, :inode, :pid_namespace, :uid, :kind, :version, :now);

-- forget_workers
-- A worker that left is kept for a while; the keeper of the last sweep for as long as it is that.
DELETE FROM workers
WHERE COALESCE(left_at, dead_at) < :before
  AND NOT EXISTS (SELECT 1 FROM holders WHERE holders.worker = workers.id)
  AND (swept_at IS NULL OR swept_at < (SELECT MAX(swept_at) FROM workers));

-- find_beat
SELECT beat FROM workers WHERE id = :worker;

-- worker_left
UPDATE workers SET left_at = :now WHERE id = :worker AND left_at IS NULL;

-- worker_swept
UPDATE workers SET swept_at = :now, sweeps_every = :every WHERE id = :worker;

-- last_sweep
SELECT swept_at, sweeps_every
FROM workers
WHERE swept_at IS NOT NULL
ORDER BY swept_at DESC
LIMIT 1;

-- all_workers
SELECT {worker}
FROM workers AS w
WHERE w.left_at IS NULL AND w.dead_at IS NULL
ORDER BY w.registered_at, w.id;

-- insert_entry
INSERT INTO journal (at, actor, receipt, home, session, action, result, reason, explanation, sessions)
VALUES (:at, :actor, :receipt, :home, :session, :action, :result, :reason, :explanation, :sessions);

-- page_journal
SELECT ref, at, actor, receipt, home, session, action, result, reason, explanation, sessions
FROM journal
WHERE ref < :before
ORDER BY ref DESC
LIMIT :limit;

-- page_journal_of_session
SELECT ref, at, actor, receipt, home, session, action, result, reason, explanation, sessions
FROM journal
WHERE home = :home AND session = :session AND ref < :before
ORDER BY ref DESC
LIMIT :limit;

-- page_journal_of_receipt
SELECT ref, at, actor, receipt, home, session, action, result, reason, explanation, sessions
FROM journal
WHERE receipt = :receipt AND ref < :before
ORDER BY ref DESC
LIMIT :limit;

-- policies_in_force
SELECT serial, digest, text FROM policies ORDER BY serial DESC LIMIT 1;

-- publish_policies
-- The highest serial wins a race; the loser finds its own text in force or publishes again.
INSERT INTO policies (serial, digest, text, actor, published_at)
SELECT COALESCE(MAX(serial), 0) + 1, CAST(:digest AS TEXT), CAST(:text AS TEXT), CAST(:actor AS TEXT), :now
FROM policies
HAVING NOT EXISTS (SELECT 1 FROM policies AS p
                   WHERE p.digest = :digest AND p.serial = (SELECT MAX(serial) FROM policies))
ON CONFLICT DO NOTHING
RETURNING serial;

-- ledger_row
SELECT id, schema_version, oldest_reader FROM ledger;

-- insert_ledger_row
INSERT INTO ledger (only_row, id, schema_version, oldest_reader, plan_key)
VALUES (1, :id, :version, :oldest_reader, :key);

-- update_ledger_row
UPDATE ledger SET schema_version = :version, oldest_reader = :oldest_reader;

-- plan_key
SELECT plan_key FROM ledger;
