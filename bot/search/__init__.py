"""Finds earlier reports of an issue. Handlers, commands and the CLI call `finder/`, which calls all other parts."""
