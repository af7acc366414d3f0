"""Agents' playbooks (D): entries that say the same are merged, and their counters added up."""
