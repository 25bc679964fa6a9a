"""The kinds of end-of-session work: memory, command, webhook and python."""
