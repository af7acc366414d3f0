"""The parts of the store: a class for each concern, over a table or two."""
