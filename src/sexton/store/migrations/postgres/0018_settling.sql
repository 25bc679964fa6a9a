-- A worker makes a random slot and uses it for one grant after the other, each with a higher number. A settled grant
-- keeps its row until the worker uses the slot again, so that a repeated settlement counts nothing.
ALTER TABLE grants ADD COLUMN slot TEXT;            -- NULL: from before there were slots
ALTER TABLE grants ADD COLUMN number BIGINT;
-- NULL: not settled. Else when it was freed before that, or 0; freed_at is then set for every reader.
ALTER TABLE grants ADD COLUMN settled BIGINT;
CREATE UNIQUE INDEX grants_slot ON grants (slot);
