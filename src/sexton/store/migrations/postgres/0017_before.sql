-- Which session of a key came before, wherever it is kept now.
CREATE INDEX sessions_before ON sessions (key, ref) WHERE home = 1 AND state <> 'open' AND key IS NOT NULL;
