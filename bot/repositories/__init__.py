"""A repository as whoever works on its issues needs it: what its own files say, and what this host knows of it."""
