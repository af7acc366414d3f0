"""What the workers do on a schedule, without being told by a delivery; `bot/wiring/worker.py` lists the chores."""
