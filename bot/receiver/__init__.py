"""Receives deliveries: checks them without I/O, fetches them through a channel, and bounds slow clients."""
