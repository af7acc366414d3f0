"""The migrations, a file for each step."""
