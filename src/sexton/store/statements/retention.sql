-- remains
-- A conversation has one place, however often it was compressed.
EXISTS (SELECT 1 FROM finalizations AS f WHERE f.session = s.ref AND f.state IN ('pending', 'running')),
       CASE
           WHEN s.job IS NOT NULL THEN (
               SELECT COUNT(*) + 1
               FROM (SELECT 1
                     FROM sessions AS o
                     WHERE o.home = s.home AND o.job = s.job AND o.state IN ('ended', 'finalized')
                       AND COALESCE(o.end_reason, '') <> 'compression'
                       AND (o.active_at, o.ref) > (s.active_at, s.ref)
                     LIMIT :among) AS newer)
           WHEN s.key IS NOT NULL THEN (
               SELECT COUNT(*) + 1
               FROM (SELECT 1
                     FROM sessions AS o
                     WHERE o.home = s.home AND o.key = s.key AND o.state IN ('ended', 'finalized')
                       AND COALESCE(o.end_reason, '') <> 'compression'
                       AND (o.active_at, o.ref) > (s.active_at, s.ref)
                     LIMIT :among) AS newer)
       END

-- sources_over
-- From each source straight to the next one there is.
WITH RECURSIVE present (source) AS (
    SELECT MIN(s.source)
    FROM sessions AS s
    WHERE s.home = (SELECT ref FROM homes WHERE name = :home) AND s.state IN ('ended', 'finalized')
    UNION ALL
    SELECT (SELECT MIN(s.source)
            FROM sessions AS s
            WHERE s.home = (SELECT ref FROM homes WHERE name = :home) AND s.state IN ('ended', 'finalized')
              AND s.source > present.source)
    FROM present
    WHERE present.source IS NOT NULL
)
SELECT source FROM present WHERE source IS NOT NULL;

-- page_remains
SELECT {session}, {remains}
FROM homes AS h CROSS JOIN sessions AS s
WHERE h.name = :home AND s.home = h.ref AND s.source = :source AND s.state IN ('ended', 'finalized')
  AND (s.active_at, s.ref) > (:active_at, :ref)
ORDER BY s.active_at, s.ref
LIMIT :limit;

-- remains_named
SELECT {session}, {remains}
FROM homes AS h CROSS JOIN sessions AS s
WHERE h.name = :home AND s.home = h.ref AND s.id IN ({names})
ORDER BY s.ref;

-- count_over
SELECT COUNT(*)
FROM homes AS h CROSS JOIN sessions AS s
WHERE h.name = :home AND s.home = h.ref AND s.state IN ('ended', 'finalized');

-- table_sizes [sqlite]
SELECT m.tbl_name, SUM(d.pgsize)
FROM dbstat AS d JOIN sqlite_schema AS m ON m.name = d.name
WHERE d.aggregate = TRUE
GROUP BY m.tbl_name
ORDER BY 2 DESC, 1;

-- table_sizes [postgres]
SELECT relname, pg_total_relation_size(oid)
FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
ORDER BY 2 DESC, 1;

-- brought_back
SELECT DISTINCT j.session
FROM journal AS j
WHERE j.home = :home AND j.session IN ({names}) AND j.action = 'restore' AND j.at > :since;

-- forget_journal
DELETE FROM journal
WHERE ref IN (SELECT j.ref FROM journal AS j WHERE j.at < :before ORDER BY j.at LIMIT :limit)
RETURNING ref;

-- forget_policies
DELETE FROM policies
WHERE serial < (SELECT MAX(serial) FROM policies) AND published_at < :before
RETURNING serial;
