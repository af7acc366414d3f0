"""A repository's settings, issue forms and words, and what this host has stored about it."""
