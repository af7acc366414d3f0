"""The bot's messages in six languages, and those that a repository puts in their place."""
