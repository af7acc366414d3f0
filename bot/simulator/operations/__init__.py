"""What people, Apps and administrators do: functions that change a `World` and emit the events that GitHub would.

The functions that are called from outside are methods of `Simulator`, and take the world's lock. The others are steps
of operations, and expect the lock to be held.
"""
