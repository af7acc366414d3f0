"""Search by meaning, with the vectors of issues."""
