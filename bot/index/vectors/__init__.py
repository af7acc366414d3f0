"""Finding by meaning: the vectors of issues, of which model they are, and which of them are closest."""
