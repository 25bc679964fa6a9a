"""Sessions that an agent holds: keys, messages, turns, compression."""
