"""Reads texts: their words and terms, names from code, error messages, and the issues they name. Pure functions."""
