"""End-of-session jobs: the queue, the runner, the effects."""
