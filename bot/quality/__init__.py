"""Measures how good the bot is, and learns from it: evaluation, training, feedback; also the digest and the scan."""
