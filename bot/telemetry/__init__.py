"""What a process reports about its work: counts, log lines and traces."""
