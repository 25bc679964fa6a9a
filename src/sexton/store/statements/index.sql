-- page_recent
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.ref > 0 AND s.home = :home
  AND (s.active_slot, s.active_at, s.ref) < (CAST(:active_at AS BIGINT) >> 20, :active_at, :ref)
  AND s.active_slot >= (CAST(:low AS BIGINT) >> 20)
  AND (CAST(:source AS TEXT) IS NULL OR s.source = :source)
  AND (CAST(:state AS TEXT) IS NULL OR s.state = :state)
  AND (CAST(:key AS TEXT) IS NULL OR s.key = :key)
  AND (CAST(:folded AS BIGINT) = 0 OR COALESCE(s.end_reason, '') <> 'compression' OR NOT EXISTS (
      SELECT 1 FROM sessions AS child WHERE child.home = s.home AND child.parent = s.id AND child.inherited > 0
  ))
ORDER BY s.active_slot DESC, s.active_at DESC, s.ref DESC
LIMIT :limit;

-- page_open
-- No index has open sessions by activity, as it would be written with every message: this sorts what is open.
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.home = :home AND s.state = 'open' AND (s.active_at, s.ref) < (:active_at, :ref)
  AND (CAST(:source AS TEXT) IS NULL OR s.source = :source)
  AND (CAST(:key AS TEXT) IS NULL OR s.key = :key)
ORDER BY s.active_at DESC, s.ref DESC
LIMIT :limit;

-- open_by_id
SELECT {session}
FROM homes AS h CROSS JOIN sessions AS s
WHERE h.name = :home AND s.home = h.ref AND s.state = 'open' AND (s.id, s.ref) > (:id, :ref)
ORDER BY s.id
LIMIT :limit;

-- page_due
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.state = 'open' AND s.due_at IS NOT NULL
  AND s.due_at <= :now AND (s.due_at, s.ref) > (:due_at, :ref)
ORDER BY s.due_at, s.ref
LIMIT :limit;

-- page_stale
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.state = 'open' AND s.home = 1 AND s.policy_serial < :serial
ORDER BY s.policy_serial, s.ref
LIMIT :limit;

-- reschedule
-- A write that came in between has stored a due time of its own, which is better.
UPDATE sessions
SET due_at = :due_at, policy_serial = :serial
WHERE ref = :ref AND id = :id AND state = 'open' AND active_at = :active_at
  AND message_count = :message_count AND turn_count = :turn_count
RETURNING ref;

-- set_warned
UPDATE sessions
SET warned = warned | :limit
WHERE ref = :ref AND id = :id AND state = 'open' AND epoch = :epoch AND (warned & :limit) = 0
RETURNING ref;
