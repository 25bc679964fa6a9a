"""Who is alive, by evidence: heartbeats, failure detection, the reaper."""
