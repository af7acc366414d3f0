"""What a process tells of its own work: counts, log lines, traces, and the delivery that they belong to."""
