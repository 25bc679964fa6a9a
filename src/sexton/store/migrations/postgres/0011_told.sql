-- What people were told of a process: each thing once, and when. `processes.told_at` is not used any more.
CREATE TABLE told_of_processes (
    process BIGINT NOT NULL REFERENCES processes (ref) ON DELETE CASCADE,
    what    TEXT COLLATE "C" NOT NULL,
    at      BIGINT NOT NULL,
    PRIMARY KEY (process, what)
);
