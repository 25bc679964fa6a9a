"""When a session is over."""
