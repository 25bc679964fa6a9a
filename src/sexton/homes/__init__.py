"""Places where agents keep sessions: one folder per kind."""
