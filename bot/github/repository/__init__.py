"""The operations on a repository."""
