"""GitHub's rate limits: the cost of a request, its turn, and what a refusal means."""
