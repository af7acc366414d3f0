"""What people, Apps and administrators do: functions that change a `World` and emit the events that GitHub would.

`Simulator` has those as its methods that are called from outside; they take the world's lock. The others here are steps
of operations, for which the lock is held already.
"""
