"""The sources of candidates (H6), behind one protocol and asked in parallel."""
