"""The REST operations: a file for each resource, with a table of its routes."""
