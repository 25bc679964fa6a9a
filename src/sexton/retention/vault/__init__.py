"""Files that hold what was removed: written once, read back, restored exactly."""
