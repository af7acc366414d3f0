"""The bot in a GitHub Actions workflow: the runner's input, the state between runs, and a run's report (X)."""
