-- member
SELECT s.ref, s.id, s.source, s.parent, s.relation, s.state, s.epoch, s.active_at, s.message_count, s.turn_count,
       s.byte_count, s.pinned,
       EXISTS (SELECT 1 FROM holders AS o WHERE o.session = s.ref),
       EXISTS (SELECT 1 FROM finalizations AS f WHERE f.session = s.ref AND f.state IN ('pending', 'running')),
       (SELECT MAX(CASE WHEN f.state = 'dead' THEN f.finished_at END) FROM finalizations AS f WHERE f.session = s.ref)
FROM sessions AS s

-- counts_present
-- From each number of messages straight to the next one there is.
WITH RECURSIVE present (count) AS (
    SELECT MIN(s.message_count)
    FROM sessions AS s
    WHERE s.home = :home AND s.state IN ('ended', 'finalized')
    UNION ALL
    SELECT (SELECT MIN(s.message_count)
            FROM sessions AS s
            WHERE s.home = :home AND s.state IN ('ended', 'finalized') AND s.message_count > present.count)
    FROM present
    WHERE present.count < :most
)
SELECT count FROM present WHERE count <= :most;

-- page_candidates
-- Backwards from the moment: a bound on one side only, or SQLite would take the index over all sessions.
{member}
WHERE s.home = :home AND s.state IN ('ended', 'finalized') AND s.message_count = :count
  AND (s.active_at, s.ref) < (:active_at, :ref)
  AND (CAST(:source AS TEXT) IS NULL OR s.source = :source)
ORDER BY s.active_at DESC, s.ref DESC
LIMIT :limit;

-- names [sqlite]
SELECT value FROM json_each(:names)

-- names [postgres]
SELECT json_array_elements_text(CAST(:names AS JSON))

-- members_named
{member}
WHERE s.home = :home AND s.id IN ({names})
ORDER BY s.ref;

-- members_below
{member}
WHERE s.home = :home AND s.parent IN ({names})
ORDER BY s.ref;
