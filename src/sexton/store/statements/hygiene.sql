-- ledger_size [sqlite]
SELECT p.page_size * c.page_count, p.page_size * f.freelist_count
FROM pragma_page_size AS p, pragma_page_count AS c, pragma_freelist_count AS f;

-- ledger_size [postgres]
SELECT COALESCE(SUM(pg_total_relation_size(oid)), 0)::BIGINT, 0
FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r';

-- trim_ledger [sqlite]
PRAGMA incremental_vacuum(256);
