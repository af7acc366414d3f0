"""Taking deliveries: read and checked without I/O, fetched through a channel, and not held up by slow clients."""
