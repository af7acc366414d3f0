"""What is asked of a repository and changed in it: a file for each kind of thing."""
