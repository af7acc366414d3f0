"""The comments and issues that the bot itself writes on GitHub: each written once, known by its marker, then edited."""
