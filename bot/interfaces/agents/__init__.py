"""Knowledge of agents that repeats itself (D): entries of a playbook that say the same become one.

Programs come in by `run_deduplication` in `run.py`; `bot/domain/merging.py` adds up a group's counters (D8).
"""
