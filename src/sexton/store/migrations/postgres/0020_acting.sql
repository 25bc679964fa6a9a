-- What only Sexton knows of a session of a foreign home: that somebody pinned it here, that a person's undo opened it
-- and when, and how many of its messages and bytes its agent still sends.
ALTER TABLE sessions ADD COLUMN kept BIGINT NOT NULL DEFAULT 0 CHECK (kept IN (0, 1));
ALTER TABLE sessions ADD COLUMN spared_at BIGINT;
ALTER TABLE sessions ADD COLUMN live_messages BIGINT;
ALTER TABLE sessions ADD COLUMN live_bytes BIGINT;
