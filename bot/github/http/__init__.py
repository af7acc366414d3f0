"""Sends requests over the network: turns, retries, and answers from memory."""
