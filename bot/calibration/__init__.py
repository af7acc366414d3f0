"""Moves a repository's threshold for comments by what people said of earlier ones (C7)."""
