"""`close_after`: closing an issue by itself, once the time has come that its comment announces."""
