-- Who keeps a process from being stopped: a person, unless it is its agent. What a person decided is undone by a person.
ALTER TABLE processes ADD COLUMN kept_by_agent INTEGER NOT NULL DEFAULT 0 CHECK (kept_by_agent IN (0, 1));
