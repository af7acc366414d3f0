"""From GitHub's POST to a job that runs once, in order: receiver, events, queue."""
