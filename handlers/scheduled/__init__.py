"""Scheduled work of the workers; `bot/app/wiring/worker_process.py` lists the chores."""
