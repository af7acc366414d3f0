"""The commands `/duplicates …`. `dispatch.py` reads them from comments and calls the function of each command."""
