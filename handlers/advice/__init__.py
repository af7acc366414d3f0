"""The advisory comment (C2): what it says, what goes with it (a label), what is kept of the look."""
