"""Scheduled work of the workers; `bot/wiring/worker.py` lists the chores."""
