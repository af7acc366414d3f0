"""What people, Apps and administrators do. Each operation changes the state and emits the events that GitHub would.

The classes here are parts of `Simulator`, which inherits them all. Every public method takes the world's lock.
"""
