-- What is over, by source and age, and among the others of its key or job.
CREATE INDEX sessions_kept    ON sessions (home, source, active_at, ref) WHERE state IN ('ended', 'finalized');
CREATE INDEX sessions_of_job  ON sessions (home, job, active_at, ref)
    WHERE state IN ('ended', 'finalized') AND job IS NOT NULL;
CREATE INDEX sessions_of_key  ON sessions (home, key, active_at, ref)
    WHERE state IN ('ended', 'finalized') AND key IS NOT NULL;
CREATE INDEX journal_at       ON journal (at);
