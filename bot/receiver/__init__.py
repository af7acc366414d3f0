"""Taking deliveries: read and checked without I/O, fetched through a channel, and guarded against slow clients."""
