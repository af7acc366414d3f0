"""What a text says: its words and terms, names from code, error messages, issues that it names. Pure functions."""
