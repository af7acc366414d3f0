"""Merges the entries of an agent's playbook that say the same, and adds up their counters (D)."""
