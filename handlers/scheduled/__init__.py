"""The workers' scheduled tasks; `bot/app/wiring/worker_process.py` lists them."""
