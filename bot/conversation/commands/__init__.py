"""The `/duplicates` commands: one table, and the parser that reads comments (C4, C5)."""
