"""Playbooks of agents (D): entries that say the same become one, and their counters are added up."""
