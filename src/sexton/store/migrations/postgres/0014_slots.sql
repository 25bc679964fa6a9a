-- As on SQLite, where the index moves once in a slot of about a second (2^20 microseconds). Every row is above 0; only
-- statements that say so use it.
ALTER TABLE sessions ADD COLUMN active_slot BIGINT NOT NULL DEFAULT 0;
UPDATE sessions SET active_slot = active_at >> 20;

DROP INDEX sessions_recent;
CREATE INDEX sessions_recent ON sessions (home, active_slot, active_at, ref) WHERE ref > 0;

CREATE FUNCTION keep_slot() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.active_slot := NEW.active_at >> 20;
    RETURN NEW;
END $$;

CREATE TRIGGER sessions_active BEFORE UPDATE OF active_at ON sessions
FOR EACH ROW
EXECUTE FUNCTION keep_slot();

CREATE TRIGGER sessions_begun BEFORE INSERT ON sessions
FOR EACH ROW
EXECUTE FUNCTION keep_slot();
