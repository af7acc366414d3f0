"""Scheduled work of the workers; `bot/app/wiring/worker.py` lists the chores."""
