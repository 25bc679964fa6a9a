"""Background processes of sessions: registry, judgement, stopping."""
