"""The way of one request over the network: its time, its turn, its answer, and what is remembered of that."""
