-- cohorts
-- Ages are asked of open sessions only, so that ended ones make no further groups. What was removed from another
-- agent's home is not in there any more.
SELECT s.source, s.state, s.end_reason,
       CASE WHEN s.state <> 'open'      THEN NULL
            WHEN s.started_at > :hour   THEN 0
            WHEN s.started_at > :day    THEN 1
            WHEN s.started_at > :week   THEN 2
            WHEN s.started_at > :month  THEN 3
            ELSE 4 END,
       COUNT(*), CAST(SUM(s.message_count) AS BIGINT), CAST(SUM(s.byte_count) AS BIGINT),
       MIN(s.started_at), MAX(s.active_at)
FROM sessions AS s
WHERE s.ref > 0 AND s.home = :home AND (s.home = 1 OR s.state IN ('open', 'ended', 'finalized'))
GROUP BY 1, 2, 3, 4
ORDER BY 5 DESC, 1, 2, 3, 4;

-- started_by_day
-- Whatever was started since was active since, and by that it is found.
SELECT s.started_at / :day, s.end_reason, COUNT(*), COUNT(CASE WHEN s.state = 'open' THEN 1 END)
FROM sessions AS s
WHERE s.ref > 0 AND s.home = :home AND s.active_slot >= (CAST(:since AS BIGINT) >> 20) AND s.started_at >= :since
GROUP BY 1, 2
ORDER BY 1;

-- biggest
SELECT {session}
FROM sessions AS s JOIN homes AS h ON h.ref = s.home
WHERE s.ref > 0 AND s.home = :home AND (s.home = 1 OR s.state IN ('open', 'ended', 'finalized'))
ORDER BY s.byte_count DESC, s.message_count DESC, s.ref
LIMIT :limit;

-- count_open
SELECT COUNT(*) FROM sessions WHERE home = :home AND state = 'open';

-- held_together [sqlite]
-- From the workers: this costs what is held, however much there is besides.
SELECT workers, COUNT(*)
FROM (SELECT json_group_array(o.worker ORDER BY o.worker) AS workers
      FROM workers AS w CROSS JOIN holders AS o CROSS JOIN sessions AS s
      WHERE o.worker = w.id AND s.ref = o.session AND s.home = :home AND s.state = 'open'
      GROUP BY o.session) AS held
GROUP BY workers
ORDER BY workers;

-- held_together [postgres]
SELECT workers, COUNT(*)
FROM (SELECT CAST(json_agg(o.worker ORDER BY o.worker) AS TEXT) AS workers
      FROM holders AS o JOIN sessions AS s ON s.ref = o.session
      WHERE s.home = :home AND s.state = 'open'
      GROUP BY o.session) AS held
GROUP BY workers
ORDER BY workers;

-- count_silent
SELECT COUNT(*)
FROM sessions AS s
WHERE s.ref > 0 AND s.home = :home AND s.state = 'open' AND s.source = :source AND s.active_at <= :since
  AND NOT EXISTS (SELECT 1 FROM holders AS o WHERE o.session = s.ref);

-- first_shadow_reap
SELECT MIN(recorded_at) FROM shadow_reaps WHERE home = :home;
