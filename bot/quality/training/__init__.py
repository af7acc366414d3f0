"""Learning the weights from files of issues with known duplicates; `doppel train` is the command."""
