"""Puts everything together: wiring, command line, demo, GitHub Action."""
