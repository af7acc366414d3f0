"""The pure half of the finder: queries, likeness, orders, probabilities. No I/O, no clock, no logging in here."""
