"""GitHub's limits: what a request costs, whether it is its turn, and what an answer that refuses one means."""
