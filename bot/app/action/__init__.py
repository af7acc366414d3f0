"""The bot within a workflow: what the runner gives, the state between two runs, and what a run tells (X)."""
