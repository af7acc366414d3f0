"""Learns the weights from files of issues with known duplicates, for the command `doppel train`."""
