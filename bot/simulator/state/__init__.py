"""The state of the simulated GitHub: plain records, and the world, which stores and finds them."""
