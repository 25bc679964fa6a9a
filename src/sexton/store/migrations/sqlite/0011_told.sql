-- What people were told of a process: each thing once, and when. `processes.told_at` is not used any more.
CREATE TABLE told_of_processes (
    process INTEGER NOT NULL REFERENCES processes (ref) ON DELETE CASCADE,
    what    TEXT    NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (process, what)
) STRICT, WITHOUT ROWID;
