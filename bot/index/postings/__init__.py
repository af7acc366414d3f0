"""Finding by words: each term with the issues that have it, how that lies in the database, and how it is scored."""
