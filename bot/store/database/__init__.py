"""Opens databases, waits for locks, migrates, and explains failures."""
