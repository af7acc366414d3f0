"""Turns a request on the wire into a call of its route, and the result into an answer."""
