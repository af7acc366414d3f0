"""What people, Apps and administrators do: functions that change a `World` and emit the events that GitHub would.

The functions that `Simulator` makes its methods take the world's lock.
The other functions are steps of operations. Their callers hold the lock.
"""
