"""What is kept: a class for each concern over a table or two, those that belong together in one file."""
