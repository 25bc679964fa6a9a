-- searched
(CAST(:source AS TEXT) IS NULL OR s.source = :source)
  AND (CAST(:state AS TEXT) IS NULL OR s.state = :state)
  AND (CAST(:pattern AS TEXT) IS NULL OR LOWER(s.title) LIKE :pattern ESCAPE '!')
  AND s.active_at >= :since AND s.active_at < :until
  AND (CAST(:folded AS BIGINT) = 0 OR COALESCE(s.end_reason, '') <> 'compression' OR NOT EXISTS (
      SELECT 1 FROM sessions AS child WHERE child.home = s.home AND child.parent = s.id AND child.inherited > 0
  ))

-- by_values [sqlite]
SELECT 1;

-- by_values [postgres]
-- A filter is planned for what is asked: one for anybody's values would go through the whole table.
SET LOCAL plan_cache_mode = force_custom_plan;

-- few_of_state
SELECT s.ref FROM sessions AS s WHERE s.ref > 0 AND s.home = :home AND s.state = :state LIMIT :limit;

-- few_of_source
SELECT s.ref FROM sessions AS s
WHERE s.ref > 0 AND s.home = :home AND s.state = :state AND s.source = :source
LIMIT :limit;

-- some_refs [sqlite]
SELECT value FROM json_each(:refs)

-- some_refs [postgres]
SELECT CAST(json_array_elements_text(CAST(:refs AS JSON)) AS BIGINT)

-- search_few
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.ref IN ({some_refs}) AND {searched};

-- bound_active
-- How far a search goes in one step, found in the index alone: to where a slot begins.
SELECT s.active_slot << 20, 0 FROM sessions AS s
WHERE s.ref > 0 AND s.home = :home AND (s.active_slot, s.active_at, s.ref) < (CAST(:value AS BIGINT) >> 20, :value, :ref)
ORDER BY s.active_slot DESC
LIMIT 1 OFFSET :steps;

-- bound_started
SELECT s.started_at, s.ref FROM sessions AS s
WHERE s.ref > 0 AND s.home = :home AND (s.started_at, s.ref) < (:value, :ref)
ORDER BY s.started_at DESC, s.ref DESC
LIMIT 1 OFFSET :steps;

-- bound_size
SELECT s.byte_count, s.ref FROM sessions AS s
WHERE s.home = :home AND s.state <> 'open' AND (s.byte_count, s.ref) < (:value, :ref)
ORDER BY s.byte_count DESC, s.ref DESC
LIMIT 1 OFFSET :steps;

-- search_active [sqlite]
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.ref > 0 AND s.home = :home AND (s.active_slot, s.active_at, s.ref) < (CAST(:value AS BIGINT) >> 20, :value, :ref)
  AND (s.active_slot, s.active_at, s.ref) >= (CAST(:low AS BIGINT) >> 20, :low, :low_ref)
  AND {searched}
ORDER BY s.active_slot DESC, s.active_at DESC, s.ref DESC
LIMIT :limit;

-- search_active [postgres]
-- A step costs its own rows: OFFSET keeps the planner from looking for others first.
SELECT {session}
FROM (SELECT * FROM sessions AS s
      WHERE s.ref > 0 AND s.home = :home AND (s.active_slot, s.active_at, s.ref) < (CAST(:value AS BIGINT) >> 20, :value, :ref)
        AND (s.active_slot, s.active_at, s.ref) >= (CAST(:low AS BIGINT) >> 20, :low, :low_ref)
      OFFSET 0) AS s
JOIN homes AS h ON h.ref = s.home
WHERE {searched}
ORDER BY s.active_slot DESC, s.active_at DESC, s.ref DESC
LIMIT :limit;

-- search_started [sqlite]
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.ref > 0 AND s.home = :home AND (s.started_at, s.ref) < (:value, :ref) AND (s.started_at, s.ref) >= (:low, :low_ref)
  AND {searched}
ORDER BY s.started_at DESC, s.ref DESC
LIMIT :limit;

-- search_started [postgres]
SELECT {session}
FROM (SELECT * FROM sessions AS s
      WHERE s.ref > 0 AND s.home = :home
        AND (s.started_at, s.ref) < (:value, :ref) AND (s.started_at, s.ref) >= (:low, :low_ref)
      OFFSET 0) AS s
JOIN homes AS h ON h.ref = s.home
WHERE {searched}
ORDER BY s.started_at DESC, s.ref DESC
LIMIT :limit;

-- search_size [sqlite]
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.home = :home AND s.state <> 'open'
  AND (s.byte_count, s.ref) < (:value, :ref) AND (s.byte_count, s.ref) >= (:low, :low_ref)
  AND {searched}
