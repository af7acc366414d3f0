"""Learning the weights from files of issues with known duplicates; `doppel train` is the command.

`over_index.py` learns to judge what the index of a repository finds, `over_search.py` what GitHub's searches find.
"""
