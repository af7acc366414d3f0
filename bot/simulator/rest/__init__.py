"""The REST operations: a file for each resource, with the table of its routes."""
