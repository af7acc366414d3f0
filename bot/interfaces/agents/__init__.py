"""Knowledge that repeats itself (D): entries that say the same become one, and their counters are added up.

`merging.py` is general – whoever groups things otherwise merges them with it too (D8). The rest is about playbooks;
`bot/interfaces/agents/deduplication.py` is the door through which hosts come in.
"""
