"""What people, Apps and administrators do: functions that change a `World` and emit the events that GitHub would.

`Simulator` makes some of these functions its methods. Such a function takes the world's lock.
The other functions are steps of operations. Their callers hold the lock.
"""
