"""Which policies are in force, and which of them applies to a session."""
