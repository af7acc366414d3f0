"""Search by words, with a list of issues for each term."""
