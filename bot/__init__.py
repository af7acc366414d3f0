"""Doppel: finds the earlier reports of a new GitHub issue and says so in one comment."""
