-- An index over the moment of the last activity would be written anew with every message. The slot is about a second
-- (2^20 microseconds): the index moves once in it, and within a slot the exact moment decides. Every row is above 0;
-- only statements that say so use it.
ALTER TABLE sessions ADD COLUMN active_slot INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET active_slot = active_at >> 20;

DROP INDEX sessions_recent;
CREATE INDEX sessions_recent ON sessions (home, active_slot, ref) WHERE ref > 0;

CREATE TRIGGER sessions_active AFTER UPDATE OF active_at ON sessions WHEN NEW.active_slot <> NEW.active_at >> 20
BEGIN
    UPDATE sessions SET active_slot = NEW.active_at >> 20 WHERE ref = NEW.ref;
END;

CREATE TRIGGER sessions_begun AFTER INSERT ON sessions WHEN NEW.active_slot <> NEW.active_at >> 20
BEGIN
    UPDATE sessions SET active_slot = NEW.active_at >> 20 WHERE ref = NEW.ref;
END;
