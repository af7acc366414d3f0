"""What people, Apps and administrators do: functions that change a `World` and emit the events that GitHub would.

`Simulator` has some of these functions as methods. Those functions take the world's lock.
The other functions are steps of operations. Their callers hold the lock.
"""
