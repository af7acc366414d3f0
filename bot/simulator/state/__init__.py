"""What the simulated GitHub knows: plain records, and the world that holds and finds them."""