ORDER BY s.byte_count DESC, s.ref DESC
LIMIT :limit;

-- search_size [postgres]
SELECT {session}
FROM (SELECT * FROM sessions AS s
      WHERE s.home = :home AND s.state <> 'open'
        AND (s.byte_count, s.ref) < (:value, :ref) AND (s.byte_count, s.ref) >= (:low, :low_ref)
      OFFSET 0) AS s
JOIN homes AS h ON h.ref = s.home
WHERE {searched}
ORDER BY s.byte_count DESC, s.ref DESC
LIMIT :limit;

-- search_size_open [sqlite]
-- Open ones grow all the time, so no index has them by size: this costs what is open, and must cost no more.
SELECT {session}
FROM sessions AS s INDEXED BY sessions_open JOIN homes AS h ON h.ref = s.home
WHERE s.home = :home AND s.state = 'open' AND (s.byte_count, s.ref) < (:value, :ref)
  AND {searched}
ORDER BY s.byte_count DESC, s.ref DESC
LIMIT :limit;

-- search_size_open [postgres]
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.home = :home AND s.state = 'open' AND (s.byte_count, s.ref) < (:value, :ref)
  AND {searched}
ORDER BY s.byte_count DESC, s.ref DESC
LIMIT :limit;

-- count_in_state
SELECT COUNT(*) FROM sessions AS s WHERE s.ref > 0 AND s.home = :home AND s.state = :state;

-- known_sources
-- From one source to the next in the index: this costs what sources there are.
WITH RECURSIVE found (source) AS (
    SELECT (SELECT MIN(s.source) FROM sessions AS s
            WHERE s.ref > 0 AND s.home = :home AND s.state = :state)
    UNION ALL
    SELECT (SELECT MIN(s.source) FROM sessions AS s
            WHERE s.ref > 0 AND s.home = :home AND s.state = :state AND s.source > found.source)
    FROM found WHERE found.source IS NOT NULL
)
SELECT source FROM found WHERE source IS NOT NULL LIMIT :limit;

-- live_sessions
SELECT s.ref, s.id, s.source, s.title, s.active_at, s.started_at
FROM sessions AS s
WHERE s.home = :home AND s.state = 'open'
ORDER BY s.active_slot DESC, s.active_at DESC, s.ref DESC
LIMIT :limit;

-- live_among_many [sqlite]
-- Nearly all are open, or very many: along their activity they are found without being sorted.
SELECT s.ref, s.id, s.source, s.title, s.active_at, s.started_at
FROM sessions AS s INDEXED BY sessions_recent
WHERE s.ref > 0 AND s.home = :home AND s.state = 'open'
ORDER BY s.active_slot DESC, s.active_at DESC, s.ref DESC
LIMIT :limit;

-- live_among_many [postgres]
SELECT s.ref, s.id, s.source, s.title, s.active_at, s.started_at
FROM sessions AS s
WHERE s.ref > 0 AND s.home = :home AND s.state = 'open'
ORDER BY s.active_slot DESC, s.active_at DESC, s.ref DESC
LIMIT :limit;

-- live_holders
SELECT o.session, o.worker, o.busy_since
FROM holders AS o
WHERE o.session IN ({some_refs})
ORDER BY o.session, o.worker;

-- children_of
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.home = (SELECT ref FROM homes WHERE name = :home) AND s.parent = :parent
  AND (s.started_at, s.ref) > (:started_at, :ref)
ORDER BY s.started_at, s.ref
LIMIT :limit;

-- journal_since
SELECT ref, at, actor, receipt, home, session, action, result, reason, explanation, sessions
FROM journal
WHERE ref > :after
ORDER BY ref
LIMIT :limit;

-- newest_entry
SELECT COALESCE(MAX(ref), 0) FROM journal;

-- oldest_work
SELECT f.finalizer, MIN(f.owed_at)
FROM finalizations AS f
WHERE f.state IN ('pending', 'running')
GROUP BY f.finalizer
ORDER BY f.finalizer;

-- spent_since
SELECT COUNT(*), CAST(COALESCE(SUM(s.cost_micros), 0) AS BIGINT),
       CAST(COALESCE(SUM(s.input_tokens + s.output_tokens), 0) AS BIGINT)
FROM sessions AS s
WHERE s.ref > 0 AND s.home = :home AND s.active_slot >= (CAST(:since AS BIGINT) >> 20) AND s.active_at >= :since;

-- store_figure
INSERT INTO figures (name, at, value) VALUES (:name, :at, :value)
ON CONFLICT DO NOTHING;

-- forget_figures
DELETE FROM figures WHERE at < :before;

-- figures_since
SELECT name, at, value FROM figures WHERE at >= :since ORDER BY at, name;
