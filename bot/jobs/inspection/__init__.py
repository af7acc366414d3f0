"""What the queue holds, for those who look: what came, how much waits, what a repository has, what was given up."""
