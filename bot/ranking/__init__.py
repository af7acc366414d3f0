"""The pure half of the finder: text in, numbers and orders out. No I/O, no clock, no logging in here."""
